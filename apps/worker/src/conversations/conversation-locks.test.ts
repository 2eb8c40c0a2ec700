import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createPool, type HeldLock, type SqlPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, SilentProxy, type TestDatabase, until } from '@slipway/testing';
import fc from 'fast-check';
import { ConversationLocks } from './conversation-locks.js';

const NAMES = ['a', 'b'];
const PROCESSES = 3;

type Step =
  | {
      readonly kind: 'try' | 'release' | 'queue';
      readonly process: number;
      readonly name: string;
      readonly losing: boolean;
    }
  | { readonly kind: 'lose'; readonly process: number };

jest.setTimeout(240_000);

describe('ConversationLocks', () => {
  let database: TestDatabase;
  let owner: SqlPool;
  const open: ConversationLocks[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    for (const locks of open) await locks.close();
    await owner.end();
    await database.close();
  });
  const openLocks = (applicationName: string, databaseUrl = database.urls.app): ConversationLocks => {
    const locks = new ConversationLocks({ databaseUrl, applicationName, logger: createLogger('test', 'silent') });
    open.push(locks);
    return locks;
  };
  const end = async (applicationName: string): Promise<number> => {
    const { rowCount } = await owner.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
      [`${applicationName}-locks`],
    );
    return rowCount ?? 0;
  };
  const taken = (locks: ConversationLocks, name: string): Promise<HeldLock> =>
    until(
      `${name} can be taken`,
      async () => {
        const lock = await locks.tryLock(name).catch(() => null);
        if (lock === null) return null;
        if (!lock.signal.aborted) return lock;
        await lock.release();
        return null;
      },
      15_000,
    );

  it('abort every holder when their connection is lost, and go on over one new connection', async () => {
    const locks = openLocks('rounds');
    for (let round = 0; round < 5; round += 1) {
      const holder = await taken(locks, 'a');
      expect(await end('rounds')).toBe(1);
      await until('the holder is notified', () => holder.signal.aborted);
      const next = await taken(locks, 'b');
      await holder.release();
      expect(next.signal.aborted).toBe(false);
      await next.release();
    }
  });

  it('let a name be taken again whose holder lost it and never gave it back', async () => {
    const locks = openLocks('dropped');
    const dropped = await taken(locks, 'a');
    await end('dropped');
    await until('the holder is notified', () => dropped.signal.aborted);
    const next = await taken(locks, 'a');
    // Late, and of a lock that is another one's by now.
    await dropped.release();
    expect(await openLocks('other').tryLock('a')).toBe(null);
    await next.release();
  });

  it('of a process that is cut off are another process’s within seconds, and the one that is cut off knows before', async () => {
    const proxy = await SilentProxy.open(database.urls.app);
    try {
      const lost = await taken(openLocks('cut-off', proxy.url), 'cut');
      const other = openLocks('reached');
      proxy.silence();
      const began = performance.now();
      const noticedMs = until('the loss is noticed', () => lost.signal.aborted, 15_000).then(
        () => performance.now() - began,
      );
      await (await taken(other, 'cut')).release();
      const takenMs = performance.now() - began;
      expect(await noticedMs).toBeLessThan(takenMs);
      expect(takenMs).toBeLessThan(12_000);
    } finally {
      proxy.heal();
      await proxy.close();
    }
  });

  /**
   * Runs the steps over three processes, and checks after each what must hold. Holders that learn of a lost lock drop
   * it silently.
   */
  async function follow(run: number, steps: readonly Step[]): Promise<void> {
    const name = (process: number): string => `run${run}p${process}`;
    const processes = Array.from({ length: PROCESSES }, (_, process) => openLocks(name(process)));
    const held = new Map<string, HeldLock>();
    const key = (step: { process: number; name: string }): string => `${step.process} ${step.name}`;
    for (const step of steps) {
      const locks = processes[step.process] as ConversationLocks;
      const losing = step.kind === 'lose' || step.losing ? end(name(step.process)) : null;
      if (step.kind === 'try') {
        const lock = await locks.tryLock(step.name).catch(() => null);
        if (lock !== null) held.set(key(step), lock);
      } else if (step.kind === 'release') {
        await held.get(key(step))?.release();
        held.delete(key(step));
      } else if (step.kind === 'queue') {
        await locks.withLock(step.name, AbortSignal.timeout(5_000), async () => {}, 20).catch(() => {});
      }
      await losing;
      await until('no name has two holders', () => {
        for (const [at, lock] of held) if (lock.signal.aborted) held.delete(at);
        return NAMES.every((each) => [...held.keys()].filter((at) => at.endsWith(` ${each}`)).length <= 1);
      });
    }
    for (const lock of held.values()) await lock.release();
    for (const locks of processes) for (const each of NAMES) await (await taken(locks, each)).release();
    const left = await owner.query(
      "SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE locktype = 'advisory' AND datname = current_database()",
    );
    expect(left.rowCount).toBe(0);
    await Promise.all(processes.map((locks) => locks.close()));
  }

  const process = fc.integer({ min: 0, max: PROCESSES - 1 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constantFrom('try', 'release', 'queue'),
        process,
        name: fc.constantFrom(...NAMES),
        losing: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), process }) },
  );

  it('property: after losses at any moment no name has two holders, none is held for ever, and none is left in Postgres', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 24 }), (steps) => {
        run += 1;
        return follow(run, steps);
      }),
      { numRuns: 30, endOnFailure: true },
    );
  });
});
