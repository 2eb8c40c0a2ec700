import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Gitea's routes for repositories over real HTTP, with as many of them as a test wants. */
export class ScriptedHost {
  /** Takes the place of every answer below a path. */
  broken: { readonly below: string; readonly answer: (response: ServerResponse) => void } | null = null;
  /** `owner/name` → what each login may do there, and the id that the answer names. */
  readonly rights = new Map<string, { readonly id: number; readonly permission: string }>();
  repositories: string[] = [];
  branches: string[] = [];
  readonly requests: string[] = [];
  /** Other answers, by what follows `repos/`, with `?type=` where that is asked for. */
  readonly more = new Map<string, unknown>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedHost> {
    const server = createServer((request, response) =>
      host.answer(new URL(request.url ?? '/', 'http://host'), response),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = new ScriptedHost(server);
    return host;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer({ pathname, searchParams }: URL, response: ServerResponse): unknown {
    this.requests.push(pathname);
    if (this.broken !== null && pathname.startsWith(this.broken.below)) return this.broken.answer(response);
    const json = (status: number, value: unknown): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const page = <T>(all: readonly T[]): readonly T[] =>
      all.slice((Number(searchParams.get('page')) - 1) * 50, Number(searchParams.get('page')) * 50);
    const one = (fullName: string): object => ({
      id: this.repositories.indexOf(fullName) + 1,
      full_name: fullName,
      private: true,
      default_branch: 'main',
      permissions: { admin: true },
    });
    if (pathname === '/api/v1/repos/search') {
      const query = searchParams.get('q') ?? '';
      return json(200, { data: page(this.repositories.filter((each) => each.includes(query))).map(one) });
    }
    const [, owner, name, rest] = /^\/api\/v1\/repos\/([^/]+)\/([^/]+)(?:\/(.*))?$/.exec(pathname) ?? [];
    const fullName = `${owner}/${name}`;
    if (!this.repositories.includes(fullName)) return json(404, {});
    if (rest === undefined) return json(200, one(fullName));
    if (rest === 'branches')
      return json(
        200,
        page(this.branches).map((each) => ({ name: each })),
      );
    const type = searchParams.get('type');
    const more = this.more.get(`${fullName}/${rest}${type === null ? '' : `?type=${type}`}`);
    if (more !== undefined) return json(200, more);
    if (rest === 'issues') return json(200, []);
    if (rest.startsWith('commits/')) return json(200, { statuses: [] });
    const { id, permission } = this.rights.get(fullName) ?? { id: 7, permission: 'none' };
    json(200, { permission, user: { id } });
  }
}
