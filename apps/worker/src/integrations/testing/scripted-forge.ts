import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What becomes of one request. `lost`: it never arrives. The others but `refused` take effect, and their answer does
 * not come, comes in half, or is far too long.
 */
export type Fate =
  | 'well'
  | 'lost'
  | 'unanswered'
  | 'half'
  | 'endless'
  | { readonly status: number; readonly headers?: Record<string, string> };

export interface ForgeComment {
  readonly id: number;
  readonly issue: number;
  body: string;
  readonly createdAt: number;
}

/** Comments and reactions of a git host over real HTTP, whose connection fails as a test says. */
export class ScriptedForge {
  readonly comments: ForgeComment[] = [];
  readonly reactions: string[] = [];
  readonly calls: string[] = [];
  /** Below line comments, by the id of the comment. */
  readonly replies: { readonly id: number; readonly comment: string; readonly body: string }[] = [];
  /** `comment after n replies`, once for each call. */
  readonly resolved: string[] = [];
  /** By login: what each may do, and their id. */
  readonly permissions = new Map<string, { readonly id: number; readonly permission: string }>();
  /** Of the requests to come, in order; after the last all go well. */
  fates: Fate[] = [];
  private readonly server: Server;

  constructor(private readonly now: () => number) {
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

  ofIssue(issue: number): ForgeComment[] {
    return this.comments.filter((each) => each.issue === issue);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://forge');
    this.calls.push(`${request.method} ${pathname}`);
    const fate = this.fates.shift() ?? 'well';
    if (fate === 'lost') return void request.socket.destroy();
    if (typeof fate === 'object') return void response.writeHead(fate.status, fate.headers).end('{"message":"no"}');
    const body = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as { body?: string });
    const [status, answer] = this.effect(request.method ?? '', pathname, searchParams, body.body ?? '');
    const text = JSON.stringify(answer);
    response.setHeader('content-type', 'application/json');
    switch (fate) {
      case 'well':
        return void response.writeHead(status).end(text);
      case 'unanswered':
        return void request.socket.destroy();
      case 'half':
        response
          .writeHead(status, { 'content-length': String(text.length) })
          .write(text.slice(0, text.length / 2), () => request.socket.destroy());
        return;
      case 'endless':
        return void response.writeHead(status).end(`"${'x'.repeat(25 * 1024 * 1024)}"`);
    }
  }

  private effect(method: string, path: string, query: URLSearchParams, body: string): [number, unknown] {
    const reactions = /\/(issues|issues\/comments|pulls\/comments)\/(\d+)\/reactions$/.exec(path);
    if (reactions !== null) {
      const key = `${reactions[1]} ${reactions[2]}`;
      if (this.reactions.includes(key)) return [200, {}];
      this.reactions.push(key);
      return [201, {}];
    }
    const asked = /\/collaborators\/([^/]+)\/permission$/.exec(path);
    const known = this.permissions.get(asked?.[1] ?? '');
    if (asked !== null)
      return known === undefined ? [404, {}] : [200, { permission: known.permission, user: { id: known.id } }];
    const replied = /\/pulls\/\d+\/comments\/(\w+)\/replies$/.exec(path);
    if (replied !== null) {
      const made = { id: 50_000 + this.replies.length, comment: replied[1] ?? '', body };
      this.replies.push(made);
      return [201, { ...made, html_url: `https://forge.test/r/${made.id}` }];
    }
    if (/\/pulls\/\d+\/reviews$/.test(path)) return [200, [{ id: 1, comments_count: this.replies.length }]];
    if (/\/pulls\/\d+\/reviews\/1\/comments$/.test(path))
      return [200, this.replies.map((each) => ({ ...each, html_url: null }))];
    const resolved = /\/pulls\/comments\/(\w+)\/resolve$/.exec(path);
    if (resolved !== null) {
      this.resolved.push(
        `${resolved[1]} after ${this.replies.filter(({ comment }) => comment === resolved[1]).length}`,
      );
      return [200, {}];
    }
    const list = /\/issues\/(\d+)\/comments$/.exec(path);
    const shown = (each: ForgeComment): unknown => ({
      id: each.id,
      html_url: `https://forge.test/c/${each.id}`,
      body: each.body,
    });
    if (list !== null && method === 'POST') {
      const made = { id: 1_000 + this.comments.length, issue: Number(list[1]), body, createdAt: this.now() };
      this.comments.push(made);
      return [201, shown(made)];
    }
    if (list !== null) {
      const since = Date.parse(query.get('since') ?? '');
      return [
        200,
        this.ofIssue(Number(list[1]))
          .filter((each) => each.createdAt >= since)
          .map(shown),
      ];
    }
    const one = /\/issues\/comments\/(\d+)$/.exec(path);
    const comment = this.comments.find((each) => String(each.id) === one?.[1]);
    if (comment === undefined) return [404, { message: 'not found' }];
    comment.body = body;
    return [200, shown(comment)];
  }
}
