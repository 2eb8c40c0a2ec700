import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deliveryContext, Envelope } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { packDelivery, type WriteAccess } from '@slipway/integrations/deliveries';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { type ExampleBody, exampleProvider } from '@slipway/integrations/testing';
import { createQueue, type Queue } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import fc from 'fast-check';
import pg from 'pg';
import { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { queueDatabase, SECRET } from '../testing/harness.js';
import { Acts } from './acts.js';
import { RepositoryChoices } from './choice/repository-choices.js';
import { ConnectionCalls } from './connection-calls.js';
import { DefaultRepository } from './default-repository.js';
import { DeliveryReader } from './delivery-reader.js';
import { IntegrationDelivery } from './integration-delivery.js';
import { dyingPool } from './testing/dying-pool.js';
import { ThreadReader } from './thread-context.js';

const ORG = 'org_deliveries';
const CONNECTION = '5b0c4a0e-3f1d-4c8e-9a57-2f6f4f0d7c11';
const logger = createLogger('deliveries-test', 'silent');
const never = new AbortController().signal;

describe('a delivery', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let queue: Queue;
  let gateway: Server;
  let envelope: Envelope;
  let access: WriteAccess = 'write';
  const ids = createIds(systemClock);
  const dispatch = new ProviderDispatch([]);

  beforeAll(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 12, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    queue = await createQueue({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    gateway = createServer((_request, response) => {
      response
        .setHeader('content-type', 'application/json')
        .end(
          '{"object":"list","data":[{"id":"small","object":"model","created":0,"owned_by":"x"},{"id":"usual","object":"model","created":0,"owned_by":"x","default":true}]}',
        );
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    envelope = new Envelope(pool, new SecretBox(SECRET), systemClock);
    await owner.query(
      `INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'deliveries', 'Deliveries', 'personal')`,
      [ORG],
    );
    for (const [id, role] of [
      ['usr_mia', 'member'],
      ['usr_vic', 'viewer'],
      ['usr_out', null],
    ] as const) {
      await owner.query(`INSERT INTO app.user_account (id, issuer, subject, name) VALUES ($1, 'test', $1, $1)`, [id]);
      if (role !== null)
        await owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [ORG, id, role]);
      await owner.query(
        `INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ('example', 'example.test', $1, $2, $1)`,
        [id.slice(4), id],
      );
    }
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, state, created_by, created_by_label)
       VALUES ($1, $2, 'example', 'webhook', 'n', 'example.test', 'hmac', '{"ids":["us"],"mention":"slipway"}',
         '{"labels":[],"bots":[],"confidential":false,"defaultRepository":"https://git.example/acme/usual"}', 'active', 'u', 'u')`,
      [CONNECTION, ORG],
    );
  });
  afterAll(async () => {
    await dispatch.close();
    await queue?.close();
    await pool?.end();
    await owner?.end();
    gateway?.close();
    await database?.close();
  });

  /** As app-server keeps one that holds. */
  const arrive = async (body: ExampleBody | string, deliveryId: string = randomUUID()): Promise<string> => {
    const id = ids.uuid();
    const raw = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const packed = await packDelivery({ headers: { 'content-type': 'application/json' }, raw });
    const sealed = await envelope.seal(ORG, packed, deliveryContext({ id, connectionId: CONNECTION }));
    await pool.query('SELECT app.take_delivery($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
      ORG,
      CONNECTION,
      id,
      deliveryId,
      'deed.done',
      sealed.bytes,
      sealed.keyVersion,
      raw.length,
      randomUUID(),
    ]);
    return id;
  };
  const workerOn = (own: SqlPool): IntegrationDelivery => {
    const client = new LlmGatewayClient({
      url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
      masterKey: SECRET,
    });
    const connectionCalls = new ConnectionCalls(new ConnectionCredentials(own, envelope), dispatch, systemClock);
    const ask = () => Promise.resolve({ access, why: null });
    const none = new Map();
    const acts = new Acts(
      own,
      queue,
      client,
      ids,
      new ThreadReader(own, none, connectionCalls, ask, logger),
      new DefaultRepository(own, none, ask),
      new RepositoryChoices(own, envelope, none),
    );
    const providers = new Map([['example', exampleProvider]]);
    return new IntegrationDelivery(
      own,
      new DeliveryReader(
        own,
        new Envelope(own, new SecretBox(SECRET), systemClock),
        providers,
        connectionCalls,
        logger,
      ),
      providers,
      () => Promise.resolve({ access, why: null }),
      acts,
      queue,
      systemClock,
      logger,
    );
  };
  const run = (id: string, own: SqlPool = pool): Promise<void> =>
    workerOn(own).run({ orgId: ORG, deliveryId: id }, never);
  const row = async (
    id: string,
  ): Promise<{ state: string; reason: string; conversation_id: string | null; attempts: number }> =>
    (
      await owner.query('SELECT state, reason, conversation_id, attempts FROM app.integration_delivery WHERE id = $1', [
        id,
      ])
    ).rows[0];
  const outcome = async (body: ExampleBody | string): Promise<string> => {
    const id = await arrive(body);
    await run(id);
    const { state, reason } = await row(id);
    return `${state} ${reason}`;
  };
  const mention = (deed: string, more: Partial<ExampleBody> = {}): ExampleBody => ({
    trigger: 'mention',
    deed,
    thread: `thread ${deed}`,
    actor: { id: 'mia', login: 'mia' },
    text: 'Fix the login test.',
    ...more,
  });
  const conversations = async (): Promise<number> =>
    (await owner.query('SELECT 1 FROM app.conversation WHERE org_id = $1', [ORG])).rowCount ?? 0;

  it('that asks for nothing has its reason, and starts nothing', async () => {
    const before = await conversations();
    expect(await outcome({ text: 'only a comment' })).toBe('ignored no-trigger');
    expect(await outcome('not json')).toBe('ignored unreadable');
    expect(await outcome({ ping: true })).toBe('ignored connection-test');
    expect(await outcome(mention('own', { actor: { id: 'us', login: 'slipway' } }))).toBe('ignored own-act');
    expect(await outcome(mention('no reply', { trigger: 'thread-reply' }))).toBe('ignored no-trigger');
    expect(await outcome(mention('no stop', { trigger: 'stop' }))).toBe('ignored nothing-to-stop');
    expect(await conversations()).toBe(before);
  });

  it('without the right is refused with its reason, and starts nothing', async () => {
    const before = await conversations();
    expect(await outcome(mention('r1', { actor: { id: 'stranger', login: 'mia' } }))).toBe('refused actor-not-linked');
    expect(await outcome(mention('r2', { actor: { id: 'mia', login: 'mia', foreign: true } }))).toBe(
      'refused actor-foreign',
    );
    expect(await outcome(mention('r3', { actor: { id: 'out', login: 'out' } }))).toBe('refused actor-not-member');
    expect(await outcome(mention('r4', { actor: { id: 'vic', login: 'vic' } }))).toBe('refused actor-not-allowed');
    for (const [said, reason] of [
      ['unknown', 'permission-unknown'],
      ['none', 'no-write-access'],
    ] as const) {
      access = said;
      expect(await outcome(mention(`r5 ${said}`, { repository: 'acme/shop' }))).toBe(`refused ${reason}`);
    }
    access = 'write';
    await owner.query(
      `INSERT INTO app.budget_stop (org_id, user_id, limit_usd, until) VALUES ($1, 'usr_mia', 1, now() + interval '1 hour')`,
      [ORG],
    );
    expect(await outcome(mention('r6'))).toBe('refused over-budget');
    await owner.query('DELETE FROM app.budget_stop');
    await owner.query(`UPDATE app.integration_connection SET state = 'disabled'`);
    expect(await outcome(mention('r7'))).toBe('refused connection-disabled');
    await owner.query(`UPDATE app.integration_connection SET state = 'active'`);
    await owner.query(`UPDATE app.org SET deletes_at = now() + interval '1 day' WHERE id = $1`, [ORG]);
    expect(await outcome(mention('r8'))).toBe('refused organization-closing');
    await owner.query('UPDATE app.org SET deletes_at = NULL WHERE id = $1', [ORG]);
    expect(await conversations()).toBe(before);
    // What was refused has claimed nothing: the same deed is decided again when it is repeated.
    expect(await outcome(mention('r6'))).toBe('done conversation-started');
  });

  it('lets its conversation read its repository once the connection has a credential, and no other one', async () => {
    const granted = async (thread: string): Promise<unknown[]> => {
      const id = await arrive(mention(thread, { thread, repository: 'acme/shop' }));
      await run(id);
      const { conversation_id: conversation } = await row(id);
      return (
        await owner.query('SELECT connection_id, full_name FROM app.repository_grant WHERE conversation_id = $1', [
          conversation,
        ])
      ).rows;
    };
    expect(await granted('g1')).toEqual([]);
    await owner.query(
      `INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ('s', $1, $2, 'token', 'x', 1)`,
      [ORG, CONNECTION],
    );
    expect(await granted('g2')).toEqual([{ connection_id: CONNECTION, full_name: 'acme/shop' }]);
    await owner.query(`DELETE FROM app.integration_secret WHERE id = 's'`);
  });

  it('of a linked user starts a conversation as them; replies, a stop and a mute go to the same', async () => {
    const first = await arrive(mention('d1', { thread: 'T', repository: 'acme/shop' }));
    await run(first);
    const { state, conversation_id: id } = await row(first);
    expect(state).toBe('done');
    const { rows } = await owner.query(
      'SELECT created_by, repository, model, desired FROM app.conversation WHERE id = $1',
      [id],
    );
    expect(rows).toEqual([
      { created_by: 'usr_mia', repository: 'https://example.test/acme/shop', model: 'usual', desired: 'run' },
    ]);
    const jobs = async (): Promise<string[]> =>
      (
        await owner.query<{ queue: string }>('SELECT queue FROM app.outbox WHERE key = $1 ORDER BY queue', [id])
      ).rows.map(({ queue: name }) => name);
    expect(await jobs()).toEqual(['conversation-start', 'integration-answer']);
    const reply = await arrive(mention('d2', { thread: 'T', trigger: 'thread-reply', text: 'And a test.' }));
    await run(reply);
    expect(await row(reply)).toMatchObject({ state: 'done', reason: 'message-added', conversation_id: id });
    const { rows: messages } = await owner.query<{ text: string; created_by: string }>(
      'SELECT text, created_by FROM app.inbox_message WHERE conversation_id = $1 ORDER BY position',
      [id],
    );
    expect(messages.map(({ text }) => text.split('\n', 1)[0])).toEqual(['Fix the login test.', 'And a test.']);
    expect(await outcome(mention('d3', { thread: 'T', trigger: 'stop' }))).toBe('done run-stopped');
    expect((await owner.query('SELECT desired FROM app.conversation WHERE id = $1', [id])).rows).toEqual([
      { desired: 'rest' },
    ]);
    expect(await outcome(mention('d4', { thread: 'T', trigger: 'mute' }))).toBe('done muted');
    expect(await outcome(mention('d5', { thread: 'T' }))).toBe('ignored thread-muted');
    const { rows: audit } = await owner.query(
      'SELECT action, actor_id FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
      [id],
    );
    expect(audit).toEqual([
      { action: 'conversation.create', actor_id: 'usr_mia' },
      { action: 'conversation.pause', actor_id: 'usr_mia' },
    ]);
  });

  it('names no repository that git would take for an option, and none leaves the default', async () => {
    const repositoryOf = async (body: ExampleBody): Promise<unknown> => {
      const id = await arrive(body);
      await run(id);
      return (
        await owner.query('SELECT repository FROM app.conversation WHERE id = $1', [(await row(id)).conversation_id])
      ).rows[0]?.repository;
    };
    expect(await repositoryOf(mention('n1'))).toBe('https://git.example/acme/usual');
    expect(await repositoryOf(mention('n2', { repository: 'acme/x --upload-pack=evil' }))).toBe(null);
    expect(await repositoryOf(mention('n3', { repository: '@evil.test/x?y#z' }))).toBe(null);
  });

  it('by two hooks, or sent again under another id, is acted on once', async () => {
    const pair = await Promise.all([arrive(mention('twice')), arrive(mention('twice'))]);
    await Promise.all(pair.map((id) => run(id)));
    expect((await Promise.all(pair.map(async (id) => (await row(id)).reason))).sort()).toEqual([
      'conversation-started',
      'same-deed',
    ]);
  });

  /** Three workers, each of which may be killed at any statement; every job comes again, as the outbox brings it. */
  it('whatever is repeated, interleaved or killed makes one conversation a thread and one message a deed, and none is lost', async () => {
    let round = 0;
    const arrival = fc.record({ deed: fc.nat(3), thread: fc.nat(1), hooks: fc.integer({ min: 1, max: 2 }) });
    const attempt = fc.record({ which: fc.nat(9), dies: fc.option(fc.integer({ min: 0, max: 24 }), { freq: 2 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrival, { minLength: 1, maxLength: 5 }),
        fc.array(fc.array(attempt, { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
        async (arrivals, turns) => {
          round += 1;
          const threadOf = (each: { thread: number }): string => `round ${round} thread ${each.thread}`;
          const deedOf = (each: { deed: number; thread: number }): string => `${threadOf(each)} deed ${each.deed}`;
          const all: string[] = [];
          for (const each of arrivals)
            for (let hook = 0; hook < each.hooks; hook += 1)
              all.push(await arrive(mention(deedOf(each), { thread: threadOf(each) })));
          for (const turn of turns)
            await Promise.all(
              turn.map(({ which, dies }) =>
                run(all[which % all.length] as string, dies === null ? pool : dyingPool(pool, dies)).catch(
                  (error: unknown) => {
                    if ((error as Error).message !== 'killed') throw error;
                  },
                ),
              ),
            );
          await Promise.all(all.map((id) => run(id)));
          for (const thread of new Set(arrivals.map(threadOf))) {
            const deeds = new Set(arrivals.filter((each) => threadOf(each) === thread).map(deedOf));
            const { rows } = await owner.query<{ id: string; messages: number }>(
              `SELECT c.id, (SELECT count(*)::int FROM app.inbox_message m WHERE m.conversation_id = c.id) AS messages FROM app.conversation c WHERE c.title = $1`,
              [`Thread ${thread}`],
            );
            expect(rows).toEqual([{ id: expect.any(String), messages: deeds.size }]);
          }
          const { rows: left } = await owner.query(
            `SELECT 1 FROM app.outbox WHERE queue = 'integration-delivery' AND key = ANY ($1)`,
            [all],
          );
          expect(left).toEqual([]);
          const states = await Promise.all(all.map(async (id) => (await row(id)).state));
          expect(states.filter((state) => state === 'done')).toHaveLength(new Set(arrivals.map(deedOf)).size);
          await inOrg(pool, ORG, (client) => client.query('DELETE FROM app.integration_delivery'));
        },
      ),
      { numRuns: 25 },
    );
  }, 300_000);
});
