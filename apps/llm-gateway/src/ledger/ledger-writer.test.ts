import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createLogger, type Logger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import { afterTest } from '@slipway/testing/jest';
import { insertLedgerEntries } from './ledger.queries.js';
import type { LedgerInput } from './ledger-entry.js';
import { LedgerSpool } from './ledger-spool.js';
import { LedgerWriter } from './ledger-writer.js';

let database: TestDatabase;
let pool: SqlPool;
let owner: SqlPool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.urls.gateway, max: 2, applicationName: 'test', onError: () => {} });
  owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'test', onError: () => {} });
});
afterAll(async () => {
  await pool.end();
  await owner.end();
  await database.close();
});

const entry = (conversationId: string, more: Partial<LedgerInput> = {}): LedgerInput => ({
  id: randomUUID(),
  orgId: 'org_1',
  conversationId,
  keyId: 'key_1',
  userId: null,
  requestId: 'req_1',
  traceId: '0'.repeat(32),
  model: 'm',
  promptTokens: 3,
  completionTokens: 2,
  cachedTokens: 1,
  usageSource: 'reported',
  costUsd: 0.000_000_1,
  costKnown: true,
  status: 'ok',
  errorCode: null,
  streamed: true,
  startedAt: '2026-11-21T12:00:00.000Z',
  firstByteMs: 1.5,
  latencyMs: 2.5,
  ...more,
});

/** Postgres that can be taken away, and a log that can be read. */
function setUp(options: { maxPending?: number; spool?: LedgerSpool } = {}): {
  writer: LedgerWriter;
  database: { up: boolean };
  logged: Array<Record<string, unknown>>;
} {
  const state = { up: true };
  const logged: Array<Record<string, unknown>> = [];
  const logger = createLogger('test', 'silent');
  const listening = Object.assign(Object.create(logger) as Logger, {
    error: (line: Record<string, unknown>) => void logged.push(line),
    info: () => {},
    warn: () => {},
  });
  const writer = new LedgerWriter({
    store: async (entries) => {
      if (!state.up) throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
      await insertLedgerEntries(pool, entries);
    },
    spool: options.spool ?? null,
    logger: listening,
    ...(options.maxPending === undefined ? {} : { maxPending: options.maxPending }),
  });
  return { writer, database: state, logged };
}

async function stored(conversationId: string): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM gateway.ledger WHERE conversation_id = $1',
    [conversationId],
  );
  return rows[0]?.n ?? -1;
}

async function folder(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-ledger-'));
  afterTest(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

describe('the ledger writer', () => {
  it('stores many calls in few commits, each once, with its exact cost', async () => {
    const id = randomUUID();
    const { writer } = setUp();
    for (let index = 0; index < 1_234; index += 1) writer.add(entry(id));
    await until('all are stored', async () => (await stored(id)) === 1_234);
    const { rows } = await owner.query<{ sum: string }>(
      'SELECT sum(cost_usd)::text AS sum FROM gateway.ledger WHERE conversation_id = $1',
      [id],
    );
    expect(rows[0]?.sum).toBe('0.0001234000');
  });

  it('stores an entry once when the answer to its commit was lost and it is sent again', async () => {
    const id = randomUUID();
    const one = entry(id);
    await insertLedgerEntries(pool, [one]);
    await insertLedgerEntries(pool, [one, entry(id)]);
    expect(await stored(id)).toBe(2);
  });

  it('keeps entries while Postgres is away and stores them when it is back', async () => {
    const id = randomUUID();
    const { writer, database: state } = setUp();
    state.up = false;
    for (let index = 0; index < 20; index += 1) writer.add(entry(id));
    expect(await writer.flush()).toBe(false);
    expect(await stored(id)).toBe(0);
    state.up = true;
    await until('all are stored', async () => (await stored(id)) === 20);
    expect(writer.size).toBe(0);
  });

  it('without a disk writes what has no room, or no time left, whole into the log', async () => {
    const id = randomUUID();
    const { writer, database: state, logged } = setUp({ maxPending: 5 });
    state.up = false;
    const entries = Array.from({ length: 8 }, () => entry(id));
    for (const one of entries) writer.add(one);
    await writer.close(10);
    const ids = logged.flatMap((line) =>
      line['ledger_entry'] === undefined ? [] : [(line['ledger_entry'] as LedgerInput).id],
    );
    expect(new Set(ids)).toEqual(new Set(entries.map((one) => one.id)));
  });

  it('answers who asks for what is there that it is stored, also when a batch without it is under way', async () => {
    const [batches, gate] = [[] as number[], Promise.withResolvers<void>()];
    const store = async (entries: readonly LedgerInput[]): Promise<void> => {
      batches.push(entries.length);
      if (batches.length === 1) await gate.promise;
    };
    const writer = new LedgerWriter({ store, spool: null, logger: createLogger('test', 'silent') });
    writer.add(entry('a'));
    const first = writer.flush();
    await until('the first batch is under way', () => batches.length === 1);
    writer.add(entry('b'));
    const both = [writer.flush(), writer.flush()];
    gate.resolve();
    expect(await Promise.all([first, ...both])).toEqual([true, true, true]);
    expect([batches, writer.size]).toEqual([[1, 1], 0]);
    await writer.close(5_000);
  });

  it('never lets one entry that Postgres refuses hold up the others', async () => {
    const id = randomUUID();
    const { writer, logged } = setUp();
    const bad = entry(id, { model: 'a\u0000b' });
    for (const one of [entry(id), bad, entry(id)]) writer.add(one);
    await writer.close(5_000);
    expect(await stored(id)).toBe(2);
    expect(logged.map((line) => (line['ledger_entry'] as LedgerInput | undefined)?.id)).toEqual([bad.id]);
  });
});

describe('the ledger writer with a disk', () => {
  it('leaves no file behind when all is stored', async () => {
    const [id, directory] = [randomUUID(), await folder()];
    const { writer } = setUp({ spool: new LedgerSpool(directory, () => {}) });
    await writer.recover();
    for (let index = 0; index < 30; index += 1) {
      writer.add(entry(id));
      if (index % 7 === 0) await writer.flush();
    }
    await writer.close(5_000);
    expect(await stored(id)).toBe(30);
    expect(await readdir(directory)).toEqual([]);
  });

  it('stores after a restart what was on disk when it was killed, each once, with a line that was cut off', async () => {
    const [id, directory] = [randomUUID(), await folder()];
    const first = setUp({ spool: new LedgerSpool(directory, () => {}) });
    await first.writer.recover();
    first.database.up = false;
    for (let index = 0; index < 10; index += 1) first.writer.add(entry(id));
    await until('they are on disk', async () => (await readdir(directory)).length > 0);
    await first.writer.flush();
    const [file = ''] = await readdir(directory);
    await appendFile(path.join(directory, file), '{"id":"cut');
    const errors: unknown[] = [];
    const second = setUp({ spool: new LedgerSpool(directory, (error) => errors.push(error)) });
    await second.writer.recover();
    await until('they are stored', async () => (await stored(id)) === 10);
    await until('the file is gone', async () => (await readdir(directory)).length === 0);
    expect(errors.map(String)).toEqual([expect.stringContaining('cut off')]);
    // The first process comes back and sends the same entries: they are there once.
    first.database.up = true;
    await first.writer.close(5_000);
    expect(await stored(id)).toBe(10);
  });

  it('keeps on disk what has no room in memory, and stores it when Postgres is back', async () => {
    const [id, directory] = [randomUUID(), await folder()];
    const { writer, database: state, logged } = setUp({ spool: new LedgerSpool(directory, () => {}), maxPending: 5 });
    await writer.recover();
    state.up = false;
    for (let index = 0; index < 40; index += 1) writer.add(entry(id));
    await writer.flush();
    expect(writer.size).toBe(5);
    state.up = true;
    await writer.close(10_000);
    expect(await stored(id)).toBe(40);
    expect(await readdir(directory)).toEqual([]);
    expect(logged.every((line) => line['ledger_entry'] === undefined)).toBe(true);
  });

  it('goes on without a disk that fails', async () => {
    const id = randomUUID();
    const errors: unknown[] = [];
    const { writer } = setUp({ spool: new LedgerSpool('/proc/nothing', (error) => errors.push(error)) });
    writer.add(entry(id));
    await until('it is stored', async () => (await stored(id)) === 1);
    expect(errors.length).toBeGreaterThan(0);
    await writer.close(100);
  });
});
