import type { GitLabStatus } from './model.js';
import { missing, pageOf, type Route, shownCommit, shownProject } from './route.js';

const shownStatus = ({ id, name, status, description, targetUrl }: GitLabStatus): object => ({
  ...{ id, name, status, description, target_url: targetUrl, allow_failure: false },
});

export const projectRoutes: readonly Route[] = [
  { at: 'GET /', answer: ({ project }) => [200, shownProject(project)] },
  {
    at: 'GET /members/all/*',
    answer: ({ project, gitlab, parts: [id] }) => {
      const user = gitlab.users.find((each) => String(each.id) === id);
      const level = user === undefined ? undefined : project.members.get(user.id);
      return user === undefined || level === undefined
        ? missing('Member')
        : [200, { id: user.id, username: user.username, state: 'active', access_level: level }];
    },
  },
  {
    at: 'GET /repository/branches',
    answer: async ({ project, query }) => [
      200,
      pageOf([...(await project.repository.branches()).entries()], query).map(([name, id]) => ({
        name,
        commit: { id },
      })),
    ],
  },
  {
    at: 'GET /repository/tree',
    answer: async ({ project, query }) => {
      const commit = await project.repository.commitOf(query.get('ref') ?? 'main');
      // Of a tree's own hash GitLab knows no commit.
      if (commit === null) return missing('Tree');
      const entries = await project.repository.tree(commit, query.get('path') ?? '');
      if (entries === null) return missing('invalid revision or path');
      const size = Number(query.get('per_page') ?? 20);
      const from = Number(query.get('page_token') ?? 0);
      const more = from + size < entries.length;
      const link = `<http://gitlab.test/api/v4/projects/${project.id}/repository/tree?page_token=${from + size}>; rel="next"`;
      return [200, entries.slice(from, from + size), more ? { link } : {}];
    },
  },
  {
    at: 'GET /repository/blobs/*',
    answer: async ({ project, parts: [sha = ''] }) => {
      const text = await project.repository.blob(sha);
      return text === null
        ? missing('Blob')
        : [
            200,
            { size: Buffer.byteLength(text), encoding: 'base64', content: Buffer.from(text).toString('base64'), sha },
          ];
    },
  },
  {
    at: 'GET /repository/merge_base',
    answer: async ({ project, query }) => {
      const [one = '', other = ''] = query.getAll('refs[]');
      const id = await project.repository.mergeBase(one, other);
      return id === null ? missing('Merge Base') : [200, { id }];
    },
  },
  {
    at: 'GET /repository/commits',
    answer: async ({ project, query }) => {
      const branch = query.get('ref_name') ?? 'main';
      if ((await project.repository.commitOf(`refs/heads/${branch}`)) === null) return missing('Branch');
      const span = [query.get('since'), query.get('until')].map((at) => (at === null ? null : Date.parse(at)));
      const found = (await project.repository.history(branch, query.get('path'))).filter(({ at }) => {
        const time = Date.parse(at);
        return time >= (span[0] ?? 0) && time <= (span[1] ?? Number.POSITIVE_INFINITY);
      });
      return [200, pageOf(found, query).map(shownCommit)];
    },
  },
  {
    at: 'GET /repository/commits/*/statuses',
    answer: ({ project, parts: [sha], query }) => [
      200,
      pageOf(project.statuses.filter((each) => each.sha === sha).toReversed(), query).map(shownStatus),
    ],
  },
  {
    at: 'POST /statuses/*',
    level: 30,
    answer: async ({ project, gitlab, parts: [sha = ''], body }) => {
      if ((await project.repository.commitOf(sha)) === null) return missing('Commit');
      const [name, status] = [String(body['name'] ?? 'default'), String(body['state'])];
      const last = project.statuses.findLast((each) => each.sha === sha && each.name === name);
      if (last?.status === status) return [400, { message: `Cannot transition status via :${status} from :${status}` }];
      gitlab.status(project, sha, {
        name,
        status,
        description: String(body['description'] ?? ''),
        ...(body['target_url'] === undefined ? {} : { targetUrl: String(body['target_url']) }),
      });
      return [201, shownStatus(project.statuses.at(-1) as GitLabStatus)];
    },
  },
];
