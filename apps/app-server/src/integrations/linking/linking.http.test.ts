import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { LinkBegun, LinkedAccount, LinkedAccountList, OAuthClient } from '@slipway/contracts/identity';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { FEATURES } from '../../app.module.js';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { APP, ScriptedOAuth } from './scripted-oauth.js';

const CALLBACK = '/oauth/integrations/callback';
const MINE = '/api/v1/me/linked-accounts';

jest.setTimeout(120_000);

describe('linking of accounts', () => {
  let app: ConversationApp;
  let provider: ScriptedOAuth;
  let olga: User;
  let mia: User;
  let connectionId: string;
  beforeAll(async () => {
    provider = await ScriptedOAuth.start();
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: provider.host } });
    [olga, mia] = [await app.user('Olga'), await app.user('Mia')];
    await join(mia);
    connectionId = await connect('gitea');
    await enterClient(connectionId);
  });
  afterAll(async () => {
    await app?.close();
    provider?.close();
  });
  afterEach(() => provider.broken.clear());

  const join = (user: User, orgId = olga.orgId): Promise<unknown> =>
    app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      orgId,
      user.userId,
    ]);
  const path = (rest: string, by = olga): string => `/api/v1/orgs/${by.orgId}/integrations/connections${rest}`;
  const connect = async (id: string, by = olga): Promise<string> => {
    const body = {
      provider: id,
      name: `A ${id}`,
      host: provider.host,
      settings: { baseUrl: `http://${provider.host}` },
    };
    const made = await app.http<ConnectionWithSecret>(by, 'POST', path('', by), body);
    expect([made.status, made.body]).toEqual([201, expect.anything()]);
    return made.body.connection.id;
  };
  const enterClient = async (id: string, by = olga): Promise<OAuthClient> => {
    const answer = await app.http<OAuthClient>(by, 'PUT', path(`/${id}/oauth-client`, by), APP);
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    return answer.body;
  };
  interface Begun extends LinkBegun {
    readonly cookie: string;
  }
  /** Where a browser is sent back to, by state. */
  const callbacks = new Map<string, string>();
  const begin = async (user: User, id = connectionId, org = olga.orgId): Promise<Begun> => {
    const answer = await app.http<LinkBegun>(user, 'POST', MINE, { org, connectionId: id });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    const asked = new URL(answer.body.authorizeUrl).searchParams;
    callbacks.set(asked.get('state') ?? '', asked.get('redirect_uri') ?? '');
    return { ...answer.body, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  };
  interface Back {
    readonly state?: string;
    readonly code?: string;
    readonly error?: string;
  }
  const comeBack = (user: User | null, back: Back, cookie: string, accept = 'application/json'): Promise<Response> =>
    fetch(
      `${callbacks.get(back.state ?? '') ?? `${app.url}${CALLBACK}/${connectionId}`}?${new URLSearchParams(back as Record<string, string>)}`,
      {
        redirect: 'manual',
        headers: { accept, cookie: [user?.cookie, cookie].filter(Boolean).join('; ') },
      },
    );
  const codeOf = async (response: Response): Promise<unknown> => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ];
  const confirmOf = (response: Response): string => {
    expect(response.status).toBe(302);
    return new URL(response.headers.get('location') ?? '').searchParams.get('confirm') ?? '';
  };
  const consent = async (user: User, account: object, id = connectionId): Promise<string> => {
    const begun = await begin(user, id);
    return confirmOf(await comeBack(user, provider.consent(begun.authorizeUrl, account), begun.cookie));
  };
  const confirm = (user: User, id: string): Promise<Answer<LinkedAccount & { code?: string }>> =>
    app.http(user, 'POST', `${MINE}/${id}/confirm`);
  const list = async (user: User): Promise<LinkedAccountList> =>
    (await app.http<LinkedAccountList>(user, 'GET', MINE)).body;
  const linked = async (user: User): Promise<string[]> =>
    (await list(user)).data.filter(({ state }) => state === 'linked').map(({ login }) => login);
  const audit = async (target: string): Promise<unknown[]> =>
    (
      await app.owner.query(
        'SELECT action, actor_id, detail FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
        [target],
      )
    ).rows;
  const actor = async (orgId: string, externalId: string): Promise<string | undefined> =>
    (
      await app.owner.query<{ user_id: string }>('SELECT user_id FROM app.integration_actor($1, $2, $3, $4)', [
        orgId,
        'gitea',
        provider.host,
        externalId,
      ])
    ).rows[0]?.user_id;

  it('is begun, comes back, is shown, and counts once the user has confirmed it', async () => {
    const begun = await begin(mia);
    expect(begun.authorizeUrl).toMatch(`http://${provider.host}/login/oauth/authorize?client_id=${APP.clientId}`);
    const back = await comeBack(
      mia,
      provider.consent(begun.authorizeUrl, { id: 7, login: 'octo' }),
      begun.cookie,
      'text/html',
    );
    expect(back.headers.get('location')).toMatch(`${app.url}/settings/linked-accounts?confirm=`);
    const id = confirmOf(back);
    expect((await list(mia)).data).toMatchObject([
      { id, state: 'pending', login: 'octo', externalUserId: '7', providerName: 'Gitea', linkedAt: null },
    ]);
    expect([(await list(olga)).data, await actor(olga.orgId, '7')]).toEqual([[], undefined]);
    expect(await confirm(mia, id)).toMatchObject({
      status: 200,
      body: { id, state: 'linked', login: 'octo', expiresAt: null },
    });
    expect(await confirm(mia, id)).toMatchObject({ status: 200, body: { id, state: 'linked' } });
    expect(await actor(olga.orgId, '7')).toBe(mia.userId);
    expect(await audit(id)).toEqual([
      {
        action: 'linked-account.create',
        actor_id: mia.userId,
        detail: { provider: 'gitea', host: provider.host, login: 'octo', externalUserId: '7' },
      },
    ]);
    expect((await app.http(mia, 'DELETE', `${MINE}/${id}`)).status).toBe(204);
    expect([
      await linked(mia),
      await actor(olga.orgId, '7'),
      (await app.http(mia, 'DELETE', `${MINE}/${id}`)).status,
    ]).toEqual([[], undefined, 404]);
    expect(await audit(id)).toMatchObject([{}, { action: 'linked-account.delete', actor_id: mia.userId }]);
  });

  it('adversary: a provider whose pages send the browser on to another one never gets the code that it gave', async () => {
    const hostile = await connect('github');
    await enterClient(hostile);
    const begun = await begin(mia, hostile);
    const state = new URL(begun.authorizeUrl).searchParams.get('state') ?? '';
    // Consented at the honest connection, with the state of the hostile one: sent back to the address of the honest
    // one, as its client is registered.
    const honest = provider.consent((await begin(mia)).authorizeUrl, { id: 7, login: 'octo' });
    callbacks.set(state, `${app.url}${CALLBACK}/${connectionId}`);
    const redeemed = provider.revoked.length;
    expect(await codeOf(await comeBack(mia, { ...honest, state }, begun.cookie))).toEqual([
      400,
      'linked-account.refused',
    ]);
    expect(provider.revoked.length).toBe(redeemed);
  });

  it('works at GitHub Enterprise and GitLab by their own paths, and ends the token there', async () => {
    for (const [name, account, login] of [
      ['github', { id: 11, login: 'hub' }, 'hub'],
      ['gitlab', { id: 12, username: 'lab' }, 'lab'],
    ] as const) {
      const id = await connect(name);
      await enterClient(id);
      const revoked = provider.revoked.length;
      const link = await consent(mia, account, id);
      expect(provider.revoked.length - revoked).toBe(1);
      expect(await confirm(mia, link)).toMatchObject({ status: 200, body: { provider: name, login } });
      await app.http(mia, 'DELETE', `${MINE}/${link}`);
    }
  });

  it('shows client id and callback address to admins, the secret never', async () => {
    const client = await enterClient(connectionId);
    expect(client).toEqual({
      ...{ clientId: APP.clientId, callbackUrl: `${app.url}${CALLBACK}/${connectionId}`, setAt: expect.any(String) },
      ...{
        scopes: ['read:user'],
        connectionScopes: ['write:repository', 'write:issue', 'read:user', 'read:organization'],
      },
    });
    const got = await app.http(olga, 'GET', path(`/${connectionId}/oauth-client`));
    const connection = await app.http(olga, 'GET', path(`/${connectionId}`));
    expect([got.body, connection.body]).toEqual([client, expect.objectContaining({ oauthClientSetAt: client.setAt })]);
    const { rows } = await app.owner.query(
      `SELECT sealed FROM app.integration_secret WHERE connection_id = $1 AND kind = 'oauth-client'`,
      [connectionId],
    );
    expect(rows).toHaveLength(1);
    const all = [got.body, connection.body, await audit(connectionId), rows[0].sealed.toString('latin1')];
    expect(JSON.stringify(all)).not.toContain(APP.clientSecret);
    expect((await app.http(mia, 'PUT', path(`/${connectionId}/oauth-client`), APP)).status).toBe(403);
  });

  it('keeps neither token nor code, state, nonce or verifier in any table', async () => {
    const begun = await begin(mia);
    const back = provider.consent(begun.authorizeUrl, { id: 7, login: 'octo' });
    const id = confirmOf(await comeBack(mia, back, begun.cookie));
    const { rows: tables } = await app.owner.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'app'`,
    );
    const stored: string[] = [];
    for (const { name } of tables) {
      const { rows } = await app.owner.query<{ row: string }>(`SELECT t::text AS row FROM app."${name}" t`);
      stored.push(...rows.map(({ row }) => row));
    }
    expect(stored.some((row) => row.includes(id))).toBe(true);
    const secrets = [
      provider.issued.at(-1),
      back.code,
      back.state,
      begun.cookie.split('=')[1],
      provider.verifiers.at(-1),
    ] as string[];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(30);
      const forms = [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret, 'base64url').toString('hex')];
      expect(stored.filter((row) => forms.some((form) => row.includes(form)))).toEqual([]);
    }
    await app.http(mia, 'DELETE', `${MINE}/${id}`);
  });

  it('cannot begin without a client or in an organization of others', async () => {
    const bare = await connect('gitea');
    const none = await app.http(mia, 'POST', MINE, { org: olga.orgId, connectionId: bare });
    expect(none).toMatchObject({ status: 409, body: { code: 'integration.no-oauth-client' } });
    const stranger = await app.user('Stranger');
    for (const [org, id] of [
      [olga.orgId, connectionId],
      [stranger.orgId, connectionId],
    ])
      expect((await app.http(stranger, 'POST', MINE, { org, connectionId: id })).status).toBe(404);
    expect(
      (await list(mia)).linkable.filter(({ provider: id }) => id === 'gitea').map((each) => each.connectionId),
    ).toEqual([connectionId]);
    expect((await list(stranger)).linkable).toEqual([]);
    expect((await app.http(olga, 'DELETE', path(`/${bare}/oauth-client`))).status).toBe(204);
  });

  describe('adversary', () => {
    const refused = [400, 'linked-account.refused'];

    it('who begins a link and has a victim finish it links nothing to the victim', async () => {
      const begun = await begin(olga);
      const back = provider.consent(begun.authorizeUrl, { id: 66, login: 'mallory' });
      expect(await codeOf(await comeBack(mia, back, ''))).toEqual(refused);
      const again = await begin(olga);
      // Even where the attacker could plant the cookie as well.
      expect(
        await codeOf(
          await comeBack(mia, provider.consent(again.authorizeUrl, { id: 66, login: 'mallory' }), again.cookie),
        ),
      ).toEqual(refused);
      expect([(await list(mia)).data, (await list(olga)).data]).toEqual([[], []]);
    });

    it('who takes over what a victim has begun links nothing to themselves', async () => {
      const begun = await begin(mia);
      const back = provider.consent(begun.authorizeUrl, { id: 7, login: 'victim' });
      expect(await codeOf(await comeBack(olga, back, begun.cookie))).toEqual(refused);
      expect(await codeOf(await comeBack(null, back, begun.cookie))).toEqual([401, 'auth.missing']);
      // The state is used up by the attempt.
      expect(await codeOf(await comeBack(mia, back, begun.cookie))).toEqual(refused);
    });

    it('who knows the state and has the session cookie’s user in another browser is refused without this browser’s cookie', async () => {
      const begun = await begin(mia);
      const other = await begin(mia);
      const wrong = other.cookie.replace(/^[^=]*/, begun.cookie.split('=')[0] ?? '');
      expect(
        await codeOf(await comeBack(mia, provider.consent(begun.authorizeUrl, { id: 7, login: 'x' }), wrong)),
      ).toEqual(refused);
      expect(
        await codeOf(await comeBack(mia, provider.consent(other.authorizeUrl, { id: 7, login: 'x' }), '')),
      ).toEqual(refused);
    });

    it('who replays or forges a state, or brings one that is over, is refused before the provider is asked', async () => {
      const begun = await begin(mia);
      const back = provider.consent(begun.authorizeUrl, { id: 7, login: 'octo' });
      confirmOf(await comeBack(mia, back, begun.cookie));
      const asked = provider.requests.length;
      for (const state of [back.state, 'forged', '', 'x'.repeat(5_000)])
        expect(await codeOf(await comeBack(mia, { ...back, state }, begun.cookie))).toEqual(refused);
      const late = await begin(mia);
      await app.owner.query(
        `UPDATE app.link_request SET expires_at = now() - interval '1 second' WHERE taken_at IS NULL`,
      );
      expect(
        await codeOf(await comeBack(mia, provider.consent(late.authorizeUrl, { id: 7, login: 'octo' }), late.cookie)),
      ).toEqual(refused);
      expect(provider.requests.length).toBe(asked);
    });

    it('who has another session of the same user neither sees nor confirms what waits in this one', async () => {
      const id = await consent(mia, { id: 7, login: 'octo' });
      expect((await confirm(olga, id)).status).toBe(404);
      await app.owner.query('UPDATE app.link_request SET session_id = $2 WHERE id = $1', [id, 'ses_another']);
      expect((await list(mia)).data.map((each) => each.id)).not.toContain(id);
      expect((await confirm(mia, id)).status).toBe(404);
    });

    it('who lets a confirmation lie finds it gone after ten minutes', async () => {
      const id = await consent(mia, { id: 7, login: 'octo' });
      await app.owner.query(`UPDATE app.link_request SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
      expect((await confirm(mia, id)).status).toBe(404);
    });

    it('whose account another user has linked gets a conflict, at the same moment too, and the login alone is not asked', async () => {
      const first = await consent(mia, { id: 70, login: 'octo' });
      const second = await consent(olga, { id: 70, login: 'octo-renamed' });
      const answers = await Promise.all([confirm(mia, first), confirm(olga, second)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.code).toBe('linked-account.taken');
      const [winner, loser] = answers[0]?.status === 200 ? [mia, olga] : [olga, mia];
      expect(await actor(olga.orgId, '70')).toBe(winner.userId);
      const same = await consent(loser, { id: 71, login: 'octo' });
      expect((await confirm(loser, same)).status).toBe(200);
      const another = await consent(winner, { id: 72, login: 'second' });
      expect(await confirm(winner, another)).toMatchObject({ status: 409, body: { code: 'linked-account.exists' } });
      for (const user of [mia, olga])
        for (const { id } of (await list(user)).data)
          expect((await app.http(user, 'DELETE', `${MINE}/${id}`)).status).toBe(204);
    });

    it('who is admin elsewhere and runs a host of the same name has no rights here', async () => {
      const eve = await app.user('Eve');
      const theirs = await connect('gitea', eve);
      await enterClient(theirs, eve);
      const begun = await begin(eve, theirs, eve.orgId);
      const id = confirmOf(
        await comeBack(eve, provider.consent(begun.authorizeUrl, { id: 7, login: 'victim' }), begun.cookie),
      );
      expect((await confirm(eve, id)).status).toBe(200);
      await join(eve);
      expect([await actor(eve.orgId, '7'), await actor(olga.orgId, '7')]).toEqual([eve.userId, undefined]);
      expect((await confirm(mia, await consent(mia, { id: 7, login: 'victim' }))).status).toBe(200);
      expect(await actor(olga.orgId, '7')).toBe(mia.userId);
      for (const link of (await list(mia)).data) await app.http(mia, 'DELETE', `${MINE}/${link.id}`);
    });

    it('who confirms by a link in a mail of another site is refused', async () => {
      const id = await consent(mia, { id: 7, login: 'octo' });
      const answer = await app.http(mia, 'POST', `${MINE}/${id}/confirm`, undefined, {
        origin: 'https://evil.example',
      });
      expect(answer).toMatchObject({ status: 403, body: { code: 'request.cross-site' } });
      expect(await linked(mia)).toEqual([]);
    });
  });

  it('gives an account free whose user has left the organization', async () => {
    const lea = await app.user('Lea');
    await join(lea);
    const old = await consent(lea, { id: 80, login: 'shared' });
    expect((await confirm(lea, old)).status).toBe(200);
    const fresh = await consent(mia, { id: 80, login: 'shared' });
    expect((await confirm(mia, fresh)).status).toBe(409);
    await app.owner.query('DELETE FROM app.membership WHERE org_id = $1 AND user_id = $2', [olga.orgId, lea.userId]);
    expect((await confirm(mia, fresh)).status).toBe(200);
    expect(await actor(olga.orgId, '80')).toBe(mia.userId);
    expect(await audit(old)).toMatchObject([
      {},
      { action: 'linked-account.delete', actor_id: mia.userId, detail: { userId: lea.userId } },
    ]);
    await app.http(mia, 'DELETE', `${MINE}/${fresh}`);
  });

  it('says what went wrong at the provider, and links nothing', async () => {
    const never = (): void => {};
    const cases: ReadonlyArray<readonly [string, string, Parameters<typeof provider.broken.set>[1], unknown]> = [
      [
        'the code is refused',
        '/login/oauth/access_token',
        (_, to) => to.end('{"error":"bad_verification_code"}'),
        [502, 'integration.provider-refused'],
      ],
      [
        'the client is refused',
        '/login/oauth/access_token',
        (_, to) => to.writeHead(401).end('{}'),
        [502, 'integration.provider-refused'],
      ],
      ['html', '/login/oauth/access_token', (_, to) => to.end('<html>'), [502, 'integration.provider-refused']],
      [
        '30 MB',
        '/api/v1/user',
        (_, to) => to.end(Buffer.alloc(30_000_000, ' ')),
        [502, 'integration.provider-refused'],
      ],
      [
        'an account without an id',
        '/api/v1/user',
        (_, to) => to.end('{"login":"octo"}'),
        [502, 'integration.provider-refused'],
      ],
      [
        'a redirect inside',
        '/api/v1/user',
        (_, to) => to.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
        [502, 'integration.provider-refused'],
      ],
      [
        'limited',
        '/api/v1/user',
        (_, to) => to.writeHead(429, { 'retry-after': '7' }).end(),
        [503, 'integration.provider-away'],
      ],
      ['broken', '/login/oauth/access_token', (_, to) => to.writeHead(500).end(), [503, 'integration.provider-away']],
      [
        'hangs up',
        '/login/oauth/access_token',
        (request) => request.socket.destroy(),
        [503, 'integration.provider-away'],
      ],
      ['too slow', '/api/v1/user', never, [503, 'integration.provider-away']],
    ];
    for (const [name, at, answer, expected] of cases) {
      provider.broken.clear();
      const begun = await begin(mia);
      provider.broken.set(at, answer);
      expect([
        name,
        await codeOf(await comeBack(mia, provider.consent(begun.authorizeUrl, { id: 7, login: 'octo' }), begun.cookie)),
      ]).toEqual([name, expected]);
    }
    provider.broken.clear();
    const begun = await begin(mia);
    const { state } = provider.consent(begun.authorizeUrl, {});
    const declined = await comeBack(mia, { state, error: 'access_denied' }, begun.cookie, 'text/html,*/*');
    expect(declined.headers.get('location')).toBe(
      `${app.url}/settings/linked-accounts?problem=linked-account.declined`,
    );
    expect((await list(mia)).data).toEqual([]);
  });

  it('links nothing when the token cannot be ended, but says who it is all the same', async () => {
    const id = await connect('github');
    await enterClient(id);
    provider.broken.set(`/api/v3/applications/${APP.clientId}/token`, (_, to) => to.writeHead(500).end());
    const link = await consent(mia, { id: 11, login: 'hub' }, id);
    expect((await list(mia)).data.map(({ id: each, state }) => [each, state])).toEqual([[link, 'pending']]);
    expect((await app.http(mia, 'DELETE', `${MINE}/${link}`)).status).toBe(204);
    expect((await list(mia)).data).toEqual([]);
  });
});
