import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { IntegrationConnection, IntegrationProviderList } from '@slipway/contracts/integrations';
import { newKey, type ScriptedAccount, ScriptedGitHub } from '@slipway/integrations/testing';
import { FEATURES } from '../../app.module.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const OCTOCAT: ScriptedAccount = { id: 1, login: 'octocat', type: 'User' };
const MALLORY: ScriptedAccount = { id: 66, login: 'mallory', type: 'User' };

interface Begun {
  readonly url: string;
  readonly cookie: string;
}

jest.setTimeout(180_000);

describe('GitHub Apps of organizations', () => {
  let app: ConversationApp;
  let github: ScriptedGitHub;
  let olga: User;
  let rival: User;
  let count = 0;
  beforeAll(async () => {
    github = await ScriptedGitHub.start();
    const host = new URL(github.url).host;
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: host } });
    [olga, rival] = [await app.user('Olga'), await app.user('Rival')];
  });
  afterAll(async () => {
    await app?.close();
    github?.close();
  });
  afterEach(() => github.broken.clear());

  const path = (rest: string, by: User): string => `/api/v1/orgs/${by.orgId}/integrations${rest}`;
  const get = (url: string | URL, by: User | null, cookie = ''): Promise<Response> =>
    fetch(url, { redirect: 'manual', headers: { cookie: [by?.cookie, cookie].filter(Boolean).join('; ') } });
  const cookieOf = (headers: Headers): string => headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const problem = async (response: Response): Promise<unknown> => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ];
  const account = (): ScriptedAccount => {
    count += 1;
    return { id: 1_000 + count, login: `acme-${count}`, type: 'Organization' };
  };

  const beginRegistration = async (by: User, name = `Slipway ${++count}`): Promise<string> => {
    const body = { provider: 'github', name, host: github.host, baseUrl: github.url, owner: 'acme' };
    const answer = await app.http<{ url: string }>(by, 'POST', path('/apps', by), body);
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return answer.body.url;
  };
  /** What the page of the form holds. */
  const form = async (
    url: string,
    by: User,
  ): Promise<{ action: string; manifest: string; cookie: string; policy: string }> => {
    const shown = await get(url, by);
    const html = await shown.text();
    expect([shown.status, html]).toEqual([200, expect.stringContaining('<form')]);
    const unescaped = (text = ''): string =>
      text
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&');
    return {
      action: unescaped(/action="([^"]*)"/.exec(html)?.[1]),
      manifest: unescaped(/name="manifest" value="([^"]*)"/.exec(html)?.[1]),
      cookie: cookieOf(shown.headers),
      policy: shown.headers.get('content-security-policy') ?? '',
    };
  };
  const idOf = (response: Response): string => {
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      expect.stringMatching(/\/admin\/integrations\/[0-9a-f-]{36}$/),
    ]);
    return new URL(response.headers.get('location') ?? '').pathname.split('/').at(-1) ?? '';
  };
  const register = async (by: User): Promise<string> => {
    const { action, manifest, cookie } = await form(await beginRegistration(by), by);
    return idOf(await get(await github.confirmManifest(action, manifest), by, cookie));
  };
  const connectionOf = async (by: User, id: string): Promise<IntegrationConnection> =>
    (await app.http<IntegrationConnection>(by, 'GET', path(`/connections/${id}`, by))).body;
  const begin = async (by: User, id: string, installed = false): Promise<Begun> => {
    const answer = await app.http<{ url: string }>(by, 'POST', path(`/connections/${id}/installation`, by), {
      installed,
    });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return { url: answer.body.url, cookie: cookieOf(answer.headers) };
  };
  const install = async (
    by: User,
    id: string,
    on = account(),
    repositories = [`${on.login}/shop`, `${on.login}/docs`],
  ) => {
    github.roles.set(`octocat ${on.login}`, 'admin');
    const { url, cookie } = await begin(by, id);
    const { installation, back } = github.install(url, OCTOCAT, on, repositories);
    return { installation, on, answer: await get(back, by, cookie) };
  };
  const tokens = async (): Promise<string> => {
    const { rows } = await app.owner.query<{ all: string }>(
      `SELECT string_agg(a::text, '') || (SELECT string_agg(c::text, '') FROM app.integration_connection c) || (SELECT string_agg(r::text, '') FROM app.integration_app_request r) AS all
       FROM app.audit_entry a`,
    );
    return rows[0]?.all ?? '';
  };

  it('are registered from a manifest that leads deliveries and browsers to the connection, and sealed', async () => {
    const { action, manifest, cookie, policy } = await form(await beginRegistration(olga, 'Slipway of Olga'), olga);
    expect(action).toMatch(`${github.url}/organizations/acme/settings/apps/new?state=`);
    // The form leads to the provider and nowhere else.
    expect(policy).toContain(`form-action ${github.url};`);
    const id = idOf(await get(await github.confirmManifest(action, manifest), olga, cookie));
    expect(JSON.parse(manifest)).toMatchObject({
      hook_attributes: { url: `${app.url}/api/integration/github/events/${id}` },
      callback_urls: [
        `${app.url}/oauth/integrations/apps/${id}/installed`,
        `${app.url}/oauth/integrations/callback/${id}`,
      ],
    });
    const made = [...github.apps.values()].at(-1);
    const connection = await connectionOf(olga, id);
    expect(connection).toMatchObject({
      ...{
        id,
        kind: 'app',
        name: 'Slipway of Olga',
        state: 'unverified',
        account: null,
        tokenSetAt: null,
        oauthClientSetAt: expect.any(String),
      },
      own: { ids: [String(made?.id)], mention: 'slipway-of-olga' },
      app: {
        id: String(made?.id),
        slug: 'slipway-of-olga',
        state: 'registered',
        account: null,
        missingPermissions: [],
      },
    });
    const { rows } = await app.owner.query(
      'SELECT kind, sealed FROM app.integration_secret WHERE connection_id = $1 ORDER BY kind',
      [id],
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['app', 'oauth-client', 'webhook']);
    const shown = JSON.stringify([connection, await tokens(), rows.map(({ sealed }) => sealed.toString('latin1'))]);
    for (const secret of [made?.clientSecret, made?.webhookSecret, 'PRIVATE KEY']) expect(shown).not.toContain(secret);
    expect(await github.deliver(made?.id ?? 0, 'ping', { zen: 'z' })).toBe(200);
  });

  it('adversary: a registration is finished by the browser and session that began it, once', async () => {
    const url = await beginRegistration(olga);
    for (const other of [rival, null]) expect((await get(url, other)).status).toBe(other === null ? 401 : 400);
    const shown = await form(url, olga);
    const back = await github.confirmManifest(shown.action, shown.manifest);
    for (const [who, cookie] of [
      [rival, shown.cookie],
      [olga, ''],
      [olga, shown.cookie.replace(/=.*/, '=forged')],
    ] as const) {
      const again = await form(await beginRegistration(olga), olga);
      const theirs = await github.confirmManifest(again.action, again.manifest);
      expect(await problem(await get(theirs, who, cookie === shown.cookie ? again.cookie : cookie))).toEqual([
        400,
        'integration.app-refused',
      ]);
    }
    // At the address of another connection.
    const elsewhere = new URL(back);
    elsewhere.pathname = elsewhere.pathname.replace(/apps\/[^/]+/, 'apps/11111111-1111-4111-8111-111111111111');
    expect(await problem(await get(elsewhere, olga, shown.cookie))).toEqual([400, 'integration.app-refused']);
    expect(await problem(await get(back, olga, shown.cookie))).toEqual([400, 'integration.app-refused']);
  });

  it('are installed by a user whose own token shows it and who administers the account', async () => {
    const id = await register(olga);
    const { installation, on, answer } = await install(olga, id);
    expect(idOf(answer)).toBe(id);
    expect(await connectionOf(olga, id)).toMatchObject({
      ...{ account: String(installation.id), state: 'unverified' },
      own: { ids: expect.arrayContaining([String(installation.appId), '90000']) },
      app: {
        state: 'installed',
        account: { login: on.login, kind: 'organization' },
        selection: 'selected',
        repositories: 2,
        missingPermissions: [],
      },
    });
    // The user's token is ended, and was used for nothing else.
    expect(github.revoked.length).toBeGreaterThan(0);
    const { rows } = await app.owner.query(`SELECT action FROM app.audit_entry WHERE target = $1 ORDER BY created_at`, [
      id,
    ]);
    expect(rows.map(({ action }) => action)).toEqual(['integration.register-app', 'integration.install-app']);
  });

  it('adversary: an installation id that the browser made up, or of another user, cannot be bound', async () => {
    const id = await register(olga);
    const theirs = account();
    // It is there, of this very app, and MALLORY knows its number.
    github.roles.set(`octocat ${theirs.login}`, 'admin');
    const { installation } = github.install((await begin(olga, id)).url, OCTOCAT, theirs, []);
    for (const claimed of [String(installation.id), '999999', '1 OR 1=1', '-1']) {
      const { url, cookie } = await begin(olga, id);
      const back = github.backFrom(url, MALLORY, { installation_id: claimed, setup_action: 'install' });
      const [status, code] = (await problem(await get(back, olga, cookie))) as [number, string];
      expect([claimed, status, code]).toEqual([
        claimed,
        ...(/^\d+$/.test(claimed) ? [409, 'integration.not-installed'] : [400, 'integration.app-refused']),
      ]);
    }
    // Their token shows it, as a member; they do not administer it.
    github.roles.set(`mallory ${theirs.login}`, 'member');
    const { url, cookie } = await begin(olga, id);
    const back = github.backFrom(url, MALLORY, { installation_id: String(installation.id), setup_action: 'install' });
    expect(await problem(await get(back, olga, cookie))).toEqual([403, 'integration.not-administered']);
    expect((await connectionOf(olga, id)).app).toMatchObject({ state: 'registered', account: null });
  });

  it('adversary: an installation is finished by the browser and session that began it, at the address of its connection', async () => {
    const [id, other] = [await register(olga), await register(olga)];
    const on = account();
    github.roles.set(`octocat ${on.login}`, 'admin');
    const attempt = async (change: (back: URL) => void, by: User | null, cookie?: string): Promise<unknown> => {
      const begun = await begin(olga, id);
      const { back } = github.install(begun.url, OCTOCAT, on, []);
      change(back);
      return problem(await get(back, by, cookie ?? begun.cookie));
    };
    const refused = [400, 'integration.app-refused'];
    expect(await attempt(() => {}, rival)).toEqual(refused);
    expect(await attempt(() => {}, olga, '')).toEqual(refused);
    expect(await attempt(() => {}, null)).toEqual([401, 'auth.missing']);
    expect(await attempt((back) => back.searchParams.set('state', 'made-up'), olga)).toEqual(refused);
    expect(await attempt((back) => back.searchParams.delete('code'), olga)).toEqual(refused);
    expect(
      await attempt((back) => {
        back.pathname = back.pathname.replace(id, other);
      }, olga),
    ).toEqual(refused);
    expect((await connectionOf(olga, id)).app?.state).toBe('registered');
  });

  it('an account belongs to one organization, until its connection is deleted', async () => {
    const [mine, theirs] = [await register(olga), await register(rival)];
    const on = account();
    expect(idOf((await install(olga, mine, on)).answer)).toBe(mine);
    expect(await problem((await install(rival, theirs, on)).answer)).toEqual([409, 'integration.account-claimed']);
    const { rows } = await app.owner.query(
      `SELECT 1 FROM app.integration_secret WHERE connection_id = $1 AND kind = 'app-installation'`,
      [theirs],
    );
    expect([rows.length, (await connectionOf(rival, theirs)).app?.state]).toEqual([0, 'registered']);
    expect((await app.http(olga, 'DELETE', path(`/connections/${mine}`, olga))).status).toBe(204);
    expect(idOf((await install(rival, theirs, on)).answer)).toBe(theirs);
  });

  it('give their account up to another organization, with an audit entry in both', async () => {
    const [mine, theirs] = [await register(olga), await register(rival)];
    const on = account();
    expect(idOf((await install(olga, mine, on)).answer)).toBe(mine);
    expect(await problem((await install(rival, theirs, on)).answer)).toEqual([409, 'integration.account-claimed']);
    const released = await app.http<IntegrationConnection>(
      olga,
      'DELETE',
      path(`/connections/${mine}/installation`, olga),
    );
    expect(released).toMatchObject({
      status: 200,
      body: { account: null, state: 'needs-attention', credential: null, app: { state: 'approved' } },
    });
    expect((await app.http(olga, 'DELETE', path(`/connections/${mine}/installation`, olga))).status).toBe(200);
    expect(idOf((await install(rival, theirs, on)).answer)).toBe(theirs);
    // Who gave it up cannot take it back.
    const again = await begin(olga, mine, true);
    expect(await problem(await get(github.consent(again.url, OCTOCAT), olga, again.cookie))).toEqual([
      409,
      'integration.account-claimed',
    ]);
    const { rows } = await app.owner.query(
      `SELECT org_id, action FROM app.audit_entry WHERE target = ANY ($1) AND detail ->> 'account' = $2 ORDER BY created_at`,
      [[mine, theirs], on.login],
    );
    expect(rows).toEqual([
      { org_id: olga.orgId, action: 'integration.install-app' },
      { org_id: olga.orgId, action: 'integration.release-account' },
      { org_id: rival.orgId, action: 'integration.install-app' },
    ]);
  });

  it('have private key and client secret replaced once GitHub takes the new ones; those before hold until then', async () => {
    const id = await register(olga);
    const { installation } = await install(olga, id);
    const at = github.apps.get(installation.appId);
    if (at === undefined) throw new Error('no app');
    const replace = (body: object) =>
      app.http<{ code: string }>(olga, 'PUT', path(`/connections/${id}/app-secrets`, olga), body);
    const refresh = async (): Promise<number> =>
      (await app.http(olga, 'POST', path(`/connections/${id}/installation/refresh`, olga))).status;
    const [key, clientSecret] = [newKey(), 'a-new-secret-of-the-client'];
    for (const body of [
      {},
      { privateKey: 'none' },
      { clientSecret: '' },
      { privateKey: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' },
    ])
      expect([400, 422, 502]).toContain((await replace(body)).status);
    for (const body of [{ privateKey: key }, { clientSecret }])
      expect((await replace(body)).body.code).toBe('integration.provider-refused');
    expect(await refresh()).toBe(200);
    at.pems.push(key);
    at.clientSecret = clientSecret;
    expect((await replace({ privateKey: key.replaceAll('\n', '\r\n'), clientSecret })).status).toBe(200);
    at.pems.shift();
    expect(await refresh()).toBe(200);
    const proof = await begin(olga, id, true);
    expect(idOf(await get(github.consent(proof.url, OCTOCAT), olga, proof.cookie))).toBe(id);
    const shown = JSON.stringify([await connectionOf(olga, id), await tokens()]);
    for (const secret of [clientSecret, 'PRIVATE KEY']) expect(shown).not.toContain(secret);
    const { rows } = await app.owner.query(
      `SELECT detail -> 'secrets' AS secrets FROM app.audit_entry WHERE target = $1 AND action = $2`,
      [id, 'integration.replace-app-secrets'],
    );
    expect(rows).toEqual([{ secrets: ['privateKey', 'clientSecret'] }]);
  });

  it('adversary: of two organizations that claim an account at the same moment one has it', async () => {
    const on = account();
    github.roles.set(`octocat ${on.login}`, 'admin');
    const ready = await Promise.all(
      [olga, rival].map(async (by) => {
        const id = await register(by);
        const { url, cookie } = await begin(by, id);
        return { by, cookie, back: github.install(url, OCTOCAT, on, []).back };
      }),
    );
    const answers = await Promise.all(ready.map(({ by, back, cookie }) => get(back, by, cookie)));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 409]);
  });

  it('wait for the approval of an owner, who confirms by signing in at the provider', async () => {
    const id = await register(olga);
    const { url, cookie } = await begin(olga, id);
    expect(idOf(await get(github.backFrom(url, MALLORY, { setup_action: 'request' }), olga, cookie))).toBe(id);
    expect((await connectionOf(olga, id)).app?.state).toBe('requested');
    const on = account();
    github.roles.set(`octocat ${on.login}`, 'admin');
    github.install(url, OCTOCAT, on, [`${on.login}/shop`]);
    const proof = await begin(olga, id, true);
    expect(proof.url).toMatch(`${github.url}/login/oauth/authorize?`);
    expect(idOf(await get(github.consent(proof.url, OCTOCAT), olga, proof.cookie))).toBe(id);
    expect((await connectionOf(olga, id)).app).toMatchObject({
      state: 'installed',
      account: { login: on.login },
      repositories: 1,
    });
  });

  it('show which permissions are missing and how many repositories there are, from a new request', async () => {
    const id = await register(olga);
    const { installation, on } = await install(olga, id);
    installation.permissions = { ...installation.permissions, contents: 'read' };
    installation.repositories.push(`${on.login}/third`);
    const refreshed = await app.http<IntegrationConnection>(
      olga,
      'POST',
      path(`/connections/${id}/installation/refresh`, olga),
    );
    expect(refreshed).toMatchObject({
      status: 200,
      body: { app: { missingPermissions: ['contents: write'], repositories: 3 } },
    });
    installation.suspended = true;
    await app.http(olga, 'POST', path(`/connections/${id}/installation/refresh`, olga));
    expect(await connectionOf(olga, id)).toMatchObject({ state: 'needs-attention', app: { state: 'suspended' } });
    installation.suspended = false;
    await app.http(olga, 'POST', path(`/connections/${id}/installation/refresh`, olga));
    expect(await connectionOf(olga, id)).toMatchObject({
      state: 'unverified',
      stateReason: null,
      app: { state: 'installed' },
    });
    github.installations.delete(installation.id);
    const gone = await app.http(olga, 'POST', path(`/connections/${id}/installation/refresh`, olga));
    expect(gone).toMatchObject({ status: 409, body: { code: 'integration.not-installed' } });
    expect(await connectionOf(olga, id)).toMatchObject({
      state: 'needs-attention',
      account: null,
      app: { state: 'removed', repositories: null },
    });
  });

  it('leave a registration whose provider is away to be begun again', async () => {
    const shown = await form(await beginRegistration(olga), olga);
    const back = await github.confirmManifest(shown.action, shown.manifest);
    github.broken.set(
      `/app-manifests/${back.searchParams.get('code')}/conversions`,
      (response) => void response.writeHead(503).end(),
    );
    expect(await problem(await get(back, olga, shown.cookie))).toEqual([503, 'integration.provider-away']);
  });

  it('are for admins with a session, where the provider has apps and the address is outside', async () => {
    const providers = (await app.http<IntegrationProviderList>(olga, 'GET', path('/providers', olga))).body.data;
    expect(providers.filter(({ apps }) => apps.length > 0).map(({ id, apps }) => [id, apps])).toEqual([
      ['github', ['own']],
    ]);
    const body = { provider: 'github', name: 'x' };
    expect(
      (await app.http<{ code: string }>(olga, 'POST', path('/apps', olga), { ...body, provider: 'gitlab' })).body.code,
    ).toBe('integration.apps-unsupported');
    expect(
      (await app.http<{ code: string }>(olga, 'POST', path('/apps', olga), { ...body, host: '10.0.0.1' })).body.code,
    ).toBe('settings.url-refused');
    expect((await app.http<{ code: string }>(olga, 'POST', path('/installations', olga), body)).body.code).toBe(
      'integration.apps-unsupported',
    );
    expect((await app.http<{ code: string }>(rival, 'POST', path('/apps', olga), body)).status).toBe(404);
  });
});
