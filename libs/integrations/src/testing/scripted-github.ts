import { createHash, createHmac, createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ScriptedAccount {
  readonly id: number;
  readonly login: string;
  readonly type: 'Organization' | 'User';
}

interface ScriptedApp {
  readonly id: number;
  readonly slug: string;
  readonly clientId: string;
  clientSecret: string;
  readonly webhookSecret: string;
  /** An owner may have more than one. */
  readonly pems: string[];
  readonly owner: string;
  readonly manifest: Record<string, unknown>;
}

export interface ScriptedInstallation {
  readonly id: number;
  readonly appId: number;
  readonly account: ScriptedAccount;
  readonly repositories: string[];
  permissions: Record<string, string>;
  suspended: boolean;
}

export interface MintedToken {
  readonly token: string;
  readonly installation: number;
  readonly repositories: readonly string[] | null;
  readonly permissions: Readonly<Record<string, string>>;
  readonly expiresAt: number;
}

export interface ScriptedAttempt {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly at: string;
  readonly body: string;
  readonly installation: number | null;
  status: number;
  readonly redelivery: boolean;
}

type Json = (status: number, body: unknown, headers?: Record<string, string>) => undefined;
type Handler = (at: {
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
  form: URLSearchParams;
  authorization: string;
  json: Json;
  method: string;
}) => void;

/** Longest that GitHub takes a JWT to hold, and how far its clock may be from the caller's. Seconds. */
const MAX_JWT_S = 600;

/**
 * GitHub's side of apps over real HTTP, as its documentation has it: manifests, installations, tokens, who is asking,
 * and deliveries. It checks what GitHub checks.
 */
export class ScriptedGitHub {
  readonly apps = new Map<number, ScriptedApp>();
  readonly installations = new Map<number, ScriptedInstallation>();
  readonly minted: MintedToken[] = [];
  readonly attempts: ScriptedAttempt[] = [];
  readonly requests: string[] = [];
  readonly revoked: string[] = [];
  /** What else is at the host, such as its pages and its repositories: true for a request that it answers. */
  elsewhere: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Takes the place of the answer below a path. */
  readonly broken = new Map<string, (response: ServerResponse) => void>();
  /** `stateless`: about 520 characters with dots, as github.com mints since 2026. */
  tokenForm: 'classic' | 'stateless' = 'classic';
  now: () => number = Date.now;
  /** Roles in organizations by login of the user and of the organization. */
  readonly roles = new Map<string, 'admin' | 'member'>();
  private readonly manifests = new Map<string, { manifest: Record<string, unknown>; owner: string }>();
  private readonly codes = new Map<
    string,
    { user: ScriptedAccount; challenge: string | null; redirectUri: string | null; clientId: string }
  >();
  private readonly userTokens = new Map<string, { user: ScriptedAccount; appId: number }>();
  private count = 1_000;

  private constructor(private readonly server: Server) {}

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

  private async send(
    app: ScriptedApp,
    { event, guid, body }: Pick<ScriptedAttempt, 'event' | 'guid' | 'body'>,
  ): Promise<number> {
    const signature = createHmac('sha256', app.webhookSecret).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': guid,
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const { url } = app.manifest['hook_attributes'] as { url: string };
    return (await fetch(url, { method: 'POST', headers, body })).status;
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

  private next(): number {
    this.count += 1;
    return this.count;
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
    const handler = this.handlerOf(at.method, path);
    if (handler === undefined) return json(404, { message: 'Not Found' });
    handler(at);
  }

  private handlerOf(method: string, path: string): Handler | undefined {
    const routes: ReadonlyArray<readonly [string, RegExp, Handler]> = [
      ['POST', /^\/app-manifests\/[^/]+\/conversions$/, (at) => this.convert(at)],
      ['POST', /^\/login\/oauth\/access_token$/, (at) => this.redeem(at)],
      ['DELETE', /^\/applications\/[^/]+\/token$/, (at) => this.asClient(at, () => this.revoke(at))],
      ['GET', /^\/user$/, (at) => this.asUser(at, ({ user }) => at.json(200, { ...user }))],
      ['GET', /^\/user\/installations$/, (at) => this.asUser(at, (known) => this.userInstallations(at, known))],
      ['GET', /^\/user\/memberships\/orgs\/[^/]+$/, (at) => this.asUser(at, ({ user }) => this.membership(at, user))],
      [
        'GET',
        /^\/users\/[^/]+$/,
        (at) =>
          this.asInstallation(at, () =>
            at.json(200, { id: 90_000, login: decodeURIComponent(at.path.slice(7)), type: 'Bot' }),
          ),
      ],
      [
        'POST',
        /^\/applications\/[^/]+\/token$/,
        (at) => this.asClient(at, () => at.json(404, { message: 'Not Found' })),
      ],
      ['GET', /^\/app$/, (at) => this.asApp(at, ({ id, slug }) => at.json(200, { id, slug }))],
      ['GET', /^\/app\/installations\/\d+$/, (at) => this.asApp(at, (app) => this.installationOf(at, app))],
      ['POST', /^\/app\/installations\/\d+\/access_tokens$/, (at) => this.asApp(at, (app) => this.mint(at, app))],
      ['GET', /^\/app\/hook\/deliveries$/, (at) => this.asApp(at, () => this.list(at))],
      ['POST', /^\/app\/hook\/deliveries\/\d+\/attempts$/, (at) => this.asApp(at, (app) => this.again(at, app))],
      ['GET', /^\/user\/repos$/, (at) => at.json(403, { message: 'Resource not accessible by integration' })],
      [
        'GET',
        /^\/installation\/repositories$/,
        (at) => this.asInstallation(at, (token) => this.repositories(at, token)),
      ],
    ];
    return routes.find(([known, pattern]) => known === method && pattern.test(path))?.[2];
  }

  private convert({ path, json }: Parameters<Handler>[0]): undefined {
    const code = path.split('/')[2] ?? '';
    const known = this.manifests.get(code);
    this.manifests.delete(code);
    if (known === undefined) return json(404, { message: 'Not Found' });
    const pem = newKey();
    const id = this.next();
    const slug = `${String(known.manifest['name'])
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')}`;
    const app = {
      id,
      slug,
      clientId: `Iv23${id}`,
      clientSecret: `secret-of-the-client-${randomUUID()}`,
      webhookSecret: `secret-of-the-webhook-${randomUUID()}`,
      pems: [pem],
    };
    this.apps.set(id, { ...app, ...known });
    const said = {
      client_id: app.clientId,
      client_secret: app.clientSecret,
      webhook_secret: app.webhookSecret,
      pem,
      html_url: `${this.url}/settings/apps/${slug}`,
    };
    json(201, {
      id,
      slug,
      ...said,
      owner: { login: known.owner },
      permissions: known.manifest['default_permissions'],
      events: known.manifest['default_events'],
    });
  }

  private redeem({ form, json }: Parameters<Handler>[0]): undefined {
    const code = form.get('code') ?? '';
    const known = this.codes.get(code);
    this.codes.delete(code);
    const app = [...this.apps.values()].find(
      (each) => each.clientId === form.get('client_id') && each.clientSecret === form.get('client_secret'),
    );
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      app !== undefined &&
      known?.clientId === app.clientId &&
      (known.challenge === null || known.challenge === challenge) &&
      (known.redirectUri === null || known.redirectUri === form.get('redirect_uri'));
    // As GitHub does: a refusal with 200.
    if (known === undefined || !isRight || app === undefined) return json(200, { error: 'bad_verification_code' });
    const token = `ghu_${randomUUID().replaceAll('-', '')}`;
    this.userTokens.set(token, { user: known.user, appId: app.id });
    json(200, { access_token: token, token_type: 'bearer' });
  }

  private asClient({ authorization, path, json }: Parameters<Handler>[0], work: () => void): undefined {
    const app = [...this.apps.values()].find(
      (each) => authorization === `Basic ${Buffer.from(`${each.clientId}:${each.clientSecret}`).toString('base64')}`,
    );
    if (app === undefined || !path.includes(app.clientId)) return json(401, {});
    work();
  }

  private revoke({ body, json }: Parameters<Handler>[0]): void {
    const token = String(body['access_token']);
    if (this.userTokens.delete(token)) this.revoked.push(token);
    json(204, {});
  }

  private asUser(
    { authorization, json }: Parameters<Handler>[0],
    work: (known: { user: ScriptedAccount; appId: number }) => void,
  ): undefined {
    const known = this.userTokens.get(authorization.replace('Bearer ', ''));
    if (known === undefined) return json(401, { message: 'Bad credentials' });
    work(known);
  }

  private userInstallations(
    { json }: Parameters<Handler>[0],
    { user, appId }: { user: ScriptedAccount; appId: number },
  ): undefined {
    const shown = [...this.installations.values()].filter(
      (each) => each.appId === appId && this.sees(user, each.account),
    );
    json(200, { total_count: shown.length, installations: shown.map((each) => asJson(each)) });
  }

  private sees(user: ScriptedAccount, account: ScriptedAccount): boolean {
    return user.id === account.id || this.roles.has(`${user.login} ${account.login}`);
  }

  private membership({ path, json }: Parameters<Handler>[0], user: ScriptedAccount): undefined {
    const login = decodeURIComponent(path.split('/')[4] ?? '');
    const role = this.roles.get(`${user.login} ${login}`);
    const account = [...this.installations.values()].find((each) => each.account.login === login)?.account;
    if (role === undefined || account === undefined) return json(404, { message: 'Not Found' });
    json(200, { state: 'active', role, organization: { id: account.id, login } });
  }

  private asApp({ authorization, json }: Parameters<Handler>[0], work: (app: ScriptedApp) => void): undefined {
    const [, jwt = ''] = /^Bearer (.+)$/.exec(authorization) ?? [];
    const [head = '', claims = '', signature = ''] = jwt.split('.');
    try {
      const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg: string };
      const { iat, exp, iss } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
        iat: number;
        exp: number;
        iss: string;
      };
      const app = [...this.apps.values()].find(({ clientId }) => clientId === iss);
      const now = this.now() / 1000;
      const holds = alg === 'RS256' && iat <= now && exp > now && exp <= now + MAX_JWT_S;
      const signed = Buffer.from(`${head}.${claims}`);
      const isSigned =
        app?.pems.some((pem) => verify('sha256', signed, createPublicKey(pem), Buffer.from(signature, 'base64url'))) ===
        true;
      if (app !== undefined && holds && isSigned) {
        work(app);
        return;
      }
    } catch {
      // Answered below.
    }
    json(401, { message: 'A JSON web token could not be decoded' });
  }

  private installationOf({ path, json }: Parameters<Handler>[0], app: ScriptedApp): undefined {
    const found = this.installations.get(Number(path.split('/')[3]));
    if (found === undefined || found.appId !== app.id) return json(404, { message: 'Not Found' });
    json(200, asJson(found));
  }

  private mint({ path, body, json }: Parameters<Handler>[0], app: ScriptedApp): undefined {
    const found = this.installations.get(Number(path.split('/')[3]));
    if (found === undefined || found.appId !== app.id) return json(404, { message: 'Not Found' });
    if (found.suspended) return json(403, { message: 'This installation has been suspended' });
    const names = body['repositories'] as string[] | undefined;
    const permissions = (body['permissions'] as Record<string, string> | undefined) ?? found.permissions;
    const rank = (access: string | undefined): number => ['read', 'write', 'admin'].indexOf(access ?? '');
    if (Object.entries(permissions).some(([each, access]) => rank(found.permissions[each]) < rank(access)))
      return json(422, { message: 'The permissions requested are not granted to this installation.' });
    const full = names?.map((each) =>
      found.repositories.find((known) => known.split('/')[1]?.toLowerCase() === each.toLowerCase()),
    );
    if (full?.some((each) => each === undefined))
      return json(422, { message: 'There is at least one repository that does not exist or is not accessible' });
    const expiresAt = this.now() + 60 * 60_000;
    const random = createHash('sha512').update(`${this.next()}`).digest('base64url');
    const token =
      this.tokenForm === 'classic'
        ? `ghs_${random.replace(/[^A-Za-z0-9]/g, '0').slice(0, 36)}`
        : stateless(app.id, random);
    this.minted.push({
      token,
      installation: found.id,
      repositories: (full as string[] | undefined) ?? null,
      permissions,
      expiresAt,
    });
    const repositories = full === undefined ? {} : { repositories: full.map((full_name) => ({ id: 1, full_name })) };
    json(201, {
      token,
      expires_at: new Date(expiresAt).toISOString(),
      permissions,
      repository_selection: 'selected',
      ...repositories,
    });
  }

  private asInstallation(
    { authorization, json }: Parameters<Handler>[0],
    work: (token: MintedToken) => void,
  ): undefined {
    const known = this.minted.find(
      ({ token, expiresAt }) => authorization === `Bearer ${token}` && expiresAt > this.now(),
    );
    if (known === undefined || this.installations.get(known.installation)?.suspended !== false)
      return json(401, { message: 'Bad credentials' });
    work(known);
  }

  private repositories({ json }: Parameters<Handler>[0], token: MintedToken): undefined {
    const all = token.repositories ?? this.installations.get(token.installation)?.repositories ?? [];
    // GitHub says of an installation's token that it may nothing there, whatever it may.
    const permissions = { admin: false, push: false, pull: false };
    const repositories = all.map((full_name, index) => ({
      id: index + 1,
      full_name,
      private: true,
      fork: false,
      default_branch: 'main',
      permissions,
    }));
    json(200, { total_count: repositories.length, repositories });
  }

  private list({ query, json }: Parameters<Handler>[0]): undefined {
    const from = Number(query.get('cursor') ?? 0);
    const size = Math.min(Number(query.get('per_page') ?? 30), 100);
    const page = this.attempts
      .slice(from, from + size)
      .map(({ id, guid, event, at, status, redelivery, installation, body }) => ({
        ...{
          id,
          guid,
          event,
          delivered_at: at,
          redelivery,
          duration: 0.1,
          status: status === 200 ? 'OK' : 'failed',
          status_code: status,
        },
        ...{
          action: (JSON.parse(body) as { action?: string }).action ?? null,
          installation_id: installation,
          repository_id: null,
        },
      }));
    const next: Record<string, string> =
      from + size < this.attempts.length
        ? { link: `<${this.url}/app/hook/deliveries?per_page=${size}&cursor=${from + size}>; rel="next"` }
        : {};
    json(200, page, next);
  }

  private again({ path, json }: Parameters<Handler>[0], app: ScriptedApp): undefined {
    const first = this.attempts.find(({ id }) => id === Number(path.split('/')[4]));
    if (first === undefined) return json(404, { message: 'Not Found' });
    const attempt: ScriptedAttempt = {
      ...first,
      id: this.next(),
      at: new Date(this.now()).toISOString(),
      status: 0,
      redelivery: true,
    };
    this.attempts.unshift(attempt);
    void this.send(app, first).then((status) => {
      attempt.status = status;
    });
    json(202, {});
  }
}

/** As GitHub makes one for the owner of an app. */
export const newKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;

/** The shape that github.com mints since 2026: about 520 characters, with two dots and underscores. */
function stateless(appId: number, random: string): string {
  const part = (length: number): string => random.repeat(10).slice(0, length);
  return `ghs_${appId}_${part(60)}.${part(360)}.${part(86)}`.slice(0, 520);
}

function asJson({ id, appId, account, repositories, permissions, suspended }: ScriptedInstallation): object {
  return {
    ...{ id, app_id: appId, account: { ...account }, permissions, events: [] },
    ...{
      repository_selection: 'selected',
      suspended_at: suspended ? '2026-11-25T00:00:00Z' : null,
      repositories_count: repositories.length,
    },
  };
}
