import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Json, ScriptedGitHubApi } from './scripted-github-api.js';
import {
  type ScriptedAccount,
  type ScriptedApp,
  ScriptedGitHubState,
  type ScriptedInstallation,
} from './scripted-github-state.js';

/**
 * GitHub's side of apps over real HTTP, as its documentation has it: manifests, installations, tokens, who is asking,
 * and deliveries. It checks what GitHub checks.
 */
export class ScriptedGitHub extends ScriptedGitHubState {
  readonly requests: string[] = [];
  /** What else is at the host, such as its pages and its repositories: true for a request that it answers. */
  elsewhere: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Takes the place of the answer below a path. */
  readonly broken = new Map<string, (response: ServerResponse) => void>();
  private readonly api = new ScriptedGitHubApi(this);

  private constructor(private readonly server: Server) {
    super();
  }

  static async start(): Promise<ScriptedGitHub> {
    const server = createServer((request, response) => void github.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const github = new ScriptedGitHub(server);
    return github;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** The admin presses the button: what their browser posts. @returns where GitHub sends it back to. */
  async confirmManifest(action: string, manifest: string): Promise<URL> {
    const at = new URL(action);
    const owner = /^\/organizations\/([^/]+)\/settings\/apps\/new$/.exec(at.pathname)?.[1] ?? 'octocat';
    const parsed = JSON.parse(manifest) as Record<string, unknown>;
    const code = randomUUID().replaceAll('-', '');
    this.manifests.set(code, { manifest: parsed, owner });
    const back = new URL(parsed['redirect_url'] as string);
    back.search = new URLSearchParams({ code, state: at.searchParams.get('state') ?? '' }).toString();
    return back;
  }

  /**
   * An authorized user installs the app from an installation page. @returns the installation, and where GitHub sends
   * the browser back to.
   */
  install(
    installUrl: string,
    user: ScriptedAccount,
    account: ScriptedAccount,
    repositories: string[],
  ): { installation: ScriptedInstallation; back: URL } {
    const app = this.appAt(installUrl);
    const id = this.next();
    const permissions = { ...(app.manifest['default_permissions'] as Record<string, string>) };
    const installation: ScriptedInstallation = {
      id,
      appId: app.id,
      account,
      repositories,
      permissions,
      suspended: false,
    };
    this.installations.set(id, installation);
    return {
      installation,
      back: this.back(installUrl, app, user, { installation_id: String(id), setup_action: 'install' }),
    };
  }

  /** The way back from an installation page, with whatever the browser makes of it. */
  backFrom(installUrl: string, user: ScriptedAccount, query: Readonly<Record<string, string>>): URL {
    return this.back(installUrl, this.appAt(installUrl), user, query);
  }

  /** A user consents on the OAuth page. */
  consent(authorizeUrl: string, user: ScriptedAccount): URL {
    const asked = new URL(authorizeUrl).searchParams;
    const redirectUri = asked.get('redirect_uri') ?? '';
    const code = this.codeFor(user, asked.get('client_id') ?? '', asked.get('code_challenge'), redirectUri);
    const back = new URL(redirectUri);
    back.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString();
    return back;
  }

  /** Delivers an event as GitHub signs it; `lost`: without an answer. @returns the status. */
  async deliver(
    appId: number,
    event: string,
    body: object,
    { lost = false, guid = randomUUID() as string } = {},
  ): Promise<number> {
    const app = this.apps.get(appId) as ScriptedApp;
    const installation = (body as { installation?: { id: number } }).installation?.id ?? null;
    const attempt = {
      id: this.next(),
      guid,
      event,
      at: new Date(this.now()).toISOString(),
      body: JSON.stringify(body),
      installation,
      status: 0,
      redelivery: false,
    };
    this.attempts.unshift(attempt);
    attempt.status = lost ? 502 : await this.send(app, attempt);
    return attempt.status;
  }

  private back(
    installUrl: string,
    app: ScriptedApp,
    user: ScriptedAccount,
    query: Readonly<Record<string, string>>,
  ): URL {
    const [first = ''] = app.manifest['callback_urls'] as string[];
    const back = new URL(first);
    const state = new URL(installUrl).searchParams.get('state') ?? '';
    back.search = new URLSearchParams({
      code: this.codeFor(user, app.clientId, null, null),
      state,
      ...query,
    }).toString();
    return back;
  }

  private appAt(installUrl: string): ScriptedApp {
    const slug = /^\/(?:github-)?apps\/([^/]+)\/installations\/new$/.exec(new URL(installUrl).pathname)?.[1];
    const app = [...this.apps.values()].find((each) => each.slug === slug);
    if (app === undefined) throw new Error(`no app at ${installUrl}`);
    return app;
  }

  private codeFor(
    user: ScriptedAccount,
    clientId: string,
    challenge: string | null,
    redirectUri: string | null,
  ): string {
    const code = randomUUID();
    this.codes.set(code, { user, challenge, redirectUri, clientId });
    return code;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://github');
    const path = pathname.replace(/^\/api\/v3/, '');
    this.requests.push(`${request.method} ${path}`);
    if (this.elsewhere(request, response)) return;
    const sent = await text(request);
    const broken = this.broken.get(path);
    if (broken !== undefined) return broken(response);
    const isForm = (request.headers['content-type'] ?? '').includes('form');
    const json: Json = (status, body, headers = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    const at = {
      path,
      query,
      body: isForm || sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>),
      form: new URLSearchParams(isForm ? sent : ''),
      authorization: request.headers.authorization ?? '',
      json,
      method: request.method ?? '',
    };
    const handler = this.api.handlerOf(at.method, path);
    if (handler === undefined) return json(404, { message: 'Not Found' });
    handler(at);
  }
}
