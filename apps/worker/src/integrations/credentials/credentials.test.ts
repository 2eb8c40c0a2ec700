import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { ConnectionSettings } from '@slipway/contracts/integrations';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { type Connect, PROVIDERS, type Provider, ProviderClient } from '@slipway/integrations';
import {
  ConnectionCredentials,
  insertTokens,
  OAuthSource,
  OAuthTokens,
  renewAtOf,
  revokeTokens,
} from '@slipway/integrations/credentials';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import { queueDatabase, SECRET } from '../../testing/harness.js';
import { ConnectionCalls } from '../connection-calls.js';
import { CredentialRevocation } from './credential-revocation.js';
import { CredentialSweep } from './credential-sweep.js';

const ORG = 'org_credentials';
const START = Date.parse('2026-11-25T10:00:00Z');
const HOUR_MS = 3_600_000;
const APP = { clientId: 'the-client', clientSecret: 'the-secret-of-the-client' };

jest.setTimeout(120_000);

describe('credentials of connections, seen to by the worker', () => {
  let database: TestDatabase;
  let owner: SqlPool;
  let pool: SqlPool;
  let server: Server;
  let host: string;
  let dispatch: ProviderDispatch;
  let now = START;
  let asked: string[] = [];
  let answers: Record<string, (response: ServerResponse, body: string) => void> = {};
  let sweep: CredentialSweep;
  let revocation: CredentialRevocation;
  const logger = createLogger('test', 'silent');
  const json = (status: number, body: unknown) => (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  beforeAll(async () => {
    database = await queueDatabase();
    owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'test', onError: () => {} });
    pool = createPool({ url: database.urls.app, max: 4, applicationName: 'test', onError: () => {} });
    server = createServer(async (request, response) => {
      const path = new URL(request.url ?? '', 'http://x').pathname;
      const body = await text(request);
      asked.push(`${request.method} ${path} ${request.headers.authorization ?? ''} ${body}`.trim());
      (answers[path] ?? json(404, {}))(response, body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    dispatch = new ProviderDispatch([host]);
    await owner.query(
      `INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'credentials', 'Credentials', 'personal')`,
      [ORG],
    );
    const clock = { now: () => new Date(now) };
    const envelope = new Envelope(pool, new SecretBox(SECRET), systemClock);
    const known: Readonly<Record<string, Provider>> = PROVIDERS;
    // A Jira whose API is at its pages: Atlassian's own addresses cannot be had here.
    const jira: Provider = {
      ...PROVIDERS.jira,
      oauth: { ...(known['jira']?.oauth as NonNullable<Provider['oauth']>), apiBase: () => null },
    };
    const providers = new Map<string, Provider>([...Object.entries(known), ['jira', jira]]);
    const connect: Connect = (baseUrl, authorization) =>
      new ProviderClient({
        baseUrl,
        authorization,
        dispatch: (url, request) => dispatch.send(url, request, new AbortController().signal),
        now: clock.now,
      });
    const ids = createIds(systemClock);
    const credentials = new ConnectionCredentials(pool, envelope, [
      new OAuthSource({ pool, envelope, providers, connect, clock, ids, say: () => {} }),
    ]);
    const calls = new ConnectionCalls(credentials, dispatch, clock);
    const locks = {
      tryLock: () => Promise.resolve({ signal: new AbortController().signal, release: () => Promise.resolve() }),
    };
    sweep = new CredentialSweep({
      pool,
      credentials,
      calls,
      providers,
      locks: locks as never,
      clock,
      logger,
      publicUrl: 'https://slipway.test',
    });
    revocation = new CredentialRevocation(pool, envelope, providers, connect, logger);
  });
  afterAll(async () => {
    await dispatch?.close();
    server?.closeAllConnections();
    server?.close();
    await pool?.end();
    await owner?.end();
    await database?.close();
  });
  beforeEach(async () => {
    [now, asked, answers] = [START, [], {}];
    await owner.query('DELETE FROM app.integration_connection');
  });

  const seal = async (place: { id: string; connectionId: string; kind: string }, value: string) =>
    new Envelope(pool, new SecretBox(SECRET), systemClock).seal(ORG, value, integrationSecretContext(place));
  const connection = async (provider: string): Promise<string> => {
    const id = randomUUID();
    const settings = ConnectionSettings.parse({ baseUrl: `http://${host}` });
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, state, created_by, created_by_label)
       VALUES ($1, $2, $3, 'oauth', 'n', $4, CASE $3 WHEN 'jira' THEN 'jwt' ELSE 'signed' END, '{"ids":[],"mention":"slipway"}', $5, 'active', 'u', 'u')`,
      [id, ORG, provider, host, JSON.stringify(settings)],
    );
    return id;
  };
  const authorize = async (connectionId: string, kind = 'oauth-tokens'): Promise<string> => {
    const place = { id: randomUUID(), connectionId, kind };
    const [issuedAt, expiresAt] = [new Date(now).toISOString(), new Date(now + 2 * HOUR_MS).toISOString()];
    const tokens = OAuthTokens.parse({ ...APP, accessToken: 'at-1', refreshToken: 'rt-1', issuedAt, expiresAt });
    const made = {
      id: place.id,
      ...(await seal(place, JSON.stringify(tokens))),
      expiresAt: new Date(expiresAt),
      renewAt: renewAtOf(tokens),
      scopes: ['api'],
    };
    await inOrg(pool, ORG, (client) => insertTokens(client, ORG, connectionId, made));
    if (kind !== 'oauth-tokens')
      await owner.query('UPDATE app.integration_secret SET kind = $2 WHERE id = $1', [place.id, kind]);
    return place.id;
  };
  const enter = async (connectionId: string): Promise<void> => {
    const place = { id: randomUUID(), connectionId, kind: 'token' };
    const { bytes, keyVersion } = await seal(place, 'the-token');
    await owner.query(
      `INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, 'token', $4, $5)`,
      [...[place.id, ORG, connectionId], bytes, keyVersion],
    );
  };
  const secretOf = async (connectionId: string) =>
    (
      await owner.query(
        'SELECT kind, expires_at, renew_at, scopes, refused_at FROM app.integration_secret WHERE connection_id = $1',
        [connectionId],
      )
    ).rows[0];
  const stateOf = async (id: string) =>
    (await owner.query('SELECT state, state_reason, app_hook FROM app.integration_connection WHERE id = $1', [id]))
      .rows[0];
  const revocationsOf = async (connectionId: string): Promise<string[]> =>
    (
      await owner.query<{ id: string }>('SELECT id FROM app.credential_revocation WHERE connection_id = $1', [
        connectionId,
      ])
    ).rows.map(({ id }) => id);

  it('are renewed before they end, without calls', async () => {
    const id = await connection('gitlab');
    await authorize(id);
    answers['/oauth/token'] = json(200, { access_token: 'at-2', refresh_token: 'rt-2', expires_in: 7_200 });
    await sweep.tick();
    expect(asked).toEqual([]);
    now = START + 2 * HOUR_MS - 9 * 60_000;
    await sweep.tick();
    await sweep.tick();
    expect([asked.length, (await secretOf(id)).expires_at]).toEqual([1, new Date(now + 2 * HOUR_MS)]);
  });

  it('that are refused leave the connection in need of attention, asked once', async () => {
    const id = await connection('gitlab');
    await authorize(id);
    answers['/oauth/token'] = json(400, { error: 'invalid_grant' });
    now = START + 3 * HOUR_MS;
    for (let round = 0; round < 3; round += 1) {
      await sweep.tick();
      now += 2 * HOUR_MS;
    }
    expect([asked.length, (await stateOf(id)).state, (await secretOf(id)).refused_at === null]).toEqual([
      1,
      'needs-attention',
      false,
    ]);
  });

  it('that an admin has entered have their end and scopes by the word of GitLab, GitHub and Slack, asked once a day', async () => {
    answers['/api/v4/personal_access_tokens/self'] = json(200, { expires_at: '2026-12-01', scopes: ['read_api'] });
    answers['/api/v3/rate_limit'] = (response) =>
      void response
        .writeHead(200, {
          'github-authentication-token-expiration': '2026-12-24 10:00:00 UTC',
          'x-oauth-scopes': 'repo, read:org',
        })
        .end(JSON.stringify({ resources: {} }));
    answers['/api/auth.test'] = (response) =>
      void response.writeHead(200, { 'x-oauth-scopes': 'chat:write,commands' }).end(JSON.stringify({ ok: true }));
    const of: Record<string, string> = {};
    for (const provider of ['gitlab', 'github', 'slack', 'gitea']) {
      of[provider] = await connection(provider);
      await enter(of[provider]);
    }
    await sweep.tick();
    await sweep.tick();
    expect(asked).toHaveLength(3);
    expect(await secretOf(of['gitlab'] ?? '')).toMatchObject({
      expires_at: new Date('2026-12-01'),
      scopes: ['read_api'],
    });
    expect(await secretOf(of['github'] ?? '')).toMatchObject({
      expires_at: new Date('2026-12-24T10:00:00Z'),
      scopes: ['repo', 'read:org'],
    });
    expect(await secretOf(of['slack'] ?? '')).toMatchObject({ expires_at: null, scopes: ['chat:write', 'commands'] });
    now += 25 * HOUR_MS;
    answers['/api/v4/personal_access_tokens/self'] = json(401, {});
    answers['/api/v3/rate_limit'] = json(503, {});
    await sweep.tick();
    expect([(await stateOf(of['gitlab'] ?? '')).state, (await stateOf(of['github'] ?? '')).state]).toEqual([
      'needs-attention',
      'active',
    ]);
  });

  it('not confirmed in time are revoked', async () => {
    const id = await connection('gitlab');
    const pending = await authorize(id, 'oauth-pending');
    await owner.query(
      `INSERT INTO app.authorization_request (id, org_id, user_id, session_id, connection_id, state_hash, nonce_hash, expires_at) VALUES ($1, $2, 'u', 's', $3, '\\x01', '\\x02', $4)`,
      [pending, ORG, id, new Date(START + 600_000)],
    );
    await sweep.tick();
    expect(await revocationsOf(id)).toEqual([]);
    now += 601_000;
    await sweep.tick();
    expect([await revocationsOf(id), await secretOf(id)]).toEqual([[pending], undefined]);
  });

  it('of a connection that is gone are revoked when the provider is back, both tokens with the client that they are of', async () => {
    const id = await connection('gitlab');
    const secret = await authorize(id);
    await inOrg(pool, ORG, (client) => revokeTokens(client, ORG, { connectionId: id, kinds: ['oauth-tokens'] }));
    await owner.query('DELETE FROM app.integration_connection WHERE id = $1', [id]);
    answers['/oauth/revoke'] = json(503, {});
    expect(await revocation.run({ orgId: ORG, revocationId: secret })).toBe(60_000);
    expect(await revocationsOf(id)).toEqual([secret]);
    answers['/oauth/revoke'] = json(200, {});
    asked = [];
    expect(await revocation.run({ orgId: ORG, revocationId: secret })).toBe(null);
    const form = new URLSearchParams({ client_id: APP.clientId, client_secret: APP.clientSecret }).toString();
    expect(asked).toEqual([`POST /oauth/revoke  ${form}&token=rt-1`, `POST /oauth/revoke  ${form}&token=at-1`]);
    const left = await owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'credential-revocation' AND key = $1`, [
      secret,
    ]);
    expect([
      await revocationsOf(id),
      left.rowCount,
      await revocation.run({ orgId: ORG, revocationId: secret }),
    ]).toEqual([[], 0, null]);
  });

  it('that the provider does not take back in a day are left to end', async () => {
    const id = await connection('gitlab');
    const secret = await authorize(id);
    await inOrg(pool, ORG, (client) => revokeTokens(client, ORG, { connectionId: id, kinds: ['oauth-tokens'] }));
    answers['/oauth/revoke'] = json(503, {});
    const waits: Array<number | null> = [];
    do waits.push(await revocation.run({ orgId: ORG, revocationId: secret }));
    while (waits.at(-1) !== null && waits.length < 20);
    expect([waits.length, await revocationsOf(id)]).toEqual([7, []]);
  });

  it('of Jira keep the webhooks of the app, and say why where they cannot', async () => {
    const id = await connection('jira');
    await authorize(id);
    answers['/rest/api/2/project/search'] = json(200, { values: [{ key: 'SHOP' }], isLast: true });
    answers['/rest/api/2/webhook'] = (response) =>
      json(200, { values: [], webhookRegistrationResult: [{ createdWebhookId: 7 }] })(response);
    await sweep.tick();
    expect((await stateOf(id)).app_hook).toMatchObject({ ids: ['7'], filter: 'project in ("SHOP")', problem: null });
    expect(asked.find((each) => each.startsWith('POST /rest/api/2/webhook'))).toContain(
      `https://slipway.test/api/integration/jira/events/${id}`,
    );
    const before = asked.length;
    await sweep.tick();
    expect(asked.length).toBe(before);
    now += 13 * HOUR_MS;
    answers['/oauth/token'] = json(200, {});
    answers['/rest/api/2/webhook'] = json(403, {});
    await owner.query(`UPDATE app.integration_secret SET expires_at = NULL, renew_at = NULL`);
    await sweep.tick();
    expect((await stateOf(id)).app_hook).toMatchObject({
      ids: ['7'],
      problem: expect.stringContaining('did not keep the webhooks'),
    });
  });
});
