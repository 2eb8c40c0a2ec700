import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { releaseClaim } from '../sessions/sessions.queries.js';
import { ClaimTables } from '../testing/claim-tables.js';
import { serveWaiting } from './waiting.queries.js';

const LIMIT = 2;
const SESSIONS = ['1', '2', '3', '4', '5', '6'] as const;

/**
 * What clients, sandboxes and the pool do at the limit of one organization, in any order. Whoever was refused a sandbox
 * asks again, as worker does each second.
 */
const Step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), session: fc.constantFrom(...SESSIONS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), index: fc.nat(LIMIT - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pool' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('ask together' as const), sessions: fc.shuffledSubarray([...SESSIONS]) }),
  },
);
type Step = typeof Step extends fc.Arbitrary<infer T> ? T : never;

describe('places at the limit of an organization', () => {
  let tables: ClaimTables;
  beforeAll(async () => {
    tables = await ClaimTables.open();
  });
  afterAll(() => tables.close());

  it('property: whoever came first has the next sandbox, in whatever order they ask again and sandboxes come free', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { maxLength: 25 }), (steps) => run(tables, steps, true)),
      { numRuns: 60 },
    );
  }, 300_000);

  it('the property finds the rule of before: whoever is refused takes no place, and asks again', async () => {
    const broken = fc.check(
      fc.asyncProperty(fc.array(Step, { minLength: 5, maxLength: 25 }), (steps) => run(tables, steps, false)),
      { numRuns: 200 },
    );
    expect((await broken).failed).toBe(true);
  });
});

/** @param keepsPlaces the variant without forgets the position of each queued one, as an answer `sandbox.quota` did. */
async function run(tables: ClaimTables, steps: readonly Step[], keepsPlaces: boolean): Promise<void> {
  await tables.reset('p');
  await tables.owner.query(`INSERT INTO runtime.org_usage (org_id, cap) VALUES ('a', ${LIMIT})`);
  await tables.ready('p', 100);
  /** Sessions that wait, in the order in which they came. */
  const waiting: string[] = [];
  const holders = new Map<string, string>();
  const got = (session: string, claimId: string): void => {
    expect({ served: session, first: waiting[0] ?? session }).toEqual({ served: session, first: session });
    waiting.shift();
    holders.set(session, claimId);
  };
  const ask = async (sessions: readonly string[]): Promise<void> => {
    const outcomes = await tables.bind(sessions.map((session) => tables.request(`a/${session}`)));
    for (const [index, outcome] of outcomes.entries()) {
      const session = sessions[index] as string;
      if (outcome.outcome === 'bound') got(session, outcome.claim.claimId);
      else if (outcome.outcome === 'queued' && !waiting.includes(session)) waiting.push(session);
    }
    if (!keepsPlaces) await tables.owner.query('DELETE FROM runtime.waiting');
  };
  for (const step of steps) {
    if (step.kind === 'ask') await ask([step.session]);
    // At the same moment there is no first; the database sorts them.
    else if (step.kind === 'ask together') await ask([...step.sessions].sort());
    else if (step.kind === 'end') {
      const [session, claimId] = [...holders][step.index] ?? [];
      if (session === undefined || claimId === undefined) continue;
      await releaseClaim(tables.db, 'a', claimId, {
        only: 'bound-or-active',
        end: 'released',
        session: 'paused',
        detail: null,
      });
      holders.delete(session);
    } else {
      for (const claimId of await serveWaiting(tables.db, 'p')) {
        const [row] = await tables.rows<{ session_id: string }>(
          'SELECT session_id FROM runtime.claim WHERE claim_id = $1',
          [claimId],
        );
        got(row?.session_id ?? '', claimId);
      }
    }
    expect(holders.size).toBeLessThanOrEqual(LIMIT);
  }
}
