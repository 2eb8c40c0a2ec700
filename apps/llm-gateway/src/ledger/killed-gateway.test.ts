import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import {
  type BilledTurn,
  type BillingServer,
  createTestDatabase,
  freePort,
  startBillingServer,
  type TestDatabase,
  until,
} from '@slipway/testing';
import { oldCalls, recordCalls } from './open-calls.queries.js';

const MASTER = 'master-key-of-the-tests-0123456789abcdef';
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const MODEL = 'gpt-4o';
/** As the catalogue has it. */
const PRICE = { input: 2.5, cachedInput: 1.25, output: 10 };
/** More than the gateway hears of. */
const WORK = { hiddenTokens: 900 };
const TURNS: readonly BilledTurn[] = [
  { fault: 'hang-mid-stream', text: 'half of an', work: WORK },
  { fault: 'hang', work: WORK },
  { text: 'a whole answer' },
  { text: 'a slow answer of many pieces '.repeat(40), chunkLength: 1, chunkDelayMs: 20, work: WORK },
];

let database: TestDatabase;
let owner: SqlPool;
let provider: BillingServer;
let directory: string;
const started: ChildProcess[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'test', onError: () => {} });
  provider = await startBillingServer({
    models: { [MODEL]: PRICE },
    script: ({ number }) => TURNS[number % TURNS.length] as BilledTurn,
  });
  directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-gateway-'));
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await provider.close();
  await owner.end();
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

interface Running {
  readonly url: string;
  kill(): Promise<void>;
}

async function start(env: Record<string, string>): Promise<Running> {
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PORT: String(port),
      DATABASE_URL: database.urls.gateway,
      LLM_GATEWAY_MASTER_KEY: MASTER,
      LLM_BASE_URL: provider.url,
      LLM_MODEL: MODEL,
      LOG_LEVEL: 'fatal',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  started.push(child);
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  await until('it is ready', async () => (await fetch(`${url}/ready`)).status === 200, 60_000);
  return {
    url,
    kill: () => {
      child.kill('SIGKILL');
      return exit;
    },
  };
}

const post = (url: string, body: unknown, key: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function keyOf({ url }: Running, orgId: string, limits: object): Promise<string> {
  const response = await post(
    `${url}/key/generate`,
    { metadata: { org_id: orgId, conversation_id: randomUUID() }, ...limits },
    MASTER,
  );
  return ((await response.json()) as { key: string }).key;
}

/** Calls of one key at once. */
const CALLERS = 8;

/** Calls that never stop by themselves. */
function keepCalling({ url }: Running, key: string): void {
  const call = async (): Promise<void> => {
    const response = await post(
      `${url}/v1/chat/completions`,
      { model: MODEL, stream: true, max_tokens: 1_000, messages: [{ role: 'user', content: 'hi' }] },
      key,
    );
    await response.text();
    await call();
  };
  // A killed gateway ends them.
  for (let index = 0; index < CALLERS; index += 1) void call().catch(() => {});
}

interface Charged {
  readonly usd: number;
  readonly source: string;
  readonly status: string;
}

const tracesSince = (from: number) =>
  provider.requests.slice(from).map(({ headers }) => String(headers['traceparent']).split('-')[1]);

/** Rows of the ledger by the trace that the provider saw, once all that were billed since `from` are there. */
async function ledgerOf(from: number): Promise<Array<{ billed: number; charged: Charged }>> {
  const traces = tracesSince(from);
  const { calls } = provider.bill();
  return until('each call that was billed is in the ledger', async () => {
    const { rows } = await owner.query<{ trace_id: string; cost_usd: string; usage_source: string; status: string }>(
      'SELECT trace_id, cost_usd, usage_source, status FROM gateway.ledger WHERE trace_id = ANY ($1)',
      [traces],
    );
    const charged = new Map(
      rows.map((row) => [row.trace_id, { usd: Number(row.cost_usd), source: row.usage_source, status: row.status }]),
    );
    expect(rows.length).toBe(charged.size);
    const found = traces.map((trace, index) => ({
      billed: calls[from + index]?.usd ?? Number.NaN,
      charged: charged.get(trace ?? ''),
    }));
    return found.every((each): each is { billed: number; charged: Charged } => each.charged !== undefined)
      ? found
      : null;
  });
}

function expectCovered(found: ReadonlyArray<{ billed: number; charged: Charged }>): void {
  for (const { billed, charged } of found) expect(charged.usd).toBeGreaterThanOrEqual(billed);
  expect(
    found.filter(({ charged }) => charged.status === 'failed' && charged.source === 'estimated').length,
  ).toBeGreaterThanOrEqual(8);
}

/** What a budget shows is what the ledger says, and nothing of it is held. */
async function expectExact(orgId: string): Promise<void> {
  const { rows } = await owner.query(
    `SELECT a.spent::text AS spent, (SELECT sum(l.cost_usd) * 10000000000 FROM gateway.ledger l WHERE l.org_id = $1)::bigint::text AS ledger,
       (SELECT count(*)::int FROM gateway.open_call c WHERE c.org_id = $1) AS open
     FROM gateway.budget_account a WHERE a.org_id = $1 AND a.kind = 'org'`,
    [orgId],
  );
  expect(rows).toEqual([{ spent: (rows[0] as { ledger: string }).ledger, ledger: expect.any(String), open: 0 }]);
}

async function orgWithBudget(): Promise<string> {
  const orgId = `org_${randomUUID()}`;
  await owner.query(
    `INSERT INTO gateway.budget (org_id, kind, subject, limit_usd, period) VALUES ($1, 'org', '', 500, 'month')`,
    [orgId],
  );
  return orgId;
}

/** Calls of a key with a budget and of one without. */
async function load(gateway: Running): Promise<string> {
  const orgId = await orgWithBudget();
  keepCalling(gateway, await keyOf(gateway, orgId, {}));
  keepCalling(gateway, await keyOf(gateway, `org_${randomUUID()}`, {}));
  return orgId;
}

const arrived = (from: number, count: number): Promise<boolean> =>
  until('the provider has work', () => Promise.resolve(provider.requests.length >= from + count), 60_000);

describe('a gateway that is killed in the middle of calls', () => {
  it('has each call that the provider billed in the ledger after its next start, at no less than the bill', async () => {
    const env = { DATA_DIR: path.join(directory, 'one') };
    const from = provider.requests.length;
    const first = await start(env);
    const orgId = await load(first);
    await arrived(from, 24);
    await first.kill();
    await start(env);
    expectCovered(await ledgerOf(from));
    await until(
      'nothing is open',
      async () => (await owner.query('SELECT 1 FROM gateway.open_call')).rows.length === 0,
    );
    await expectExact(orgId);
  });

  it('killed again and again at any moment loses none', async () => {
    const env = { DATA_DIR: path.join(directory, 'two') };
    const from = provider.requests.length;
    for (let life = 0; life < 4; life += 1) {
      const gateway = await start(env);
      // Half of the turns hang: no more than 32 calls begin in one process.
      const before = provider.requests.length;
      await load(gateway);
      await arrived(before, 5 * (life + 1));
      await gateway.kill();
    }
    await start(env);
    expectCovered(await ledgerOf(from));
  });

  it('and never comes back: another replica settles its calls when its time is over', async () => {
    const from = provider.requests.length;
    const gateway = await start({ DATA_DIR: path.join(directory, 'lost') });
    const orgId = await load(gateway);
    await arrived(from, 18);
    // Every caller comes to a turn that hangs. Then nothing begins any more: what folder and process lose together is a
    // call of the last 25 ms, and the row of one that ended in the last 50 ms.
    const hanging = await until(
      'every caller hangs, and every call is recorded, as open or as ended',
      async () => {
        const { rows } = await owner.query<{ replica: string }>(
          'SELECT replica FROM gateway.open_call WHERE replica IN (SELECT replica FROM gateway.open_call WHERE org_id = $1)',
          [orgId],
        );
        const ended = await owner.query('SELECT 1 FROM gateway.ledger WHERE trace_id = ANY ($1)', [tracesSince(from)]);
        return rows.length === 2 * CALLERS && rows.length + ended.rows.length === provider.requests.length - from
          ? rows
          : null;
      },
      60_000,
    );
    await gateway.kill();
    await rm(path.join(directory, 'lost'), { recursive: true });
    const lost = [...new Set(hanging.map(({ replica }) => replica))];
    // As if the time had passed for which its holds live.
    await owner.query(
      `UPDATE gateway.budget_replica SET beat_at = now() - interval '1 hour' WHERE id = ANY ($1::uuid[])`,
      [lost],
    );
    await start({ DATA_DIR: path.join(directory, 'other') });
    const found = await ledgerOf(from);
    expectCovered(found);
    await expectExact(orgId);
  });

  it('without a folder of its own has recorded each call in Postgres before it was sent', async () => {
    const from = provider.requests.length;
    const gateway = await start({});
    const orgId = await load(gateway);
    await arrived(from, 24);
    await gateway.kill();
    await owner.query(`UPDATE gateway.budget_replica SET beat_at = now() - interval '1 hour'`);
    await start({ DATA_DIR: path.join(directory, 'next') });
    expectCovered(await ledgerOf(from));
    await expectExact(orgId);
  });

  it('finds the records of one replica by their age, until they are removed', async () => {
    const pool = createPool({ url: database.urls.gateway, max: 1, applicationName: 'test', onError: () => {} });
    try {
      const [replica, another, id] = [randomUUID(), randomUUID(), randomUUID()];
      await owner.query(
        `INSERT INTO gateway.open_call (id, org_id, replica, recorded_at, entry) VALUES ($1, 'org_1', $2, now() - interval '1 minute', '{}')`,
        [id, replica],
      );
      expect(await oldCalls(pool, replica, 30)).toEqual([id]);
      expect(await oldCalls(pool, replica, 90)).toEqual([]);
      expect(await oldCalls(pool, another, 30)).toEqual([]);
      await recordCalls(pool, [], [id]);
      expect(await oldCalls(pool, replica, 30)).toEqual([]);
    } finally {
      await pool.end();
    }
  });
});
