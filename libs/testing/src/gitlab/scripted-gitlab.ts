import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { runGitBackend } from '../git-server.js';
import { DEVELOPER, GitLabState } from './gitlab-state.js';
import type { GitLabProject, GitLabUser } from './model.js';
import { mergeRequestEvent } from './payloads.js';
import { GitLabRoutes } from './routes.js';

/** Of a ref that does not exist. */
const NOTHING = '0'.repeat(40);

/**
 * The part of GitLab that we call, over real HTTP: its API, its webhooks, and git itself behind `git http-backend`.
 * What it answers is taken from GitLab's documentation.
 */
export class ScriptedGitLab extends GitLabState {
  /** `METHOD path` of each call, its path decoded. */
  readonly asked: string[] = [];
  /** Takes the place of every answer to such a call. */
  broken: { readonly calls: RegExp; readonly answer: (response: ServerResponse) => void } | null = null;
  private readonly routes = new GitLabRoutes(this);

  private constructor(
    private readonly server: Server,
    folder: string,
  ) {
    super(folder);
  }

  static async start(): Promise<ScriptedGitLab> {
    const server = createServer();
    const made = new ScriptedGitLab(server, await mkdtemp(path.join(os.tmpdir(), 'slipway-gitlab-')));
    server.on('request', (request, response) => {
      made.take(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500).end(JSON.stringify({ message: String(error) }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.sending.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const call = `${request.method} ${decodeURIComponent(url.pathname)}`;
    this.asked.push(call);
    if (this.broken?.calls.test(call) === true) return this.broken.answer(response);
    if (url.pathname.startsWith('/api/v4/')) return this.routes.take(request, url, response);
    return this.git(request, url, response);
  }

  /** `/group/project.git/info/refs` and its like, with Basic credentials whose password is a token. */
  private async git(request: IncomingMessage, { pathname, search }: URL, response: ServerResponse): Promise<void> {
    const [, name, rest] = /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(pathname) ?? [];
    const project = this.projects.find(({ path: at }) => at === name);
    const [, secret] = Buffer.from(request.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64')
      .toString()
      .split(':', 2);
    const token = this.tokens.get(secret ?? '');
    const writes = rest === 'git-receive-pack' || search.includes('git-receive-pack');
    const level = project === undefined || token === undefined ? 0 : (project.members.get(token.user.id) ?? 0);
    const scoped =
      token?.scopes.some(
        (scope) => scope === 'api' || scope === 'write_repository' || (scope === 'read_repository' && !writes),
      ) ?? false;
    if (token === undefined && (project?.visibility !== 'public' || writes))
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="GitLab"' }).end();
    if (project === undefined || (project.visibility !== 'public' && (level === 0 || !scoped)))
      return void response.writeHead(404).end();
    if (writes && (level < DEVELOPER || !scoped))
      return void response.writeHead(403).end('You are not allowed to push code to this project.');
    const before = rest === 'git-receive-pack' ? await project.repository.branches() : null;
    const by = token?.user;
    if (before !== null && by !== undefined)
      response.once('finish', () => void this.pushed(project, before, by).catch(() => {}));
    runGitBackend(
      { directory: this.folder, pathname: `/${project.path}.git/${rest}`, search, user: by?.username ?? 'nobody' },
      request,
      response,
    );
  }

  private async pushed(project: GitLabProject, before: ReadonlyMap<string, string>, by: GitLabUser): Promise<void> {
    for (const [branch, sha] of await project.repository.branches()) {
      const oldrev = before.get(branch) ?? NOTHING;
      if (oldrev === sha) continue;
      for (const merge of project.threads)
        if (
          merge.kind === 'merge_requests' &&
          merge.state === 'opened' &&
          merge.source === branch &&
          merge.sourceProject === project.id
        ) {
          merge.sha = sha;
          this.sending.send(project, mergeRequestEvent(this.url, project, merge, by, { action: 'update', oldrev }));
        }
    }
  }
}
