import type { GitLabProject, GitLabThread } from './model.js';
import { isDraftTitle } from './payloads.js';
import { missing, type ProjectCall, pageOf, type Route, type RouteAnswer, shownCommit, shownUser } from './route.js';

async function shown({ gitlab, project }: ProjectCall, merge: GitLabThread): Promise<object> {
  const { repository } = project;
  const head = merge.sourceProject === project.id ? await repository.commitOf(`refs/heads/${merge.source}`) : merge.sha;
  if (merge.state === 'opened' && head !== null) merge.sha = head;
  const base = await repository.commitOf(`refs/heads/${merge.target}`);
  const conflicts =
    merge.state === 'opened' && head !== null && base !== null && (await repository.mergedTree(base, head)) === null;
  const status = conflicts
    ? 'conflict'
    : isDraftTitle(merge.title)
      ? 'draft_status'
      : needsApprovals(project, merge)
        ? 'not_approved'
        : 'mergeable';
  return {
    ...{
      id: merge.id,
      iid: merge.iid,
      project_id: project.id,
      source_project_id: merge.sourceProject,
      target_project_id: project.id,
    },
    ...{
      source_branch: merge.source,
      target_branch: merge.target,
      sha: merge.sha,
      title: merge.title,
      description: merge.description,
    },
    ...{
      state: merge.state,
      draft: isDraftTitle(merge.title),
      web_url: `${gitlab.url}/${project.path}/-/merge_requests/${merge.iid}`,
    },
    ...{
      created_at: merge.createdAt,
      merged_at: merge.merged?.at ?? null,
      closed_at: null,
      merge_commit_sha: merge.merged?.commit ?? null,
      squash_commit_sha: null,
    },
    ...{
      has_conflicts: conflicts,
      merge_status: conflicts ? 'cannot_be_merged' : 'can_be_merged',
      detailed_merge_status: status,
    },
  };
}

const needsApprovals = ({ approvalsRequired }: GitLabProject, { approvals }: GitLabThread): boolean =>
  approvals.length < approvalsRequired;

const find = ({ project }: ProjectCall, iid: string | undefined): GitLabThread | undefined =>
  project.threads.find((each) => each.kind === 'merge_requests' && String(each.iid) === iid);

const of =
  (answer: (call: ProjectCall, merge: GitLabThread) => RouteAnswer | Promise<RouteAnswer>): Route['answer'] =>
  (call) => {
    const merge = find(call, call.parts[0]);
    return merge === undefined ? missing('Merge request') : answer(call, merge);
  };

export const mergeRequestRoutes: readonly Route[] = [
  {
    at: 'GET /merge_requests',
    answer: async (call) => {
      const { query } = call;
      const found = call.project.threads.filter(
        (each) =>
          each.kind === 'merge_requests' &&
          [null, 'all', each.state].includes(query.get('state')) &&
          [null, each.source].includes(query.get('source_branch')) &&
          [null, each.target].includes(query.get('target_branch')),
      );
      return [200, await Promise.all(found.map((each) => shown(call, each)))];
    },
  },
  {
    at: 'POST /merge_requests',
    level: 30,
    answer: async (call) => {
      const { project, gitlab, body, by } = call;
      const [source, target] = [String(body['source_branch']), String(body['target_branch'])];
      const sha = await project.repository.commitOf(`refs/heads/${source}`);
      if (sha === null) return [400, { message: [`Source branch "${source}" does not exist`] }];
      const there = project.threads.find(
        (each) =>
          each.kind === 'merge_requests' && each.state === 'opened' && each.source === source && each.target === target,
      );
      if (there !== undefined)
        return [409, { message: [`Another open merge request already exists for this source branch: !${there.iid}`] }];
      const made = {
        title: String(body['title']),
        description: String(body['description'] ?? ''),
        author: by,
        source,
        target,
        sha,
      };
      return [201, await shown(call, gitlab.openMergeRequest(project, made))];
    },
  },
  { at: 'GET /merge_requests/*', answer: of(async (call, merge) => [200, await shown(call, merge)]) },
  {
    at: 'PUT /merge_requests/*',
    level: 30,
    answer: of(async (call, merge) => {
      const { title, description } = call.body;
      if (typeof title === 'string') merge.title = title;
      if (typeof description === 'string') merge.description = description;
      return [200, await shown(call, merge)];
    }),
  },
  {
    at: 'PUT /merge_requests/*/merge',
    level: 30,
    answer: of(async (call, merge) => {
      const { gitlab, project, body, by } = call;
      await shown(call, merge);
      if (merge.state !== 'opened' || isDraftTitle(merge.title) || needsApprovals(project, merge))
        return [405, { message: '405 Method Not Allowed' }];
      if (body['sha'] !== undefined && body['sha'] !== merge.sha)
        return [409, { message: `SHA does not match HEAD of source branch: ${merge.sha}` }];
      if (!(await gitlab.merge(project, merge, by))) return [422, { message: 'Branch cannot be merged' }];
      return [200, await shown(call, merge)];
    }),
  },
  {
    at: 'GET /merge_requests/*/commits',
    answer: of(async ({ project, query }, { merged, sha, source, target }) => {
      const range = merged === null ? `${target}..${source}` : `${merged.base}..${sha ?? ''}`;
      // GitLab names no parents here.
      return [
        200,
        pageOf(await project.repository.history(range), query).map((commit) => ({
          ...shownCommit(commit),
          parent_ids: [],
        })),
      ];
    }),
  },
  {
    at: 'GET /merge_requests/*/diffs',
    answer: of(async ({ project, query }, { merged, sha, source, target }) => {
      const files = await project.repository.changedFiles(
        merged?.base ?? target,
        merged === null ? source : (sha ?? ''),
      );
      return [200, pageOf([...files], query).map((file) => ({ old_path: file, new_path: file, diff: '' }))];
    }),
  },
  {
    at: 'GET /merge_requests/*/approvals',
    answer: of((_call, merge) => [200, { approved_by: merge.approvals.map((user) => ({ user: shownUser(user) })) }]),
  },
  {
    at: 'GET /merge_requests/*/reviewers',
    answer: of((_call, merge) => [
      200,
      merge.requestedChanges.map((user) => ({ user: shownUser(user), state: 'requested_changes' })),
    ]),
  },
];
