import type { Comment, HostRequest, Pull, ScriptedHost } from './scripted-host.js';

const PROJECT = 1;
const AT = '/api/v4/projects/';
type Answer = readonly [status: number, answer: unknown];

/** Issues and merge requests are numbered apart. */
export function gitlabApi(host: ScriptedHost, { method, url, body }: HostRequest): Answer {
  const [, path = ''] = /^(?:1|acme%2Fshop)(\/.*)?$/.exec(url.pathname.replace(AT, '')) ?? [];
  if (path === '' && url.pathname.startsWith(AT))
    return [200, { id: PROJECT, path_with_namespace: 'acme/shop', default_branch: 'main', visibility: 'private' }];
  if (path === '/repository/tree')
    return [200, Object.keys(host.files).map((name, index) => ({ id: `f${index}`, name, type: 'blob' }))];
  const file = /^\/repository\/blobs\/f(\d+)$/.exec(path);
  if (file !== null)
    return [
      200,
      { encoding: 'base64', content: Buffer.from(Object.values(host.files)[Number(file[1])] ?? '').toString('base64') },
    ];
  if (path === '/repository/merge_base') return [404, { message: '404 Merge Base Not Found' }];
  const status = /^\/repository\/commits\/(\w+)\/statuses$/.exec(path);
  if (status !== null)
    return [
      200,
      (host.statuses.get(status[1] ?? '') ?? []).map(({ context, status: state, description }, index) => ({
        ...{
          id: index + 1,
          name: context,
          status: state === 'failure' ? 'failed' : state,
          description,
          target_url: null,
          allow_failure: false,
        },
      })),
    ];
  if (path === '/merge_requests') return method === 'POST' ? opened(host, body) : found(host, url.searchParams);
  const merge = /^\/merge_requests\/(\d+)(\/(?!notes|award_emoji)\w+)?$/.exec(path);
  if (merge !== null) return ofMergeRequest(host, method, Number(merge[1]), merge[2] ?? '', body);
  return ofThread(host, method, path, String(body['body'] ?? ''));
}

function opened(host: ScriptedHost, body: HostRequest['body']): Answer {
  const [head, base] = [String(body['source_branch']), String(body['target_branch'])];
  if (!host.refs.has(`refs/heads/${head}`)) return [400, { message: [`Source branch "${head}" does not exist`] }];
  const made = host.open({ head, base, title: String(body['title']), body: String(body['description']) });
  return made === null
    ? [409, { message: ['Another open merge request already exists for this source branch: !100'] }]
    : [201, shown(host, made)];
}

function found(host: ScriptedHost, query: URLSearchParams): Answer {
  const [head, base] = [query.get('source_branch'), query.get('target_branch')];
  return [
    200,
    host.pulls
      .filter((each) => each.head === head && each.base === base && each.state === 'open')
      .map((each) => shown(host, each)),
  ];
}

function ofMergeRequest(
  host: ScriptedHost,
  method: string,
  number: number,
  rest: string,
  body: HostRequest['body'],
): Answer {
  const pull = host.pulls.find((each) => each.number === number);
  if (pull === undefined) return [404, { message: '404 Not found' }];
  if (rest === '/discussions' || rest === '/reviewers') return [200, []];
  if (rest === '/approvals') return [200, { approved_by: [] }];
  if (rest === '/merge') Object.assign(pull, { state: 'closed', merged: true });
  else if (method === 'PUT')
    Object.assign(pull, { title: String(body['title'] ?? pull.title), body: String(body['description'] ?? pull.body) });
  return [200, shown(host, pull)];
}

function shown(host: ScriptedHost, pull: Pull): object {
  return {
    ...{
      id: 500 + pull.number,
      iid: pull.number,
      project_id: PROJECT,
      source_project_id: PROJECT,
      target_project_id: PROJECT,
    },
    ...{
      source_branch: pull.head,
      target_branch: pull.base,
      sha: host.headOf(pull),
      title: pull.title,
      description: pull.body,
    },
    ...{
      state: pull.merged ? 'merged' : pull.state === 'open' ? 'opened' : 'closed',
      draft: /^draft:/i.test(pull.title),
    },
    ...{
      web_url: `https://host.test/${pull.number}`,
      has_conflicts: false,
      merge_status: 'can_be_merged',
      detailed_merge_status: 'mergeable',
    },
  };
}

const shownNote = ({ id, body, createdAt }: Comment): object => ({ id, body, created_at: createdAt.toISOString() });

/** Notes of an issue or a merge request; a test gives no two of them one number. */
function ofThread(host: ScriptedHost, method: string, path: string, body: string): Answer {
  if (path.endsWith('/award_emoji')) return [201, {}];
  const [, issue, id] = /^\/(?:issues|merge_requests)\/(\d+)\/notes(?:\/(\d+))?$/.exec(path) ?? [];
  if (issue === undefined) return [404, { message: '404 Not found' }];
  if (id !== undefined) {
    const known = host.comments.find((each) => String(each.id) === id);
    if (known === undefined) return [404, { message: '404 Note Not Found' }];
    known.body = body;
    return [200, shownNote(known)];
  }
  if (method === 'GET')
    return [
      200,
      host.comments
        .filter((each) => String(each.issue) === issue)
        .toReversed()
        .map(shownNote),
    ];
  return [201, shownNote(host.comment(Number(issue), body))];
}
