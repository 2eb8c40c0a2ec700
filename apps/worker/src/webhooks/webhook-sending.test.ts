import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Envelope, outgoingWebhookContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { PROVIDERS, type SignatureScheme, verifySignature } from '@slipway/integrations';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createHintBus, type HintBus } from '@slipway/queue';
import { createLogger } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { ConversationLog } from '../conversations/conversation-log.js';
import { dyingPool } from '../integrations/testing/dying-pool.js';
import { queueDatabase, SECRET } from '../testing/harness.js';
import { WebhookSending } from './webhook-sending.js';

const ORG = 'org_hooks';
const WEBHOOK = '3f0c4a0e-3f1d-4c8e-9a57-2f6f4f0d7c33';
const KEYS = ['a', 'b'].map((letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`);
const HOUR_MS = 3_600_000;
const logger = createLogger('webhooks-test', 'silent');
const never: AbortSignal = new AbortController().signal;

interface Taken {
  readonly headers: IncomingMessage['headers'];
  readonly raw: Buffer;
}

describe('a message to a webhook', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let hints: HintBus;
  let log: ConversationLog;
  let receiver: Server;
  let host: string;
  let dispatch: ProviderDispatch;
  let taken: Taken[] = [];
  let answer: (response: ServerResponse, request: IncomingMessage) => unknown;
  let now = 0;

  beforeAll(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 8, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    hints = createHintBus({ databaseUrl: database.urls.app, applicationName: 'test', logger });
    log = new ConversationLog(pool, hints, createIds(systemClock), systemClock, 'webhooks-test');
    receiver = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      taken.push({ headers: request.headers, raw: Buffer.concat(parts) });
      answer(response, request);
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    dispatch = new ProviderDispatch([host]);
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'hooks', 'Hooks', 'personal')`, [ORG]);
    await owner.query(
      `INSERT INTO app.outgoing_webhook (id, org_id, name, url, events, created_by, created_by_label) VALUES ($1, $2, 'n', '', $3, 'u', 'u')`,
      [WEBHOOK, ORG, ['conversation.finished', 'conversation.failed', 'conversation.waiting']],
    );
    const envelope = new Envelope(pool, new SecretBox(SECRET), systemClock);
    for (const [index, key] of KEYS.entries()) {
      const id = `s${index}`;
      const { bytes, keyVersion } = await envelope.seal(ORG, key, outgoingWebhookContext({ id, webhookId: WEBHOOK }));
      await owner.query(
        'INSERT INTO app.outgoing_webhook_secret (id, org_id, webhook_id, sealed, key_version) VALUES ($1, $2, $3, $4, $5)',
        [id, ORG, WEBHOOK, bytes, keyVersion],
      );
    }
  });
  afterAll(async () => {
    await dispatch?.close();
    receiver?.closeAllConnections();
    receiver?.close();
    await hints?.close();
    await pool?.end();
    await owner?.end();
    await database?.close();
  });
  beforeEach(async () => {
    [taken, now] = [[], Date.now()];
    answer = (response) => response.writeHead(204).end();
    await owner.query('DELETE FROM app.webhook_message');
    await owner.query('DELETE FROM app.outbox');
    await owner.query(
      `UPDATE app.outgoing_webhook SET state = 'active', state_reason = NULL, failing_since = NULL, url = $1`,
      [`http://${host}/hook`],
    );
  });

  const begin = async (): Promise<string> => {
    const id = randomUUID();
    await owner.query(
      `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, status, status_state)
       VALUES ($1, $2, 'u', 'u', 'Secret plans', 'm', 'waiting', '{"execution":"idle","start":"ready","halt":"none"}')`,
      [id, ORG],
    );
    return id;
  };
  const become = async (
    id: string,
    ...statuses: readonly ('running' | 'finished' | 'error' | 'waiting_for_confirmation')[]
  ): Promise<void> => {
    await log.write(ORG, id, null, () => ({
      events: statuses.map((status) => ({ kind: 'execution-status', status })),
    }));
  };
  const messages = async (): Promise<
    Array<{
      id: string;
      event: string;
      body: string;
      state: string;
      attempts: number;
      last_status: number | null;
      last_answer: string | null;
      problem: string | null;
    }>
  > => (await owner.query('SELECT * FROM app.webhook_message ORDER BY created_at, id')).rows;
  const webhook = async (): Promise<{ state: string; state_reason: string | null; failing_since: Date | null }> =>
    (await owner.query('SELECT state, state_reason, failing_since FROM app.outgoing_webhook')).rows[0];
  const one = async (): Promise<string> => {
    const id = await begin();
    await become(id, 'finished');
    return (await messages())[0]?.id ?? '';
  };
  const sending = (own: SqlPool = pool, timeoutMs = 2_000): WebhookSending =>
    new WebhookSending(
      own,
      new Envelope(own, new SecretBox(SECRET), systemClock),
      dispatch,
      { now: () => new Date(now) },
      createIds(systemClock),
      logger,
      timeoutMs,
    );
  const send = (messageId: string, own?: SqlPool, timeoutMs?: number): Promise<number | null> =>
    sending(own, timeoutMs).run({ orgId: ORG, messageId }, never);

  it('is made once for each end of a run and each wait for approval, and says ids and states alone', async () => {
    const id = await begin();
    await become(id, 'running');
    expect(await messages()).toEqual([]);
    await become(id, 'waiting_for_confirmation');
    await become(id, 'running');
    await become(id, 'finished');
    await become(id, 'running', 'finished');
    await become(id, 'running', 'error');
    expect((await messages()).map(({ event }) => event)).toEqual([
      'conversation.waiting',
      'conversation.finished',
      'conversation.finished',
      'conversation.failed',
    ]);
    await log.write(ORG, id, null, () => ({ events: [{ kind: 'sandbox-status', status: 'PAUSED' }] }));
    const all = await messages();
    expect(all).toHaveLength(4);
    expect(JSON.parse(all[1]?.body ?? '')).toEqual({
      type: 'conversation.finished',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { organizationId: ORG, conversationId: id, status: 'finished' },
    });
    expect(JSON.stringify(all)).not.toContain('Secret plans');
    expect((await owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'webhook-message'`)).rowCount).toBe(4);
    await owner.query(`UPDATE app.outgoing_webhook SET events = '{conversation.failed}'`);
    await become(id, 'running', 'finished');
    await owner.query(
      `UPDATE app.outgoing_webhook SET events = '{conversation.finished,conversation.failed,conversation.waiting}', state = 'disabled'`,
    );
    await become(id, 'running', 'finished');
    expect(await messages()).toHaveLength(4);
  });

  it('is made when a pull request is opened, merged or closed', async () => {
    await owner.query(`UPDATE app.outgoing_webhook SET events = '{pull-request.opened,pull-request.merged}'`);
    const id = await begin();
    await owner.query(
      `INSERT INTO app.pull_request (id, org_id, conversation_id, provider, host, repository, wanted) VALUES (gen_random_uuid(), $1, $2, 'gitea', 'git.test', 'acme/shop', '{}')`,
      [ORG, id],
    );
    for (const set of [
      `publish = 'done'`,
      `state = 'open', number = 7, url = 'https://git.test/7'`,
      `title = 'x'`,
      `state = 'closed'`,
      `state = 'merged'`,
    ])
      await owner.query(`UPDATE app.pull_request SET ${set} WHERE conversation_id = $1`, [id]);
    const all = await messages();
    expect(all.map(({ event }) => event)).toEqual(['pull-request.opened', 'pull-request.merged']);
    expect(JSON.parse(all[1]?.body ?? '').data).toEqual({
      organizationId: ORG,
      conversationId: id,
      provider: 'gitea',
      host: 'git.test',
      repository: 'acme/shop',
      number: 7,
      url: 'https://git.test/7',
      status: 'merged',
    });
    await owner.query(
      `UPDATE app.outgoing_webhook SET events = '{conversation.finished,conversation.failed,conversation.waiting}'`,
    );
  });

  it('is signed with each secret that holds, and is done when it is taken', async () => {
    const id = await one();
    expect(await send(id)).toBe(null);
    const [{ headers, raw }] = taken as [Taken];
    expect([headers['webhook-id'], headers['content-type'], raw.toString()]).toEqual([
      id,
      'application/json',
      (await messages())[0]?.body,
    ]);
    const scheme = PROVIDERS.gitlab.signatures['signed'] as SignatureScheme;
    for (const key of KEYS) expect(verifySignature(scheme, [key], { headers, raw }, new Date(now))).toBe(null);
    expect(verifySignature(scheme, ['whsec_AAAA'], { headers, raw }, new Date(now))).toBe('wrong');
    expect(await messages()).toEqual([
      expect.objectContaining({ state: 'delivered', attempts: 1, last_status: 204, problem: null }),
    ]);
    expect((await owner.query('SELECT 1 FROM app.outbox WHERE key = $1', [id])).rowCount).toBe(0);
    expect(await send(id)).toBe(null);
    expect(taken).toHaveLength(1);
  });

  it('comes again eight times within 24 hours, with the same id and body, and is then given up', async () => {
    const id = await one();
    answer = (response) => response.writeHead(500).end('broken\u0007');
    const begun = now;
    for (let wait = await send(id); wait !== null; wait = await send(id)) now += wait;
    expect([taken.length, now - begun < 24 * HOUR_MS]).toEqual([8, true]);
    expect(new Set(taken.map(({ headers, raw }) => `${headers['webhook-id']} ${raw}`)).size).toBe(1);
    expect(new Set(taken.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(8);
    expect(await messages()).toEqual([
      expect.objectContaining({
        state: 'given-up',
        attempts: 8,
        last_status: 500,
        last_answer: 'broken ',
        problem: 'It was answered 500.',
      }),
    ]);
    expect(await webhook()).toMatchObject({ state: 'active', failing_since: expect.any(Date) });
    answer = (response) => response.end();
    await send(await one().then(async () => (await messages()).find(({ state }) => state === 'waiting')?.id ?? ''));
    expect(await webhook()).toMatchObject({ failing_since: null });
  });

  it('waits as long as the receiver asks for, and no longer than it may', async () => {
    const id = await one();
    answer = (response) => response.writeHead(429, { 'retry-after': '120' }).end();
    expect(await send(id)).toBe(120_000);
    expect(await send(id)).toBe(120_000);
    expect(taken).toHaveLength(1);
    now += 120_000;
    answer = (response) => response.writeHead(503, { 'retry-after': '999999' }).end();
    expect(await send(id)).toBe(null);
    expect((await messages())[0]?.state).toBe('given-up');
  });

  it('ends its webhook when the receiver says that it is gone, or takes nothing for five days', async () => {
    answer = (response) => response.writeHead(410).end();
    expect(await send(await one())).toBe(null);
    expect(await webhook()).toMatchObject({
      state: 'failing',
      state_reason: 'The address answered that it is gone (410).',
    });
    await owner.query(`UPDATE app.outgoing_webhook SET state = 'active', failing_since = now() - interval '121 hours'`);
    await owner.query('DELETE FROM app.webhook_message');
    answer = (response) => response.writeHead(500).end();
    const waits = await one();
    await send(waits);
    expect(await webhook()).toMatchObject({ state: 'failing', state_reason: 'Nothing was taken for five days.' });
    now += HOUR_MS;
    expect(await send(waits)).toBe(null);
    expect((await messages())[0]).toMatchObject({ state: 'given-up', problem: 'The webhook is disabled.' });
    expect((await owner.query(`SELECT 1 FROM app.audit_entry WHERE action = 'webhook.failing'`)).rowCount).toBe(2);
  });

  it('adversary: a receiver that redirects inside, answers without end or never, gets nothing but the message', async () => {
    const before = await one();
    answer = (response) => response.writeHead(307, { location: `http://${host}/elsewhere` }).end();
    expect(await send(before)).toBe(5_000);
    expect(taken).toHaveLength(1);
    expect((await messages())[0]?.problem).toBe('A redirect is not followed.');
    now += 5_000;
    let written = 0;
    answer = (response) => {
      const more = (): void => {
        written += 1;
        if (!response.destroyed && response.write('x'.repeat(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    expect(await send(before)).toBe(null);
    expect((await messages())[0]).toMatchObject({ state: 'delivered', last_answer: 'x'.repeat(500) });
    expect(written).toBeLessThan(1_000);
    const silent = await begin();
    await become(silent, 'finished');
    const waiting = (await messages()).find(({ state }) => state === 'waiting')?.id ?? '';
    answer = () => {};
    expect(await send(waiting, pool, 100)).toBe(5_000);
    expect((await messages()).find(({ id }) => id === waiting)?.problem).toBe(
      'The address does not answer within 0.1 s.',
    );
    await owner.query(`UPDATE app.outgoing_webhook SET url = 'http://127.0.0.1:1/x'`);
    now += 5_000;
    await send(waiting);
    expect((await messages()).find(({ id }) => id === waiting)?.problem).toContain('INTEGRATION_PRIVATE_HOSTS');
  });

  it('is taken at least once wherever a worker is killed, and after that no more', async () => {
    for (let dies = 0; ; dies += 1) {
      await owner.query('DELETE FROM app.webhook_message');
      taken = [];
      const id = await one();
      const died = await send(id, dyingPool(pool, dies)).then(
        () => false,
        () => true,
      );
      for (let wait = await send(id); wait !== null; wait = await send(id)) now += wait;
      expect([dies, taken.length >= 1 && taken.length <= 2, (await messages())[0]?.state]).toEqual([
        dies,
        true,
        'delivered',
      ]);
      const done = taken.length;
      await send(id);
      expect(taken).toHaveLength(done);
      if (!died) break;
      expect(dies).toBeLessThan(60);
    }
  }, 60_000);
});
