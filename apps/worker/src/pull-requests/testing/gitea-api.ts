import type { HostRequest, Pull, ScriptedHost } from './scripted-host.js';

const REPOSITORY = { id: 1, full_name: 'acme/shop', private: true, default_branch: 'main' };

export function giteaApi(
  host: ScriptedHost,
  { method, url, body }: HostRequest,
): readonly [status: number, answer: unknown] {
  const path = url.pathname.replace('/api/v1/repos/acme/shop', '');
  if (path === '') return [200, REPOSITORY];
  if (path.startsWith('/git/trees/'))
    return [
      200,
      {
        truncated: false,
        tree: Object.keys(host.files).map((name, index) => ({ path: name, mode: '100644', sha: `f${index}` })),
      },
    ];
  const file = /^\/git\/blobs\/f(\d+)$/.exec(path);
  if (file !== null)
    return [
      200,
      { encoding: 'base64', content: Buffer.from(Object.values(host.files)[Number(file[1])] ?? '').toString('base64') },
    ];
  if (path.startsWith('/compare/')) return [200, { commits: [] }];
  const status = /^\/commits\/(\w+)\/status$/.exec(path);
  if (status !== null)
    return [
      200,
      {
        statuses: (host.statuses.get(status[1] ?? '') ?? []).map((each, index) => ({
          id: index + 1,
          ...each,
          target_url: '',
        })),
      },
    ];
  if (method === 'POST' && path === '/pulls') {
    const { head, base, title, body: text } = body as Record<string, string>;
    const made = host.open({ head: String(head), base: String(base), title: String(title), body: String(text) });
    return made === null ? [409, { message: 'pull request already exists' }] : [201, shown(host, made)];
  }
  const pull = /^\/pulls\/(\d+)(\/\w+)?$/.exec(path);
  if (pull !== null) return ofPull(host, method, Number(pull[1]), pull[2] ?? '', body);
  const named = /^\/pulls\/([^/]+)\/(.+)$/.exec(path);
  if (named !== null) {
    const found = host.pulls.find(
      ({ head, base, state }) => base === named[1] && head === decodeURIComponent(named[2] ?? '') && state === 'open',
    );
    return found === undefined ? [404, {}] : [200, shown(host, found)];
  }
  return ofIssue(host, method, path, String(body['body'] ?? ''));
}

function shown(host: ScriptedHost, pull: Pull): object {
  const { number, title, body, state, merged } = pull;
  const repo = { id: 1 };
  return {
    id: 500 + number,
    number,
    title,
    body,
    state,
    merged,
    mergeable: true,
    html_url: `https://host.test/${number}`,
    head: { ref: pull.head, sha: host.headOf(pull), repo },
    base: { ref: pull.base, sha: 'b'.repeat(40), repo },
  };
}

function ofPull(host: ScriptedHost, method: string, number: number, rest: string, body: object): [number, unknown] {
  const pull = host.pulls.find((each) => each.number === number);
  if (pull === undefined) return [404, {}];
  if (rest === '/reviews') return [200, []];
  if (rest === '/merge') Object.assign(pull, { state: 'closed', merged: true });
  if (method === 'PATCH') Object.assign(pull, body);
  return [200, shown(host, pull)];
}

function ofIssue(host: ScriptedHost, method: string, path: string, body: string): [number, unknown] {
  if (path.endsWith('/reactions')) return [200, {}];
  const one = /^\/issues\/comments\/(\d+)$/.exec(path);
  const known = host.comments.find(({ id }) => String(id) === one?.[1]);
  if (known !== undefined) {
    known.body = body;
    return [200, known];
  }
  const issue = Number(/^\/issues\/(\d+)\/comments$/.exec(path)?.[1] ?? Number.NaN);
  if (Number.isNaN(issue)) return [404, {}];
  if (method === 'GET') return [200, host.comments.filter((each) => each.issue === issue)];
  return [201, host.comment(issue, body)];
}
