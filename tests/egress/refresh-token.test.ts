import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Credential } from '@slipway/contracts/credentials';
import { GracefulStop } from '@slipway/service';
import { createLogger } from '@slipway/telemetry';
import { freePort, until } from '@slipway/testing';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { loadConfig } from '../../apps/credential-broker/dist/config.js';
import { type CredentialBroker, startCredentialBroker } from '../../apps/credential-broker/dist/credential-broker.js';
import { type Answered, type Origin, TestBroker } from '../../apps/credential-broker/dist/testing/test-broker.js';

const CREDENTIAL_CONTROL_SECRET = 'credential-control-of-tests-0123456789abcdef';
const HOST = 'api.example.com';
const ISSUER = 'login.example.com';

/** A real app-server with its database, two real brokers, and an authorization server that takes each token once. */
describe('a refresh token, with two brokers', () => {
  let app: ConversationApp;
  let world: TestBroker;
  let second: CredentialBroker;
  let api: Origin;
  let issuer: Origin;
  let ada: User;
  let conversation: string;
  /** The refresh token that the server takes next. */
  let valid = '';
  let issued = 0;
  let lose: (response: ServerResponse) => boolean;
  let apiStatus = 200;
  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    app = await ConversationApp.start({
      env: {
        EGRESS_CONTROL_SECRET: 'egress-control-of-tests-0123456789abcdef',
        CREDENTIAL_CONTROL_SECRET,
        INTERNAL_PORT: String(port),
      },
    });
    world = await TestBroker.start({ CREDENTIAL_CONTROL_URL: url, CREDENTIAL_CONTROL_SECRET });
    const logger = createLogger('credential-broker', 'silent');
    const config = loadConfig({
      ...world.environment(),
      CREDENTIAL_CONTROL_URL: url,
      CREDENTIAL_CONTROL_SECRET,
      BROKER_PORT: '0',
      PORT: '0',
    });
    const stop = new GracefulStop({ logger, drainSeconds: 0, exit: () => {} });
    second = await startCredentialBroker(config, logger, stop, async (host) => world.names.get(host) ?? []);
    api = await world.origin(HOST, (_request, response) => response.writeHead(apiStatus).end('fine'));
    issuer = await world.origin(ISSUER, (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.once('end', () => answer(new URLSearchParams(body).get('refresh_token') ?? '', response));
    });
    ada = await app.user('Ada');
    conversation = (await app.conversation(ada)).id;
  });
  beforeEach(async () => {
    await app.owner.query('DELETE FROM app.credential');
    for (const { seen } of [api, issuer]) seen.length = 0;
    apiStatus = 200;
    lose = () => false;
  });
  afterAll(async () => {
    await second?.close();
    await world?.close();
    await app?.close();
  });

  function answer(token: string, response: ServerResponse): void {
    const json = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (token !== valid) {
      json(400, { error: 'invalid_grant' });
      return;
    }
    if (lose(response)) return;
    issued += 1;
    valid = `refresh-${issued}-${randomUUID()}`;
    json(200, {
      access_token: `access-${issued}-0123456789`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: valid,
    });
  }
  const at = (rest = ''): string => `/api/v1/orgs/${ada.orgId}/credentials${rest}`;
  const create = async (): Promise<Credential> => {
    valid = `refresh-first-${randomUUID()}`;
    const use = {
      form: 'oauth-refresh-token',
      tokenUrl: `https://${ISSUER}:${issuer.port}/token`,
      clientId: 'slipway',
      clientAuth: 'none',
      places: [{ host: HOST, port: api.port }],
    };
    const value = JSON.stringify({ refreshToken: valid });
    const made = await app.http<Credential>(ada, 'POST', at(), { name: 'GRANT', value, use });
    expect([made.status, made.body]).toEqual([201, expect.anything()]);
    return made.body;
  };
  const shown = async ({ id }: Credential): Promise<Credential> =>
    (await app.http<Credential>(ada, 'GET', at(`/${id}`))).body;
  const ask = (broker: 'first' | 'second' = 'first', claim = 'clm_1'): Promise<Answered> => {
    world.at = broker === 'first' ? null : second.address;
    return world.ask({ host: HOST, line: { org: ada.orgId, conversation, claim } });
  };
  const sent = () => api.seen.map(({ headers }) => headers.authorization);

  it('is used once for many requests of both, and the next one is kept', async () => {
    const made = await create();
    const before = issued;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_each, index) => ask(index % 2 === 0 ? 'first' : 'second', `clm_${index}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(issued - before).toBe(1);
    expect(new Set(sent())).toEqual(new Set([`Bearer access-${issued}-0123456789`]));
    // Each renewal uses the token that the one before has brought, whichever broker that was.
    for (const broker of ['second', 'first'] as const) {
      apiStatus = 401;
      await ask(broker);
      apiStatus = 200;
      expect((await ask(broker)).status).toBe(200);
    }
    expect(issued - before).toBe(3);
    // A place that takes no token does not have one asked for with each request.
    apiStatus = 401;
    for (let count = 0; count < 5; count += 1) await ask();
    apiStatus = 200;
    expect(issued - before).toBe(3);
    expect(await shown(made)).toMatchObject({ state: 'active', restingReason: null });
    const { rows } = await app.owner.query<{ row: string }>(
      'SELECT c::text AS row FROM app.credential c UNION ALL SELECT a::text FROM app.audit_entry a',
    );
    expect(JSON.stringify(rows)).not.toMatch(/refresh-\w+-|access-\d/);
  });

  it('that the server refuses makes the credential rest with the reason, until an admin gives another one', async () => {
    const made = await create();
    const fresh = valid;
    valid = 'another';
    expect(await ask()).toMatchObject({ status: 403, code: 'credential.rejected' });
    expect(await shown(made)).toMatchObject({ state: 'resting', restingReason: 'refresh-refused' });
    await until('both brokers know', async () => (await ask('second')).code === 'credential.resting');
    expect(api.seen).toHaveLength(0);
    const { rows } = await app.owner.query(
      "SELECT detail FROM app.audit_entry WHERE action = 'credential.rest' AND target = $1",
      [made.id],
    );
    expect(rows).toEqual([{ detail: expect.objectContaining({ name: 'GRANT', reason: 'refresh-refused' }) }]);
    valid = fresh;
    const value = JSON.stringify({ refreshToken: fresh });
    expect((await app.http(ada, 'PATCH', at(`/${made.id}`), { value, state: 'active' })).status).toBe(200);
    await until('it is used again', async () => (await ask('second')).status === 200);
    expect(await shown(made)).toMatchObject({ state: 'active', restingReason: null });
  });

  it('is tried once more after an answer was lost, and rests as lost where that one is refused', async () => {
    const made = await create();
    lose = (response) => {
      // The server has taken the token, and its answer does not arrive.
      valid = 'lost with the answer';
      response.destroy();
      return true;
    };
    expect((await ask()).status).toBe(502);
    expect((await shown(made)).state).toBe('active');
    await until('the other broker is refused', async () => (await ask('second')).code === 'credential.rejected');
    expect(await shown(made)).toMatchObject({ state: 'resting', restingReason: 'refresh-lost' });
    expect(api.seen).toHaveLength(0);
  });

  it('goes on after a lost answer where the server takes the token again', async () => {
    const made = await create();
    let losses = 1;
    lose = (response) => {
      losses -= 1;
      if (losses < 0) return false;
      response.destroy();
      return true;
    };
    expect((await ask()).status).toBe(502);
    await until('it goes on', async () => (await ask('second')).status === 200);
    expect(await shown(made)).toMatchObject({ state: 'active', restingReason: null });
    const { rows } = await app.owner.query('SELECT renew_unsure, renewing_by FROM app.credential');
    expect(rows).toEqual([{ renew_unsure: false, renewing_by: null }]);
  });

  it('adversary: a broker that ended with the lease holds up the others for its time alone', async () => {
    const made = await create();
    await app.owner.query(
      "UPDATE app.credential SET renewing_by = 'gone', renewing_until = now() + interval '1 hour' WHERE id = $1",
      [made.id],
    );
    const waiting = ask();
    await until('it is asked for', async () => {
      const { rows } = await app.owner.query(
        "SELECT 1 FROM app.audit_entry WHERE action = 'credential.use' AND target = $1",
        [made.id],
      );
      return rows.length > 0;
    });
    expect(issuer.seen).toHaveLength(0);
    await app.owner.query('UPDATE app.credential SET renewing_until = now() WHERE id = $1', [made.id]);
    expect((await waiting).status).toBe(200);
  });

  it('adversary: another organization or a conversation that is deleted gets no lease', async () => {
    await create();
    const bob = await app.user('Bob');
    world.at = null;
    for (const line of [
      { org: bob.orgId, conversation },
      { org: ada.orgId, conversation: randomUUID() },
    ])
      expect((await world.ask({ host: HOST, line })).status).toBe(403);
    expect(issuer.seen).toHaveLength(0);
  });
});
