import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LinkBegun } from '@slipway/contracts/identity';
import type {
  ConnectionWithSecret,
  IntegrationConnection,
  PendingAuthorization,
} from '@slipway/contracts/integrations';
import { FEATURES } from '../../app.module.js';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { APP, ScriptedOAuth } from '../linking/scripted-oauth.js';

const BOT = { id: 12, username: 'slipway-bot' };

jest.setTimeout(120_000);

describe('connecting an organization by OAuth', () => {
  let app: ConversationApp;
  let provider: ScriptedOAuth;
  let olga: User;
  let mia: User;
  let slug: string;
  let connection: string;
  beforeAll(async () => {
    provider = await ScriptedOAuth.start();
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: provider.host } });
    [olga, mia] = [await app.user('Olga'), await app.user('Mia')];
    slug =
      (await app.owner.query<{ slug: string }>('SELECT slug FROM app.org WHERE id = $1', [olga.orgId])).rows[0]?.slug ??
      '';
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      olga.orgId,
      mia.userId,
    ]);
  });
  afterAll(async () => {
    await app?.close();
    provider?.close();
  });
  beforeEach(async () => {
    provider.grants = { scope: 'api', expires_in: 7_200 };
    connection = await connect();
  });
  afterEach(() => provider.broken.clear());

  const path = (rest: string): string => `/api/v1/orgs/${olga.orgId}/integrations/connections${rest}`;
  const connect = async (token?: string): Promise<string> => {
    const body = {
      provider: 'gitlab',
      name: 'GitLab',
      host: provider.host,
      settings: { baseUrl: `http://${provider.host}` },
      ...(token === undefined ? {} : { token }),
    };
    const made = await app.http<ConnectionWithSecret>(olga, 'POST', path(''), body);
    expect([made.status, made.body]).toEqual([201, expect.anything()]);
    const { id } = made.body.connection;
    expect((await app.http(olga, 'PUT', path(`/${id}/oauth-client`), APP)).status).toBe(200);
    return id;
  };
  const begin = async (id = connection, user = olga): Promise<{ url: URL; cookie: string }> => {
    const answer = await app.http<LinkBegun>(user, 'POST', path(`/${id}/authorizations`));
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return { url: new URL(answer.body.authorizeUrl), cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  };
  const comeBack = (
    user: User,
    { url, cookie }: { url: URL; cookie: string },
    back: Record<string, string>,
    accept = 'text/html',
  ): Promise<Response> =>
    fetch(`${url.searchParams.get('redirect_uri')}?${new URLSearchParams(back)}`, {
      redirect: 'manual',
      headers: { accept, cookie: [user.cookie, cookie].filter(Boolean).join('; ') },
    });
  const locationOf = (response: Response): URL => {
    expect(response.status).toBe(302);
    return new URL(response.headers.get('location') ?? '');
  };
  /** @returns the id that waits for confirmation. */
  const consent = async (id = connection, account: object = BOT): Promise<string> => {
    const begun = await begin(id);
    const page = locationOf(await comeBack(olga, begun, provider.consent(begun.url.href, account)));
    expect(page.pathname).toBe(`/${slug}/admin/integrations/${id}`);
    return page.searchParams.get('authorization') ?? page.href;
  };
  const pending = (id: string, user = olga): Promise<Answer<PendingAuthorization>> =>
    app.http(user, 'GET', path(`/${connection}/authorizations/${id}`));
  const confirm = (id: string, user = olga, of = connection): Promise<Answer<IntegrationConnection>> =>
    app.http(user, 'POST', path(`/${of}/authorizations/${id}/confirm`));
  const shown = async (id = connection): Promise<IntegrationConnection> =>
    (await app.http<IntegrationConnection>(olga, 'GET', path(`/${id}`))).body;
  const kindsOf = async (id = connection): Promise<string[]> =>
    (
      await app.owner.query<{ kind: string }>(
        'SELECT kind FROM app.integration_secret WHERE connection_id = $1 ORDER BY kind',
        [id],
      )
    ).rows.map(({ kind }) => kind);
  const revocations = async (id = connection): Promise<number> =>
    (
      await app.owner.query(
        `SELECT 1 FROM app.credential_revocation r JOIN app.outbox o ON o.key = r.id AND o.queue = 'credential-revocation' WHERE r.connection_id = $1`,
        [id],
      )
    ).rowCount ?? 0;

  it('is begun, comes back, is shown, and counts once an admin has confirmed who the connection acts as', async () => {
    const begun = await begin();
    expect(Object.fromEntries(begun.url.searchParams)).toMatchObject({
      client_id: APP.clientId,
      scope: 'api',
      response_type: 'code',
      code_challenge_method: 'S256',
    });
    const page = locationOf(await comeBack(olga, begun, provider.consent(begun.url.href, BOT)));
    const id = page.searchParams.get('authorization') ?? '';
    expect(await pending(id)).toMatchObject({
      status: 200,
      body: {
        id,
        name: 'slipway-bot',
        ids: ['12'],
        mention: 'slipway-bot',
        account: null,
        scopes: ['api'],
        missingScopes: [],
      },
    });
    expect(await shown()).toMatchObject({ credential: null, own: { ids: [], mention: 'slipway' }, authorizes: true });
    const confirmed = await confirm(id);
    expect(confirmed).toMatchObject({
      status: 200,
      body: {
        own: { ids: ['12'], mention: 'slipway-bot' },
        credential: { kind: 'oauth-tokens', renews: true, scopes: ['api'], missingScopes: [], problem: null },
      },
    });
    const endsInMs = Date.parse(confirmed.body.credential?.expiresAt ?? '') - Date.now();
    expect([endsInMs > 7_000_000, endsInMs <= 7_200_000, await kindsOf()]).toEqual([
      true,
      true,
      ['oauth-client', 'oauth-tokens', 'webhook'],
    ]);
    expect([(await confirm(id)).status, (await pending(id)).status]).toEqual([404, 404]);
    const { rows } = await app.owner.query(
      `SELECT actor_id, detail FROM app.audit_entry WHERE target = $1 AND action = 'integration.authorize'`,
      [connection],
    );
    expect(rows).toMatchObject([{ actor_id: olga.userId, detail: { as: 'slipway-bot', ids: ['12'] } }]);
  });

  it('takes the place of an access token, and names the scopes that were not granted', async () => {
    const id = await connect('glpat-entered-by-hand');
    provider.grants = { scope: 'read_user', expires_in: 7_200 };
    const { body } = await confirm(await consent(id), olga, id);
    expect([body.credential?.missingScopes, body.tokenSetAt, await kindsOf(id)]).toEqual([
      ['api'],
      null,
      ['oauth-client', 'oauth-tokens', 'webhook'],
    ]);
  });

  it('gives tokens back when they are replaced, disconnected or deleted with the connection, without waiting for the provider', async () => {
    await confirm(await consent());
    await confirm(await consent());
    expect([await kindsOf(), await revocations()]).toEqual([['oauth-client', 'oauth-tokens', 'webhook'], 1]);
    const calls = provider.requests.length;
    expect((await app.http(olga, 'DELETE', path(`/${connection}/credential`))).status).toBe(204);
    expect((await app.http(olga, 'DELETE', path(`/${connection}/credential`))).status).toBe(204);
    expect([(await shown()).credential, await revocations()]).toEqual([null, 2]);
    await confirm(await consent());
    expect((await app.http(olga, 'PATCH', path(`/${connection}`), { token: 'glpat-entered-by-hand' })).status).toBe(
      200,
    );
    expect([await kindsOf(), await revocations()]).toEqual([['oauth-client', 'token', 'webhook'], 3]);
    await confirm(await consent());
    const declined = await consent();
    expect((await app.http(olga, 'DELETE', path(`/${connection}/authorizations/${declined}`))).status).toBe(204);
    expect((await confirm(declined)).status).toBe(404);
    const waiting = await consent();
    expect((await app.http(olga, 'DELETE', path(`/${connection}`))).status).toBe(204);
    expect([await kindsOf(), await revocations(), (await confirm(waiting)).status]).toEqual([[], 6, 404]);
    expect(provider.requests.slice(calls).filter((each) => each.includes('revoke'))).toEqual([]);
  });

  it('adversary: what another session, browser or user began, a used state and the address of another connection give nothing', async () => {
    const other = await connect();
    const back = (begun: { url: URL }): { state: string; code: string } => provider.consent(begun.url.href, BOT);
    const problemOf = async (response: Response): Promise<string | null> =>
      locationOf(response).searchParams.get('problem');
    const refused = 'integration.authorization-refused';
    const begun = await begin();
    // A victim who opens what an attacker began; the attacker is of the organization or not.
    expect(await problemOf(await comeBack(mia, begun, back(begun)))).toBe(refused);
    const withoutCookie = { ...(await begin()), cookie: '' };
    expect(await problemOf(await comeBack(olga, withoutCookie, back(withoutCookie)))).toBe(refused);
    const used = await begin();
    expect((await comeBack(olga, used, back(used))).status).toBe(302);
    expect(await problemOf(await comeBack(olga, used, back(used)))).toBe(refused);
    const elsewhere = await begin();
    const consented = back(elsewhere);
    elsewhere.url.searchParams.set('redirect_uri', (await begin(other)).url.searchParams.get('redirect_uri') ?? '');
    expect(await problemOf(await comeBack(olga, elsewhere, consented))).toBe(refused);
    const declined = await begin();
    const state = declined.url.searchParams.get('state') ?? '';
    expect(await problemOf(await comeBack(olga, declined, { state, error: 'access_denied' }))).toBe(
      'integration.authorization-declined',
    );
    expect([(await shown(other)).credential, await kindsOf(other)]).toEqual([null, ['oauth-client', 'webhook']]);
  });

  it('adversary: an admin who is none any more, a member and the address of another connection confirm nothing', async () => {
    const second = await app.user('Sven');
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')`, [
      olga.orgId,
      second.userId,
    ]);
    const begun = await begin(connection, second);
    await app.owner.query(`UPDATE app.membership SET role = 'member' WHERE org_id = $1 AND user_id = $2`, [
      olga.orgId,
      second.userId,
    ]);
    // What is known of a session is believed for a second.
    const page = locationOf(await comeBack(second, begun, provider.consent(begun.url.href, BOT)));
    const id = page.searchParams.get('authorization');
    if (id !== null) expect((await confirm(id, olga)).status).toBe(404);
    else expect(page.searchParams.get('problem')).toBe('permission.denied');
    const mine = await consent();
    expect((await confirm(mine, mia)).status).toBe(403);
    expect((await confirm(mine, olga, await connect())).status).toBe(404);
    expect((await shown()).credential).toBe(null);
  });

  it('ends the tokens of a consent that the provider says nothing about', async () => {
    provider.broken.set('/api/v4/user', (_request, response) => void response.writeHead(500).end());
    const revoked = provider.revoked.length;
    const begun = await begin();
    const page = locationOf(await comeBack(olga, begun, provider.consent(begun.url.href, BOT)));
    expect([page.searchParams.get('problem'), provider.revoked.length - revoked, await kindsOf()]).toEqual([
      'integration.provider-away',
      2,
      ['oauth-client', 'webhook'],
    ]);
  });

  it('is refused for a provider or connection that takes tokens alone, and without a client', async () => {
    const made = await app.http<ConnectionWithSecret>(olga, 'POST', path(''), { provider: 'github', name: 'GitHub' });
    const github = made.body.connection.id;
    expect(await app.http(olga, 'POST', path(`/${github}/authorizations`))).toMatchObject({
      status: 409,
      body: { code: 'integration.authorization-unsupported' },
    });
    expect((await app.http(olga, 'DELETE', path(`/${connection}/oauth-client`))).status).toBe(204);
    expect(await app.http(olga, 'POST', path(`/${connection}/authorizations`))).toMatchObject({
      status: 409,
      body: { code: 'integration.no-oauth-client' },
    });
    expect((await app.http(mia, 'POST', path(`/${connection}/authorizations`))).status).toBe(403);
  });

  it('keeps no token, code, state, nonce or verifier in the clear in any table, and shows none', async () => {
    const begun = await begin();
    const back = provider.consent(begun.url.href, BOT);
    const first = provider.issued.length;
    const id = locationOf(await comeBack(olga, begun, back)).searchParams.get('authorization') ?? '';
    const secrets = [
      ...provider.issued.slice(first),
      back.code,
      back.state,
      begun.cookie.split('=')[1] ?? '',
      provider.verifiers.at(-1) ?? '',
      APP.clientSecret,
    ];
    expect(secrets).toHaveLength(7);
    const shownNow = [(await pending(id)).body, await shown()];
    const look = async (): Promise<string> => {
      const { rows: tables } = await app.owner.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'app'`,
      );
      const all: string[] = [];
      for (const { name } of tables)
        all.push(JSON.stringify((await app.owner.query(`SELECT t::text FROM app."${name}" t`)).rows));
      return all.join('\n');
    };
    const hex = (value: string): string => Buffer.from(value).toString('hex');
    const waiting = await look();
    shownNow.push((await confirm(id)).body);
    await app.http(olga, 'DELETE', path(`/${connection}/credential`));
    const all = `${waiting}\n${await look()}\n${JSON.stringify(shownNow)}`;
    for (const secret of secrets) expect([all.includes(secret), all.includes(hex(secret))]).toEqual([false, false]);
  });
});
