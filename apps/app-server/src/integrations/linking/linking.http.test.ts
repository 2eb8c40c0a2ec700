import { describe, expect, it, jest } from '@jest/globals';
import { APP } from './scripted-oauth.js';
import {
  actor,
  app,
  audit,
  begin,
  CALLBACK,
  callbacks,
  codeOf,
  comeBack,
  confirm,
  confirmOf,
  connect,
  connectionId,
  consent,
  enterClient,
  join,
  linked,
  list,
  MINE,
  mia,
  olga,
  path,
  provider,
  setUpLinking,
} from './test-linking.js';

jest.setTimeout(120_000);

describe('linking of accounts', () => {
  setUpLinking();

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
