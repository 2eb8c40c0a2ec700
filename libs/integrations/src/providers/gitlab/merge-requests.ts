import { z } from 'zod';
import type { CodeHost, FullName, PullRequestState } from '../../calls/code-host.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { dateOf, fields, flag, id, list, maybe, moment, name, text, title, url } from '../../reading/fields.js';
import { mergeRequestThread, part, project } from './paths.js';

const mergeRequest = fields({
  iid: z.number().int().positive(),
  project_id: id,
  source_project_id: maybe(id),
  target_project_id: maybe(id),
  source_branch: name,
  target_branch: name,
  sha: maybe(name),
  title,
  description: text,
  state: name,
  draft: flag,
  work_in_progress: flag,
  web_url: url,
  has_conflicts: flag,
  merge_status: maybe(name),
  detailed_merge_status: maybe(name),
  created_at: moment,
  merged_at: moment,
  closed_at: moment,
  merge_commit_sha: maybe(name),
  squash_commit_sha: maybe(name),
});
type MergeRequest = z.output<typeof mergeRequest>;

const DRAFT = 'Draft: ';
/** As GitLab itself reads it at the beginning of a title. */
const IS_DRAFT = /^\s*(?:draft:|\[draft\]|\(draft\))/i;
/** Longest description. Characters. */
const MAX_BODY = 1_000_000;
const MAX_TITLE = 255;

type MergeRequestCalls = Pick<
  CodeHost,
  'createPullRequest' | 'findPullRequest' | 'pullRequest' | 'updatePullRequest' | 'merge'
>;

export function mergeRequestCalls(client: ProviderClient): MergeRequestCalls {
  const at = (repository: FullName, number: number): string => `${project(repository)}/merge_requests/${number}`;
  const read = async (repository: FullName, number: number): Promise<MergeRequest> =>
    (await client.call({ method: 'GET', path: at(repository, number), answer: mergeRequest })).body;
  return {
    createPullRequest: async (repository, { head, base, title: said, body, draft }) => {
      const sent = {
        source_branch: head,
        target_branch: base,
        title: titleOf(said, draft),
        description: body.slice(0, MAX_BODY),
        remove_source_branch: true,
      };
      try {
        return stateOf(
          (
            await client.call({
              method: 'POST',
              path: `${project(repository)}/merge_requests`,
              body: sent,
              answer: mergeRequest,
            })
          ).body,
        );
      } catch (error) {
        // GitLab learns of a branch a moment after it was pushed.
        if (error instanceof ProviderRefusal && /source.branch.{0,300}does not exist/is.test(error.message))
          throw asKind(error, 'unavailable');
        throw error;
      }
    },
    findPullRequest: async (repository, { head, base }) => {
      const path = `${project(repository)}/merge_requests?state=opened&source_branch=${part(head)}&target_branch=${part(base)}&per_page=50`;
      const { body } = await client.call({ method: 'GET', path, answer: list(mergeRequest) });
      // A fork may have a branch of the same name.
      return body.map(stateOf).find(({ fork }) => !fork) ?? null;
    },
    pullRequest: async ({ repository, number }) => stateOf(await read(repository, number)),
    updatePullRequest: async ({ repository, number }, { title: said, body }) => {
      // A draft is one by its title.
      const draft = said !== undefined && isDraft(await read(repository, number));
      const sent = {
        ...(said === undefined ? {} : { title: titleOf(said, draft) }),
        ...(body === undefined ? {} : { description: body.slice(0, MAX_BODY) }),
      };
      return stateOf(
        (await client.call({ method: 'PUT', path: at(repository, number), body: sent, answer: mergeRequest })).body,
      );
    },
    merge: async ({ repository, number }, sha) => {
      try {
        await client.call({
          method: 'PUT',
          path: `${at(repository, number)}/merge`,
          body: { sha },
          answer: z.unknown(),
        });
      } catch (error) {
        if (!(error instanceof ProviderRefusal) || ![405, 406, 409, 422].includes(error.status ?? 0)) throw error;
        if (error.status === 409) throw error;
        const now = await read(repository, number);
        // It is still checking for conflicts.
        if (isChecking(now)) throw asKind(error, 'unavailable');
        // The answer itself gives no reason.
        const why = now.detailed_merge_status?.replaceAll('_', ' ') ?? 'it gives no reason';
        throw new ProviderRefusal(
          error.message.replace(/: \d{3} .*$/s, `: GitLab does not merge it: ${why}.`),
          { ...error, kind: 'conflict' },
          { cause: error },
        );
      }
    },
  };
}

function stateOf(from: MergeRequest): PullRequestState {
  return {
    number: from.iid,
    thread: mergeRequestThread(from.project_id, from.iid),
    headBranch: from.source_branch,
    headSha: from.sha ?? '',
    baseBranch: from.target_branch,
    // A source project that is gone has no id.
    fork: from.source_project_id === null || from.source_project_id !== (from.target_project_id ?? from.project_id),
    draft: isDraft(from),
    url: from.web_url,
    title: from.title,
    body: from.description,
    state: from.state === 'merged' ? 'merged' : from.state === 'closed' ? 'closed' : 'open',
    mergeable: mergeableOf(from),
    moments: {
      opened: dateOf(from.created_at),
      merged: from.state === 'merged' ? dateOf(from.merged_at) : null,
      closed: dateOf(from.closed_at),
    },
    mergeCommits: from.state === 'merged' ? mergeCommitsOf(from) : [],
  };
}

/** A fast-forward has no commit of its own: the head is then the base's. */
function mergeCommitsOf({ merge_commit_sha, squash_commit_sha, sha }: MergeRequest): string[] {
  const named = [merge_commit_sha, squash_commit_sha].filter((each) => each !== null);
  return named.length > 0 || sha === null ? named : [sha];
}

const isDraft = ({ draft, work_in_progress }: MergeRequest): boolean => draft || work_in_progress;
const isChecking = ({ merge_status, detailed_merge_status }: MergeRequest): boolean =>
  /^(?:unchecked|checking|preparing|cannot_be_merged_recheck|approvals_syncing)/.test(
    detailed_merge_status ?? merge_status ?? '',
  );

/** GitLab goes on saying `can_be_merged` of one without a required approval: only conflicts count. */
function mergeableOf(from: MergeRequest): boolean | null {
  if (isChecking(from)) return null;
  if (from.has_conflicts || from.detailed_merge_status === 'conflict') return false;
  return from.merge_status === 'can_be_merged' ? true : null;
}

function titleOf(said: string, draft: boolean): string {
  return `${draft && !IS_DRAFT.test(said) ? DRAFT : ''}${said}`.slice(0, MAX_TITLE);
}

function asKind(error: ProviderRefusal, kind: ProviderRefusal['kind']): ProviderRefusal {
  return new ProviderRefusal(error.message, { ...error, kind }, { cause: error });
}
