import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of one request. `lost`: it never arrives. `unanswered`: it takes effect, and its answer is lost. */
export type HostFate = 'well' | 'lost' | 'unanswered' | 503;

export interface Pull {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  title: string;
  body: string;
  state: 'open' | 'closed';
  merged: boolean;
}

export interface Comment {
  readonly id: number;
  readonly createdAt: Date;
  readonly issue: number;
  body: string;
}

const pkt = (text: string): string => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;

export interface HostRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Readonly<Record<string, unknown>>;
}
/** What one kind of git host answers, apart from git itself. */
export type HostApi = (host: ScriptedHost, request: HostRequest) => readonly [status: number, answer: unknown];

/**
 * One repository `acme/shop` of a git host over real HTTP: git's push, pull requests, comments and statuses. Its
 * connection fails as a test says.
 */
export class ScriptedHost {
  readonly refs = new Map<string, string>();
  readonly pulls: Pull[] = [];
  readonly comments: Comment[] = [];
  /** `branch old new` of each push that took effect. */
  readonly pushes: string[] = [];
  readonly statuses = new Map<
    string,
    { readonly context: string; readonly status: string; readonly description: string }[]
  >();
  /** What stands at the root of each commit. */
  files: Readonly<Record<string, string>> = {};
  /** Of the requests to come, in order; after the last all go well. */
  fates: HostFate[] = [];
  /** `METHOD path` of requests that take effect, and whose answer is lost. */
  unanswered: RegExp | null = null;
  calls = 0;
  private readonly server: Server;

  /** @param now stamps comments: a host whose clock is far from ours finds none of them again. */
  constructor(
    private readonly api: HostApi,
    readonly now: () => Date,
  ) {
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
    const [status, answer] =
      git === null ? this.api(this, { method: request.method ?? '', url, body: jsonOf(body) }) : [200, git];
    if (fate === 'unanswered' || this.unanswered?.test(`${request.method} ${url.pathname}`) === true)
      return void request.socket.destroy();
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }

  private git(method: string, { pathname }: URL, body: Buffer): string | null {
    if (pathname === '/acme/shop.git/info/refs') {
      const lines = [...this.refs].map(([name, hash], index) =>
        pkt(`${hash} ${name}${index === 0 ? '\0report-status side-band-64k' : ''}\n`),
      );
      return `${pkt('# service=git-receive-pack\n')}0000${lines.join('')}0000`;
    }
    if (method !== 'POST' || pathname !== '/acme/shop.git/git-receive-pack') return null;
    const [, from = '', to = '', ref = ''] =
      /^[0-9a-f]{4}([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0]+)\0/.exec(body.toString('latin1')) ?? [];
    const current = this.refs.get(ref) ?? '0'.repeat(40);
    const taken = current === from;
    if (taken) {
      this.refs.set(ref, to);
      this.pushes.push(`${ref.slice('refs/heads/'.length)} ${from} ${to}`);
    }
    const report = `${pkt('unpack ok\n')}${pkt(taken ? `ok ${ref}\n` : `ng ${ref} stale info\n`)}0000`;
    return `${pkt(`\u0001${report}`)}0000`;
  }

  headOf(pull: Pull): string {
    return this.refs.get(`refs/heads/${pull.head}`) ?? '';
  }

  /** `null`: the branch has an open one. */
  open(made: Pick<Pull, 'head' | 'base' | 'title' | 'body'>): Pull | null {
    if (this.pulls.some((each) => each.head === made.head && each.base === made.base && each.state === 'open'))
      return null;
    const pull: Pull = { number: 100 + this.pulls.length, state: 'open', merged: false, ...made };
    this.pulls.push(pull);
    return pull;
  }

  comment(issue: number, body: string): Comment {
    const made = { id: 9_000 + this.comments.length, createdAt: this.now(), issue, body };
    this.comments.push(made);
    return made;
  }
}

const jsonOf = (body: Buffer): Record<string, unknown> =>
  body.length === 0 ? {} : (JSON.parse(body.toString()) as Record<string, unknown>);
