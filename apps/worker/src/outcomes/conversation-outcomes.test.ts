import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LedgerCall } from '@slipway/contracts/conversations';
import { createLogger } from '@slipway/telemetry';
import pg from 'pg';
import { foldLedger } from '../sweeps/usage/usage.queries.js';
import { type Harness, ORG, openHarness } from '../testing/harness.js';
import { ConversationOutcomes } from './conversation-outcomes.js';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');

interface Row {
  readonly cost_usd: string;
  readonly failed_calls_usd: string;
  readonly failed_turns_usd: string;
  readonly turns: number;
  readonly failed_turns: number;
  readonly start_wait_ms: string | null;
  readonly approval_waits_ms: string[];
  readonly source: string | null;
  readonly repository: string;
}

jest.setTimeout(120_000);

describe('what a conversation came to', () => {
  let harness: Harness;
  let owner: pg.Client;
  let calls: LedgerCall[] = [];
  let away = new Set<string>();
  const now = new Date(Date.now() + 3_600_000);

  beforeAll(async () => {
    harness = await openHarness();
    owner = new pg.Client({ connectionString: harness.database.ownerUrl });
    await owner.connect();
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'counted', 'O', 'company')`, [ORG]);
  });
  afterAll(async () => {
    await owner?.end();
    await harness?.close();
  });
  beforeEach(async () => {
    [calls, away] = [[], new Set()];
    await owner.query('DELETE FROM app.conversation');
    await owner.query('DELETE FROM app.conversation_outcome');
  });

  /** Each is a process of its own. */
  const run = (): Promise<void> =>
    new ConversationOutcomes({
      pool: harness.pool,
      gateway: {
        calls: async (_org, id) => {
          if (away.has(id)) throw new Error('the gateway is away');
          return { calls, more: false };
        },
      },
      clock: { now: () => now },
      locks: { tryLock: async () => null },
      logger: createLogger('test', 'silent'),
    }).run(AbortSignal.timeout(20_000));
  const row = async (id: string): Promise<Row> =>
    (await owner.query<Row>('SELECT * FROM app.conversation_outcome WHERE conversation_id = $1', [id])).rows[0] as Row;
  const state = (seconds: number, value: string) => ({
    at: seconds,
    kind: 'ConversationStateUpdateEvent',
    source: 'environment',
    key: 'execution_status',
    value,
  });
  const message = (seconds: number, id: string) => ({
    ...{ at: seconds, id, kind: 'MessageEvent', source: 'user' },
    llm_message: { role: 'user', content: [{ type: 'text', text: 'Do it' }] },
  });
  const call = (seconds: number, cost: string, status: LedgerCall['status'] = 'ok'): LedgerCall => ({
    ...{
      id: randomUUID(),
      traceId: '',
      model: 'm',
      purpose: 'agent',
      attempts: 1,
      prompt: 1,
      cached: 0,
      completion: 1,
      cost,
      priced: true,
      status,
    },
    ...{ errorCode: null, at: new Date(BEGIN + seconds * 1_000).toISOString(), firstByteMs: 1, latencyMs: 100 },
  });
  async function append(id: string, events: ReadonlyArray<{ readonly at: number }>): Promise<void> {
    const { rows } = await owner.query<{ head: string }>('SELECT head FROM app.conversation WHERE id = $1', [id]);
    const head = Number(rows[0]?.head);
    const all = events.map(
      ({ at, ...event }): Record<string, unknown> => ({
        id: randomUUID(),
        timestamp: new Date(BEGIN + at * 1_000).toISOString(),
        ...event,
      }),
    );
    await owner.query(
      `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event)
       SELECT $1, $6::bigint + n, $2, 1, i, k, e FROM unnest($3::json[], $4::uuid[], $5::text[]) WITH ORDINALITY AS u(e, i, k, n)`,
      [
        id,
        ORG,
        all.map((each) => JSON.stringify(each)),
        all.map((each) => each['id']),
        all.map((each) => each['kind']),
        head,
      ],
    );
    await owner.query(`UPDATE app.conversation SET head = $2, status = 'finished', updated_at = now() WHERE id = $1`, [
      id,
      head + all.length,
    ]);
    await owner.query(`UPDATE app.inbox_message SET state = 'consumed', created_at = $2 WHERE conversation_id = $1`, [
      id,
      new Date(BEGIN),
    ]);
  }
  const turn = (from: number, id: string, end: string): Array<{ readonly at: number }> => [
    message(from, id),
    state(from + 2, 'running'),
    state(from + 9, end),
  ];

  it('has its turns, failures, their cost and its start counted once, however often and by however many workers it is read', async () => {
    const { id, message: first } = await harness.create();
    calls = [call(3, '0.25'), call(4, '0.5', 'failed')];
    await append(id, turn(0, first, 'error'));
    await Promise.all([run(), run()]);
    await run();
    const counted = await row(id);
    expect(counted).toMatchObject({ turns: 1, failed_turns: 1, source: 'user' });
    expect([Number(counted.failed_turns_usd), Number(counted.start_wait_ms)]).toEqual([0.25, 2_000]);
    calls.push(call(103, '1'));
    await append(id, turn(100, await harness.send(id, 'more'), 'finished'));
    await run();
    expect(await row(id)).toMatchObject({ turns: 2, failed_turns: 1, start_wait_ms: counted.start_wait_ms });
  });

  it('has waits for its approvals, from the question to the answer', async () => {
    const { id, message: first } = await harness.create();
    await append(id, [
      ...[message(0, first), state(1, 'running')],
      ...[
        state(2, 'waiting_for_confirmation'),
        state(32, 'running'),
        state(33, 'waiting_for_confirmation'),
        state(93, 'running'),
        state(95, 'finished'),
      ],
    ]);
    await run();
    expect((await row(id)).approval_waits_ms.map(Number)).toEqual([30_000, 60_000]);
  });

  it('is counted later where the gateway is away, which keeps no other from being counted', async () => {
    const [one, other] = [await harness.create(), await harness.create()];
    for (const { id, message: first } of [one, other]) await append(id, turn(0, first, 'finished'));
    away = new Set([one.id]);
    await run();
    expect([(await row(one.id)).turns, (await row(other.id)).turns]).toEqual([0, 1]);
    away = new Set();
    await run();
    expect((await row(one.id)).turns).toBe(1);
  });

  it('costs what the ledger says, apart what calls without an answer cost, also after it was deleted', async () => {
    const { id } = await harness.create();
    const entry = {
      org: ORG,
      conversation: id,
      user: null,
      model: 'm',
      prompt: 2,
      cached: 0,
      completion: 1,
      priced: true,
      at: new Date(BEGIN).toISOString(),
    };
    const { rows: cursor } = await owner.query<{ position: string }>('SELECT position FROM app.usage_cursor');
    const at = Number(cursor[0]?.position);
    const rows = [
      { ...entry, cost: '0.1', failed: false },
      { ...entry, cost: '0.02', failed: true },
    ];
    expect(await foldLedger(harness.pool, at, { rows, upto: at + 2, more: false })).toBe(true);
    await owner.query('DELETE FROM app.conversation WHERE id = $1', [id]);
    expect(await foldLedger(harness.pool, at + 2, { rows: rows.slice(0, 1), upto: at + 3, more: false })).toBe(true);
    const counted = await row(id);
    expect([Number(counted.cost_usd), Number(counted.failed_calls_usd)]).toEqual([0.22, 0.02]);
  });

  it('knows its repository by host and path, however its address was written', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT app.repository_name(a) AS name FROM unnest(ARRAY['https://u:p@Git.test/Acme/Shop.git/', 'https://git.test/acme/shop', 'git.test/acme/shop', NULL]) a`,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'git.test/acme/shop',
      'git.test/acme/shop',
      'git.test/acme/shop',
      '',
    ]);
  });
});
