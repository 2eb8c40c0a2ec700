import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import {
  keyWithBudgets,
  type MoneyReplica,
  type RaceResult,
  race,
  type Stream,
  startMoneyReplica,
  stored,
} from './testing/race.js';
import { toTicks } from './ticks.js';

/** Trials of the race; more by the environment. */
const TRIALS = Number(process.env['BUDGET_RACE_TRIALS'] ?? 50);
const STREAMS = 64;

let database: TestDatabase;
let owner: SqlPool;
let replicas: MoneyReplica[];
beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.ownerUrl, max: 3, applicationName: 'test', onError: () => {} });
  replicas = await Promise.all([1, 2, 3].map(() => startMoneyReplica(database)));
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await owner.end();
  await database.close();
});

/** Reproducible: the trial's number is its seed. */
function random(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    return state / 4_294_967_296;
  };
}

async function trial(number: number): Promise<RaceResult & { orgId: string; limits: Map<number, number> }> {
  const next = random(number);
  const orgId = `org_${randomUUID()}`;
  const people = ['usr_a', 'usr_b', 'usr_c'];
  const budget = (kind: string, subject: string, limit: number): Promise<unknown> =>
    owner.query(
      `INSERT INTO gateway.budget (org_id, kind, subject, limit_usd, period) VALUES ($1, $2, $3, $4, 'month')`,
      [orgId, kind, subject, limit],
    );
  // Money for a third to all of them, and members and conversations that run out on their own.
  await budget('org', '', 2 + 8 * next());
  if (next() < 0.7) await budget('member', '', 1 + 4 * next());
  if (next() < 0.3) await budget('conversation', '', 0.5 + 2 * next());
  const keys = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      keyWithBudgets(replicas[index % 3]?.pool as SqlPool, { orgId, userId: people[index % people.length] as string }),
    ),
  );
  const { rows } = await owner.query<{ id: string; limit_usd: string }>(
    `SELECT a.id, (SELECT b.limit_usd FROM gateway.budget b WHERE b.org_id = a.org_id AND b.kind = a.kind) AS limit_usd FROM gateway.budget_account a WHERE a.org_id = $1`,
    [orgId],
  );
  const limits = new Map(rows.map(({ id, limit_usd }) => [Number(id), toTicks(Number(limit_usd))]));
  const small = next() < 0.5;
  const streams = Array.from({ length: STREAMS }, (): Stream => {
    const maxCostUsd = Math.round((0.02 + 0.3 * next()) * 1e10) / 1e10;
    return {
      replica: replicas[Math.floor(next() * 3)] as MoneyReplica,
      key: keys[Math.floor(next() * keys.length)] as Stream['key'],
      maxCostUsd,
      minCostUsd: small ? Math.round(maxCostUsd * 1e9) / 1e10 : maxCostUsd,
      share: next() < 0.2 ? 1 : next(),
      beginsAfterMs: Math.floor(12 * next()),
      lastsMs: Math.floor(10 * next()),
    };
  });
  return { ...(await race(streams, limits)), orgId, limits };
}

describe('64 streams that race at a budget over three replicas', () => {
  it(`overspend nothing, to the tick, and none is refused while there is room, in ${TRIALS} trials`, async () => {
    const total = { admitted: 0, refused: 0, falseRefusals: 0, overspent: 0 };
    for (let number = 1; number <= TRIALS; number += 1) {
      const result = await trial(number);
      expect({ number, overspent: Math.max(0, result.overspent), falseRefusals: result.falseRefusals }).toEqual({
        number,
        overspent: 0,
        falseRefusals: 0,
      });
      for (const replica of replicas) await stored(replica);
      await until('the ledger has all of it', async () => {
        const { rows } = await owner.query<{ settled: string; spent: string; over: boolean }>(
          `SELECT (SELECT coalesce(sum(l.cost_usd), 0) * 10000000000 FROM gateway.ledger l WHERE l.org_id = $1) AS settled,
             (SELECT a.spent FROM gateway.budget_account a WHERE a.org_id = $1 AND a.kind = 'org') AS spent,
             EXISTS (SELECT 1 FROM gateway.budget_account a JOIN gateway.budget b ON b.org_id = a.org_id AND b.kind = a.kind WHERE a.org_id = $1 AND a.spent > b.limit_usd * 10000000000) AS over`,
          [result.orgId],
        );
        expect(rows[0]?.over).toBe(false);
        return Number(rows[0]?.settled) === result.settled && Number(rows[0]?.spent) === result.settled;
      });
      total.admitted += result.admitted;
      total.refused += result.refused;
    }
    // Both ends of the race were reached.
    expect(total.admitted).toBeGreaterThan(TRIALS * 5);
    expect(total.refused).toBeGreaterThan(TRIALS * 5);
    if (process.env['BUDGET_RACE_TRIALS'] !== undefined)
      process.stdout.write(`${JSON.stringify({ trials: TRIALS, ...total })}\n`);
  });
});
