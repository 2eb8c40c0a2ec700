import { createHash, createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto';
import {
  type MintedToken,
  type ScriptedAccount,
  type ScriptedApp,
  type ScriptedAttempt,
  type ScriptedGitHubState,
  type ScriptedInstallation,
} from './scripted-github-state.js';

export type Json = (status: number, body: unknown, headers?: Record<string, string>) => undefined;
export type Handler = (at: {
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

/** The routes of GitHub's API. Checks what GitHub checks. */
export class ScriptedGitHubApi {
  constructor(private readonly github: ScriptedGitHubState) {}

  handlerOf(method: string, path: string): Handler | undefined {
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
    const known = this.github.manifests.get(code);
    this.github.manifests.delete(code);
    if (known === undefined) return json(404, { message: 'Not Found' });
    const pem = newKey();
    const id = this.github.next();
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
    this.github.apps.set(id, { ...app, ...known });
    const said = {
      client_id: app.clientId,
      client_secret: app.clientSecret,
      webhook_secret: app.webhookSecret,
      pem,
      html_url: `${this.github.url}/settings/apps/${slug}`,
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
    const known = this.github.codes.get(code);
    this.github.codes.delete(code);
    const app = [...this.github.apps.values()].find(
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
    this.github.userTokens.set(token, { user: known.user, appId: app.id });
    json(200, { access_token: token, token_type: 'bearer' });
  }

  private asClient({ authorization, path, json }: Parameters<Handler>[0], work: () => void): undefined {
    const app = [...this.github.apps.values()].find(
      (each) => authorization === `Basic ${Buffer.from(`${each.clientId}:${each.clientSecret}`).toString('base64')}`,
    );
    if (app === undefined || !path.includes(app.clientId)) return json(401, {});
    work();
  }

  private revoke({ body, json }: Parameters<Handler>[0]): void {
    const token = String(body['access_token']);
    if (this.github.userTokens.delete(token)) this.github.revoked.push(token);
    json(204, {});
  }

  private asUser(
    { authorization, json }: Parameters<Handler>[0],
    work: (known: { user: ScriptedAccount; appId: number }) => void,
  ): undefined {
    const known = this.github.userTokens.get(authorization.replace('Bearer ', ''));
    if (known === undefined) return json(401, { message: 'Bad credentials' });
    work(known);
  }

  private userInstallations(
    { json }: Parameters<Handler>[0],
    { user, appId }: { user: ScriptedAccount; appId: number },
  ): undefined {
    const shown = [...this.github.installations.values()].filter(
      (each) => each.appId === appId && this.sees(user, each.account),
    );
    json(200, { total_count: shown.length, installations: shown.map((each) => asJson(each)) });
  }

  private sees(user: ScriptedAccount, account: ScriptedAccount): boolean {
    return user.id === account.id || this.github.roles.has(`${user.login} ${account.login}`);
  }

  private membership({ path, json }: Parameters<Handler>[0], user: ScriptedAccount): undefined {
    const login = decodeURIComponent(path.split('/')[4] ?? '');
    const role = this.github.roles.get(`${user.login} ${login}`);
    const account = [...this.github.installations.values()].find((each) => each.account.login === login)?.account;
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
      const app = [...this.github.apps.values()].find(({ clientId }) => clientId === iss);
      const now = this.github.now() / 1000;
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
    const found = this.github.installations.get(Number(path.split('/')[3]));
    if (found === undefined || found.appId !== app.id) return json(404, { message: 'Not Found' });
    json(200, asJson(found));
  }

  private mint({ path, body, json }: Parameters<Handler>[0], app: ScriptedApp): undefined {
    const found = this.github.installations.get(Number(path.split('/')[3]));
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
    const expiresAt = this.github.now() + 60 * 60_000;
    const random = createHash('sha512').update(`${this.github.next()}`).digest('base64url');
    const token =
      this.github.tokenForm === 'classic'
        ? `ghs_${random.replace(/[^A-Za-z0-9]/g, '0').slice(0, 36)}`
        : stateless(app.id, random);
    this.github.minted.push({
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
    const known = this.github.minted.find(
      ({ token, expiresAt }) => authorization === `Bearer ${token}` && expiresAt > this.github.now(),
    );
    if (known === undefined || this.github.installations.get(known.installation)?.suspended !== false)
      return json(401, { message: 'Bad credentials' });
    work(known);
  }

  private repositories({ json }: Parameters<Handler>[0], token: MintedToken): undefined {
    const all = token.repositories ?? this.github.installations.get(token.installation)?.repositories ?? [];
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
    const page = this.github.attempts
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
      from + size < this.github.attempts.length
        ? { link: `<${this.github.url}/app/hook/deliveries?per_page=${size}&cursor=${from + size}>; rel="next"` }
        : {};
    json(200, page, next);
  }

  private again({ path, json }: Parameters<Handler>[0], app: ScriptedApp): undefined {
    const first = this.github.attempts.find(({ id }) => id === Number(path.split('/')[4]));
    if (first === undefined) return json(404, { message: 'Not Found' });
    const attempt: ScriptedAttempt = {
      ...first,
      id: this.github.next(),
      at: new Date(this.github.now()).toISOString(),
      status: 0,
      redelivery: true,
    };
    this.github.attempts.unshift(attempt);
    void this.github.send(app, first).then((status) => {
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
