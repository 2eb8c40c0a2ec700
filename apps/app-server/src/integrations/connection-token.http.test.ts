import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConnectionWithSecret, IntegrationConnection } from '@slipway/contracts/integrations';
import { PROVIDERS } from '@slipway/integrations';
import { exampleProvider } from '@slipway/integrations/testing';
import { featuresWith } from '../app.module.js';
import { ConversationApp, type User } from '../testing/conversation-app.js';

const TOKEN = 'the-access-token-of-a-connection';

describe('the access token of a connection', () => {
  let app: ConversationApp;
  let owner: User;
  beforeAll(async () => {
    app = await ConversationApp.start({
      features: featuresWith([exampleProvider, PROVIDERS.gitea]),
      env: { INTEGRATION_PRIVATE_HOSTS: '127.0.0.1:3030' },
    });
    owner = await app.user('Olga');
  });
  afterAll(() => app?.close());

  const path = (rest = ''): string => `/api/v1/orgs/${owner.orgId}/integrations/connections${rest}`;
  const create = (body: object) =>
    app.http<ConnectionWithSecret & { code?: string; fields?: Array<{ path: string }> }>(owner, 'POST', path(), {
      provider: 'gitea',
      name: 'Gitea',
      ...body,
    });
  const private_ = { host: '127.0.0.1:3030', settings: { baseUrl: 'http://127.0.0.1:3030/git/' } };

  it('is sealed, shown by no answer, and in the audit without its value', async () => {
    const { status, body } = await create({ ...private_, token: TOKEN });
    expect([status, body.connection?.settings.baseUrl]).toEqual([201, 'http://127.0.0.1:3030/git']);
    const { id, tokenSetAt } = body.connection;
    expect(tokenSetAt).not.toBe(null);
    const changed = await app.http<IntegrationConnection>(owner, 'PATCH', path(`/${id}`), { token: `${TOKEN}-2` });
    const { rows } = await app.owner.query(
      `SELECT * FROM app.integration_secret WHERE connection_id = $1 AND kind = 'token'`,
      [id],
    );
    expect(rows).toHaveLength(1);
    const audit = await app.owner.query('SELECT action, detail, before, after FROM app.audit_entry WHERE target = $1', [
      id,
    ]);
    expect(audit.rows.map(({ detail }) => detail.token)).toEqual([true, 'replaced']);
    const all = [
      body,
      changed.body,
      (await app.http(owner, 'GET', path())).body,
      audit.rows,
      rows[0].sealed.toString('latin1'),
    ];
    expect(JSON.stringify(all)).not.toContain(TOKEN);
    expect(
      (await app.http<IntegrationConnection>(owner, 'PATCH', path(`/${id}`), { token: null })).body.tokenSetAt,
    ).toBe(null);
  });

  it('adversary: goes to no address inside and to no other host than the connection’s', async () => {
    for (const host of ['127.0.0.1', '10.0.0.1:3000', 'localhost', 'metadata.internal'])
      expect(await create({ host, token: TOKEN })).toMatchObject({
        status: 422,
        body: { code: 'settings.url-refused' },
      });
    expect(
      await create({ host: 'git.example', token: TOKEN, settings: { baseUrl: 'http://git.example' } }),
    ).toMatchObject({ status: 422 });
    const elsewhere = { settings: { baseUrl: 'https://evil.example' } };
    expect(await create({ host: 'git.example', token: TOKEN, ...elsewhere })).toMatchObject({
      status: 400,
      body: { fields: [{ path: 'settings.baseUrl' }] },
    });
    const { connection } = (await create({ ...private_, token: TOKEN })).body;
    expect((await app.http(owner, 'PATCH', path(`/${connection.id}`), elsewhere)).status).toBe(400);
  });

  it('is refused where it is none, and for a provider that is not called', async () => {
    for (const token of ['short', 'with a blank', 'two\nlines-of-it'])
      expect(await create({ ...private_, token })).toMatchObject({
        status: 400,
        body: { fields: [{ path: 'token' }] },
      });
    expect(await create({ provider: 'example', token: TOKEN })).toMatchObject({
      status: 400,
      body: { fields: [{ path: 'token' }] },
    });
  });
});
