import { z } from 'zod';
import type { OwnWork, OwnWorkList, RepositoryListing } from '../../calls/code-host.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, flag, id, list, maybe, name, text, title, url } from '../../reading/fields.js';
import { part, project } from './paths.js';

/** Of merge requests and of issues. */
const MAX_FOUND = 30;
/** Merge requests read: each costs two requests. */
const MAX_LOOKED_INTO = 8;
/** Projects whose default branch is checked. */
const MAX_BRANCHES = 8;
const DISCUSSIONS = 100;

/** `group/project!12`, `group/project#7`. */
const references = maybe(fields({ full: name }));
const iid = z.number().int().positive();
const listed = fields({
  iid,
  title,
  web_url: url,
  source_branch: name,
  source_project_id: maybe(id),
  target_project_id: maybe(id),
  references,
});
const whole = fields({ has_conflicts: flag, head_pipeline: maybe(fields({ status: maybe(name) })) });
const discussion = fields({ notes: list(fields({ resolvable: flag, resolved: flag, system: flag })) });
const issue = fields({ iid, title, web_url: url, description: text, confidential: flag, references });
const pipeline = fields({ status: name, web_url: url });

/** Searches by user over all projects that the token reaches. @throws ProviderRefusal */
export async function gitlabOwnWork(
  client: ProviderClient,
  { id: userId }: { readonly id: string },
  repositories: readonly RepositoryListing[],
): Promise<OwnWorkList> {
  if (!/^\d{1,18}$/.test(userId)) return { items: [], more: false };
  const open = `scope=all&state=opened&order_by=updated_at&per_page=${MAX_FOUND}`;
  const [merges, issues, red] = await Promise.all([
    client.call({
      method: 'GET',
      path: `/merge_requests?${open}&author_id=${userId}&with_merge_status_recheck=true`,
      answer: list(listed),
    }),
    client.call({ method: 'GET', path: `/issues?${open}&assignee_id=${userId}`, answer: list(issue) }),
    Promise.all(repositories.slice(0, MAX_BRANCHES).map((each) => ofBranch(client, each))),
  ]);
  // A source in another project is not ours to push to.
  const own = merges.body.filter(
    ({ source_project_id, target_project_id }) => source_project_id !== null && source_project_id === target_project_id,
  );
  const looked = await Promise.all(own.slice(0, MAX_LOOKED_INTO).map((each) => ofMergeRequest(client, each)));
  return {
    items: [...red.flat(), ...looked.flat(), ...issues.body.flatMap(ofIssue)],
    more:
      own.length > MAX_LOOKED_INTO ||
      merges.body.length === MAX_FOUND ||
      issues.body.length === MAX_FOUND ||
      repositories.length > MAX_BRANCHES,
  };
}

async function ofBranch(client: ProviderClient, { fullName, defaultBranch }: RepositoryListing): Promise<OwnWork[]> {
  if (defaultBranch === null) return [];
  const path = `${project(fullName)}/pipelines?ref=${part(defaultBranch)}&order_by=id&sort=desc&per_page=1`;
  // A project without pipelines reports none.
  const [newest] = await orNone(
    client.call({ method: 'GET', path, answer: list(pipeline) }).then(({ body }) => body),
    [],
  );
  if (newest?.status !== 'failed') return [];
  const words = `Checks fail on ${defaultBranch}`;
  return [
    {
      kind: 'red-default-branch',
      repository: fullName,
      number: null,
      title: words,
      url: newest.web_url,
      branch: defaultBranch,
      text: '',
    },
  ];
}

async function ofMergeRequest(
  client: ProviderClient,
  { iid: number, title: words, web_url, source_branch, references: at }: z.output<typeof listed>,
): Promise<OwnWork[]> {
  const repository = projectOf(at?.full, '!', number);
  if (repository === null) return [];
  const path = `${project(repository)}/merge_requests/${number}`;
  const [now, discussions] = await Promise.all([
    orNone<z.output<typeof whole> | null>(
      client.call({ method: 'GET', path, answer: whole }).then(({ body }) => body),
      null,
    ),
    orNone(
      client
        .call({ method: 'GET', path: `${path}/discussions?per_page=${DISCUSSIONS}`, answer: list(discussion) })
        .then(({ body }) => body),
      [],
    ),
  ]);
  const of = (kind: OwnWork['kind']): OwnWork => ({
    kind,
    repository,
    number,
    title: words,
    url: web_url,
    branch: source_branch,
    text: '',
  });
  const isOpen = ({ notes }: z.output<typeof discussion>): boolean =>
    notes.some(({ resolvable, resolved, system }) => resolvable && !resolved && !system);
  return [
    ...(now?.has_conflicts === true ? [of('conflicts')] : []),
    ...(now?.head_pipeline?.status === 'failed' ? [of('failing-checks')] : []),
    ...(discussions.some(isOpen) ? [of('unresolved-comments')] : []),
  ];
}

/** A confidential one would be shown to every viewer of the conversation. */
function ofIssue({
  iid: number,
  title: words,
  web_url,
  description,
  confidential,
  references: at,
}: z.output<typeof issue>): OwnWork[] {
  const repository = projectOf(at?.full, '#', number);
  if (confidential || repository === null) return [];
  return [{ kind: 'issue', repository, number, title: words, url: web_url, branch: null, text: description }];
}

function projectOf(full: string | undefined, mark: '!' | '#', number: number): string | null {
  return full?.endsWith(`${mark}${number}`) === true ? full.slice(0, -`${mark}${number}`.length) : null;
}

/** What the token does not reach, or is gone by now, is not suggested. */
async function orNone<T>(asked: Promise<T>, none: T): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProviderRefusal && (error.kind === 'missing' || error.kind === 'forbidden')) return none;
    throw error;
  }
}
