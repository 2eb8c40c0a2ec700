import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of one request. `lost`: it never arrives. `unanswered`: it takes effect, and nobody learns of it. */
export type HostFate = 'well' | 'lost' | 'unanswered' | 503;

interface Pull {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  title: string;
  body: string;
  state: 'open' | 'closed';
  merged: boolean;
}

interface Comment {
  readonly id: number;
  readonly issue: number;
  body: string;
}

const pkt = (text: string): string => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;

/** One repository `acme/shop` of a git host over real HTTP: git's push, pull requests, comments and statuses. Its connection fails as a test says. */
export class ScriptedHost {
  readonly refs = new Map<string, string>();
  readonly pulls: Pull[] = [];
  readonly comments: Comment[] = [];
  /** `branch old new` of each push that took effect. */
  readonly pushes: string[] = [];
  readonly statuses = new Map<string, { readonly context: string; readonly status: string; readonly description: string }[]>();
  /** What stands at the root of each commit. */
  files: Readonly<Record<string, string>> = {};
  /** Of the requests to come, in order; after the last all go well. */
  fates: HostFate[] = [];
  calls = 0;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => void this.take(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    this.calls += 1;
    const fate = this.fates.shift() ?? 'well';
    if (fate === 'lost') return void request.socket.destroy();
    if (fate === 503) return void response.writeHead(503).end('{}');
    const url = new URL(request.url ?? '/', 'http://host');
    const body = Buffer.concat(parts);
    const git = this.git(request.method ?? '', url, body);
    const [status, answer] = git === null ? this.api(request.method ?? '', url.pathname, body) : [200, git];
    if (fate === 'unanswered') return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json' }).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }

  private git(method: string, { pathname }: URL, body: Buffer): string | null {
    if (pathname === '/acme/shop.git/info/refs') {
      const lines = [...this.refs].map(([name, hash], index) => pkt(`${hash} ${name}${index === 0 ? '\0report-status side-band-64k' : ''}\n`));
      return `${pkt('# service=git-receive-pack\n')}0000${lines.join('')}0000`;
    }
    if (method !== 'POST' || pathname !== '/acme/shop.git/git-receive-pack') return null;
    const [, from = '', to = '', ref = ''] = /^[0-9a-f]{4}([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0]+)\0/.exec(body.toString('latin1')) ?? [];
    const current = this.refs.get(ref) ?? '0'.repeat(40);
    const taken = current === from;
    if (taken) {
      this.refs.set(ref, to);
      this.pushes.push(`${ref.slice('refs/heads/'.length)} ${from} ${to}`);
    }
    const report = `${pkt('unpack ok\n')}${pkt(taken ? `ok ${ref}\n` : `ng ${ref} stale info\n`)}0000`;
    return `${pkt(`\u0001${report}`)}0000`;
  }

  private shown(pull: Pull): object {
    const sha = this.refs.get(`refs/heads/${pull.head}`) ?? '';
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
      head: { ref: pull.head, sha, repo },
      base: { ref: pull.base, sha: 'b'.repeat(40), repo },
    };
  }

  private api(method: string, whole: string, raw: Buffer): [number, unknown] {
    const path = whole.replace('/api/v1/repos/acme/shop', '');
    const body = raw.length === 0 ? {} : (JSON.parse(raw.toString()) as Record<string, string>);
    if (path === '') return [200, { id: 1, full_name: 'acme/shop', private: true, default_branch: 'main' }];
    if (path.startsWith('/git/trees/'))
      return [200, { truncated: false, tree: Object.keys(this.files).map((name, index) => ({ path: name, mode: '100644', sha: `f${index}` })) }];
    const file = /^\/git\/blobs\/f(\d+)$/.exec(path);
    if (file !== null) return [200, { encoding: 'base64', content: Buffer.from(Object.values(this.files)[Number(file[1])] ?? '').toString('base64') }];
    if (path.startsWith('/compare/')) return [200, { commits: [] }];
    const status = /^\/commits\/(\w+)\/status$/.exec(path);
    if (status !== null)
      return [200, { statuses: (this.statuses.get(status[1] ?? '') ?? []).map((each, index) => ({ id: index + 1, ...each, target_url: '' })) }];
    if (method === 'POST' && path === '/pulls') return this.open(body);
    const pull = /^\/pulls\/(\d+)(\/\w+)?$/.exec(path);
    if (pull !== null) return this.ofPull(method, Number(pull[1]), pull[2] ?? '', body);
    const named = /^\/pulls\/([^/]+)\/(.+)$/.exec(path);
    if (named !== null) {
      const found = this.pulls.find(({ head, base, state }) => base === named[1] && head === decodeURIComponent(named[2] ?? '') && state === 'open');
      return found === undefined ? [404, {}] : [200, this.shown(found)];
    }
    return this.ofIssue(method, path, body['body'] ?? '');
  }

  private open({ head = '', base = '', title = '', body = '' }: Record<string, string>): [number, unknown] {
    if (this.pulls.some((each) => each.head === head && each.base === base && each.state === 'open')) return [409, { message: 'pull request already exists' }];
    const made: Pull = { number: 100 + this.pulls.length, head, base, title, body, state: 'open', merged: false };
    this.pulls.push(made);
    return [201, this.shown(made)];
  }

  private ofPull(method: string, number: number, rest: string, body: Record<string, string>): [number, unknown] {
    const pull = this.pulls.find((each) => each.number === number);
    if (pull === undefined) return [404, {}];
    if (rest === '/reviews') return [200, []];
    if (rest === '/merge') Object.assign(pull, { state: 'closed', merged: true });
    if (method === 'PATCH') Object.assign(pull, body);
    return [200, this.shown(pull)];
  }

  private ofIssue(method: string, path: string, body: string): [number, unknown] {
    if (path.endsWith('/reactions')) return [200, {}];
    const one = /^\/issues\/comments\/(\d+)$/.exec(path);
    const known = this.comments.find(({ id }) => String(id) === one?.[1]);
    if (known !== undefined) {
      known.body = body;
      return [200, known];
    }
    const issue = Number(/^\/issues\/(\d+)\/comments$/.exec(path)?.[1] ?? Number.NaN);
    if (Number.isNaN(issue)) return [404, {}];
    if (method === 'GET') return [200, this.comments.filter((each) => each.issue === issue)];
    const made = { id: 9_000 + this.comments.length, issue, body };
    this.comments.push(made);
    return [201, made];
  }
}
