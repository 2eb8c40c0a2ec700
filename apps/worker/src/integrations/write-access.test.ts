import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { type Intent, PROVIDERS } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { queueDatabase, SECRET } from '../testing/harness.js';
import { ConnectionCalls } from './connection-calls.js';
import { type AccessAnswer, ProviderAccess } from './write-access.js';

const ORG = 'org_access';
const CONNECTION = '0c8f6f0a-64a8-4a0e-9d0f-5b1f8f2b7a11';
const START = Date.parse('2026-11-23T12:00:00Z');

/** The answers of a provider that no real one gives when it is asked to. */
describe('the question who may write', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let server: Server;
  let host: string;
  let dispatch: ProviderDispatch;
  let answer: (response: ServerResponse) => unknown;
  let asked: string[] = [];
  let now = START;
  let access: ProviderAccess;

  beforeAll(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 3, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    server = createServer((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    dispatch = new ProviderDispatch([host]);
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'access', 'Access', 'personal')`, [ORG]);
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
       VALUES ($1, $2, 'gitea', 'token', 'n', $3, 'sha256', '{}', '{}', 'u', 'u')`,
      [CONNECTION, ORG, host],
    );
    const place = { id: 'secret-1', connectionId: CONNECTION, kind: 'token' };
    const { bytes, keyVersion } = await new Envelope(pool, new SecretBox(SECRET), systemClock).seal(
      ORG,
      'tok-1',
      integrationSecretContext(place),
    );
    await owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [place.id, ORG, CONNECTION, place.kind, bytes, keyVersion],
    );
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
    [asked, now] = [[], START];
    await owner.query(`UPDATE app.integration_connection SET state = 'active', state_reason = NULL`);
    const clock = { now: () => new Date(now) };
    const credentials = new ConnectionCredentials(pool, new Envelope(pool, new SecretBox(SECRET), systemClock));
    const calls = new ConnectionCalls(credentials, dispatch, clock);
    access = new ProviderAccess(pool, new Map(Object.entries(PROVIDERS)), calls, clock, createLogger('test', 'silent'));
  });

  const says = (status: number, body: object | string, headers: Record<string, string> = {}): void => {
    answer = (response) =>
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const permission = (right: string, id = 7): object => ({ permission: right, user: { id, login: 'mia' } });
  const ask = (fullName = 'acme/shop', baseUrl = `http://${host}`): Promise<AccessAnswer> => {
    const intent = { repository: { fullName }, actor: { id: '7', login: 'mia' } } as Intent;
    const connection = { id: CONNECTION, provider: 'gitea', host, settings: { baseUrl } } as StoredConnection;
    return access.ask(ORG, connection, intent, new AbortController().signal);
  };
  const state = async (): Promise<string> =>
    (await owner.query('SELECT state FROM app.integration_connection')).rows[0].state;

  it('is answered for a minute, then read again', async () => {
    says(200, permission('write'));
    for (const [at, expected, calls] of [
      [0, 'write', 1],
      [59_999, 'write', 1],
      [60_001, 'none', 2],
    ] as const) {
      now = START + at;
      expect([(await ask()).access, asked.length]).toEqual([expected, calls]);
      says(200, permission('read'));
    }
    expect(asked[0]).toBe('/api/v1/repos/acme/shop/collaborators/mia/permission token tok-1');
  });

  it('adversary: is a no for every answer that is no clear yes of the same account', async () => {
    for (const [status, body, expected] of [
      [200, permission('write', 8), 'other-account'],
      [200, permission('read'), 'none'],
      [200, permission('WRITE'), 'none'],
      [200, { permission: 'write' }, 'unknown'],
      [200, 'write', 'unknown'],
      [204, '', 'unknown'],
      [302, permission('write'), 'unknown'],
      [403, permission('write'), 'unknown'],
      [404, permission('write'), 'unknown'],
    ] as const) {
      says(status, body, { location: `http://${host}/elsewhere` });
      now += 61_000;
      expect([status, body, (await ask()).access]).toEqual([status, body, expected]);
    }
    says(200, permission('admin'));
    for (const odd of ['acme/../../admin', 'acme', 'acme/shop?x']) expect((await ask(odd)).access).toBe('unknown');
    expect((await ask('acme/other', 'http://evil.example')).access).toBe('unknown');
    expect(asked.every((each) => each.startsWith('/api/v1/repos/acme/shop/collaborators/'))).toBe(true);
    expect(await state()).toBe('active');
  });

  it('comes again when the provider says, where it limits calls or is away', async () => {
    says(429, 'slow down', { 'retry-after': '90' });
    expect(await ask()).toMatchObject({ access: 'later', at: new Date(START + 90_000) });
    says(503, 'maintenance');
    expect(await ask()).toMatchObject({ access: 'later', at: null, why: `${host} does not answer (503).` });
    answer = (response) => response.destroy();
    expect(await ask()).toMatchObject({ access: 'later', at: null, why: `${host} does not answer.` });
    says(200, permission('write'));
    expect((await ask()).access).toBe('write');
  });

  it('has the connection need attention once where the token is refused, and leaves a disabled one so', async () => {
    says(401, 'bad credentials');
    expect((await ask()).access).toBe('unknown');
    expect(await state()).toBe('needs-attention');
    await owner.query(`UPDATE app.integration_connection SET state = 'disabled'`);
    await ask();
    expect(await state()).toBe('disabled');
  });
});
