import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { takeDueChecks } from '../pool/pool.queries.js';
import { ClaimTables } from '../testing/claim-tables.js';
import { activateBatch, type BindOutcome } from './bind.queries.js';
import { leaseChunk, renewLeases, returnLeases } from './lease.queries.js';
import { countWaiting, serveWaiting, watchWaiting } from './waiting.queries.js';

let tables: ClaimTables;
beforeAll(async () => {
  tables = await ClaimTables.open();
});
afterAll(() => tables.close());
beforeEach(() => tables.reset('p', 'q'));

const lease = (replica: string, count: number, held = 0) =>
  leaseChunk(tables.db, 'p', { replicaId: replica, count, held, seconds: 15 });
const slotOf = (outcome: BindOutcome | undefined): string | undefined =>
  outcome !== undefined && 'claim' in outcome ? outcome.claim.slotId : undefined;
const lapse = () =>
  tables.owner.query(`UPDATE runtime.slot SET lease_until = now() - interval '1 second' WHERE holder IS NOT NULL`);
const inUse = async (org: string) =>
  (await tables.rows<{ in_use: number }>('SELECT in_use FROM runtime.org_usage WHERE org_id = $1', [org]))[0]?.in_use;

describe('leases', () => {
  it('are of different slots for different replicas, the most recently warmed first', async () => {
    const ids = await tables.ready('p', 5);
    const chunks = await Promise.all([lease('r1', 2), lease('r2', 2)]);
    const leased = chunks.flat().map((slot) => slot.slotId);
    expect(new Set(leased).size).toBe(4);
    expect(leased).not.toContain(ids[0]);
    expect(chunks[0]?.[0]?.slotId).toBe(
      [...(chunks[0] ?? [])]
        .map((slot) => slot.slotId)
        .sort()
        .at(-1),
    );
  });

  it('are never more of a pool than the share of one replica among those that live', async () => {
    await tables.ready('p', 7);
    for (const replica of ['r1', 'r2', 'r3']) await renewLeases(tables.db, replica, [], 15);
    expect((await lease('r1', 32)).length).toBe(3);
    expect((await lease('r1', 32, 3)).length).toBe(0);
    await tables.owner.query(
      `UPDATE runtime.replica SET seen_at = now() - interval '1 minute' WHERE replica_id <> 'r1'`,
    );
    expect((await lease('r1', 32, 3)).length).toBe(4);
  });

  it('end by themselves and are then anybody else’s; they are renewed only by their holder, and only before they end', async () => {
    await tables.ready('p', 1);
    const [slot] = await lease('r1', 1);
    if (slot === undefined) throw new Error('no lease');
    expect((await renewLeases(tables.db, 'r2', [slot], 15)).kept.size).toBe(0);
    expect((await renewLeases(tables.db, 'r1', [slot], 15)).kept).toEqual(new Set([slot.slotId]));
    expect((await lease('r2', 1)).length).toBe(0);
    await lapse();
    expect((await renewLeases(tables.db, 'r1', [slot], 15)).kept.size).toBe(0);
    expect(await lease('r2', 1)).toEqual([{ ...slot, epoch: slot.epoch + 1 }]);
    expect(await returnLeases(tables.db, 'r1', [slot])).toBe(0);
  });

  it('that were given back are not their holder’s any more', async () => {
    await tables.ready('p', 1);
    const [slot] = await lease('r1', 1);
    if (slot === undefined) throw new Error('no lease');
    expect(await returnLeases(tables.db, 'r1', [slot])).toBe(1);
    const [again] = await lease('r2', 1);
    const [late] = await tables.bind([tables.request('a/1')], [slot], 'r1', 0);
    expect(late).toMatchObject({ outcome: 'quota', cap: 0 });
    expect(again?.epoch).toBe(slot.epoch + 2);
  });
});

describe('a batch of claims', () => {
  it('binds slots to sessions of many organizations in one commit, each the one that was leased for it', async () => {
    await tables.ready('p', 4);
    const slots = await lease('r1', 4);
    const outcomes = await tables.bind(
      ['b/1', 'a/2', 'a/1', 'c/1'].map((who) => tables.request(who)),
      slots,
    );
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual(['bound', 'bound', 'bound', 'bound']);
    expect(outcomes.map(slotOf)).toEqual(slots.map((slot) => slot.slotId));
    expect([await inUse('a'), await inUse('b'), await inUse('c')]).toEqual([2, 1, 1]);
    const rows = await tables.rows<{ xmin: string }>(
      'SELECT DISTINCT xmin::text FROM runtime.claim UNION SELECT DISTINCT xmin::text FROM runtime.session',
    );
    expect(rows.length).toBe(1);
    expect((await tables.rows('SELECT 1 FROM runtime.sandbox_note')).length).toBe(4);
  });

  it('takes a leased slot only as it was leased; whoever comes late gets another one in the same call', async () => {
    const [spare] = await tables.ready('p', 1);
    await tables.ready('p', 2);
    const [first, second] = await lease('r1', 2);
    if (first === undefined || second === undefined) throw new Error('no leases');
    // Over, and leased by another since; and doomed.
    await lapse();
    await lease('r2', 1);
    await tables.owner.query(`UPDATE runtime.slot SET state = 'doomed', epoch = epoch + 1 WHERE slot_id = $1`, [
      second.slotId,
    ]);
    const [late, doomed] = await tables.bind([tables.request('a/1'), tables.request('a/2')], [first, second]);
    expect([late?.lost, doomed?.lost]).toEqual([true, true]);
    // One is free; the other one is taken over, since nothing else is there.
    expect(new Set([slotOf(late), slotOf(doomed)])).toEqual(new Set([spare, first.slotId]));
    const taken = await tables.rows<{ epoch: number }>('SELECT epoch FROM runtime.slot WHERE slot_id = $1', [
      first.slotId,
    ]);
    expect(taken[0]?.epoch).toBe(first.epoch + 2);
    const [held] = await tables.bind([tables.request('a/3')], [{ ...first, epoch: first.epoch + 1 }], 'r2');
    expect(held).toMatchObject({ outcome: 'queued', lost: true });
  });

  it('counts what is bound once, and what is over the cap waits and changes nothing', async () => {
    await tables.ready('p', 9);
    await tables.owner.query(`INSERT INTO runtime.org_usage (org_id, cap) VALUES ('a', 5)`);
    const outcomes = await tables.bind([
      tables.request('a/1', { cost: 4 }),
      tables.request('a/2', { cost: 2 }),
      tables.request('a/3'),
      tables.request('b/1'),
    ]);
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual(['bound', 'queued', 'bound', 'bound']);
    expect(await inUse('a')).toBe(5);
    expect((await tables.rows(`SELECT 1 FROM runtime.session WHERE session_id = '2'`)).length).toBe(0);
  });

  it('answers the same session and body with its claim, another body with a mismatch, and an unknown one to resume with missing', async () => {
    await tables.ready('p', 3);
    const [first] = await tables.bind([tables.request('a/1')]);
    const [replay] = await tables.bind([tables.request('a/1')]);
    expect(replay).toMatchObject({
      outcome: 'replay',
      claim: { slotId: slotOf(first), claimState: 'bound', sealedKey: Buffer.from('key') },
    });
    const [mismatch] = await tables.bind([tables.request('a/1', { requestHash: 'other' })]);
    expect(mismatch).toMatchObject({ outcome: 'mismatch' });
    const [missing] = await tables.bind([tables.request('a/9', { requestHash: null, sealedEnvironment: null })]);
    expect(missing).toMatchObject({ outcome: 'missing' });
    expect((await tables.rows('SELECT 1 FROM runtime.claim')).length).toBe(1);
  });

  it('ends a claim whose activation failed and binds its session again in the same commit, within the cap', async () => {
    await tables.ready('p', 2);
    const [first] = await tables.bind([tables.request('a/1')], [], 'r1', 1);
    if (first === undefined || !('claim' in first)) throw new Error('not bound');
    const [second] = await tables.bind([tables.request('a/1', { abandon: first.claim.claimId })], [], 'r1', 1);
    expect(second).toMatchObject({ outcome: 'bound' });
    expect(slotOf(second)).not.toBe(first.claim.slotId);
    expect(await inUse('a')).toBe(1);
    expect(await tables.rows('SELECT state FROM runtime.slot ORDER BY state')).toEqual([
      { state: 'bound' },
      { state: 'releasing' },
    ]);
  });

  it('gives a pool’s slots only to those who ask for that pool, and remembers the pool with the session', async () => {
    await tables.ready('p', 1);
    const [slot] = await tables.ready('q', 1);
    const outcomes = await tables.bind([
      tables.request('a/1', { poolId: 'q' }),
      tables.request('a/2', { poolId: 'q' }),
      tables.request('a/3'),
    ]);
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual(['bound', 'queued', 'bound']);
    expect(slotOf(outcomes[0])).toBe(slot);
    expect(await tables.rows(`SELECT pool_id FROM runtime.session ORDER BY session_id`)).toEqual([
      { pool_id: 'q' },
      { pool_id: 'p' },
    ]);
  });

  it('marks claims active in one call, and none that has ended', async () => {
    await tables.ready('p', 2);
    const outcomes = await tables.bind([tables.request('a/1'), tables.request('b/1')]);
    const marks = outcomes.map((outcome, index) => {
      if (!('claim' in outcome)) throw new Error('not bound');
      const { claimId, epoch } = outcome.claim;
      return {
        orgId: index === 0 ? 'a' : 'b',
        sessionId: '1',
        claimId,
        epoch,
        address: `http://${index}`,
        workingDir: '/w',
      };
    });
    await tables.owner.query(`UPDATE runtime.claim SET state = 'lost', ended_at = now() WHERE org_id = 'b'`);
    for (const _again of [1, 2])
      expect(await activateBatch(tables.db, marks)).toMatchObject([
        { url: 'http://0', workingDir: '/w', restartCount: 0 },
        null,
      ]);
  });
});

describe('the queue', () => {
  it('keeps a place for 10 s after it was last seen, and gives whoever comes first the first sandbox', async () => {
    const [first] = await tables.bind([tables.request('a/1')]);
    const [second] = await tables.bind([tables.request('b/1')]);
    expect([first?.outcome, second?.outcome]).toEqual(['queued', 'queued']);
    const [again] = await tables.bind([tables.request('a/1')]);
    expect(again).toEqual(first);
    expect(await countWaiting(tables.db, 'p')).toBe(2);
    await tables.owner.query(`UPDATE runtime.waiting SET seen_at = now() - interval '11 seconds' WHERE org_id = 'a'`);
    expect(await countWaiting(tables.db, 'p')).toBe(1);
    await tables.ready('p', 1);
    const claimOf = (outcome: BindOutcome | undefined): string =>
      outcome?.outcome === 'queued' ? outcome.claimId : '';
    expect(await serveWaiting(tables.db, 'p')).toEqual([claimOf(second)]);
    expect(await watchWaiting(tables.db, [claimOf(first), claimOf(second)])).toEqual([claimOf(second)]);
    const [bound] = await tables.bind([tables.request('b/1')]);
    expect(bound).toMatchObject({ outcome: 'replay', claim: { claimId: claimOf(second), claimState: 'bound' } });
    expect(await inUse('b')).toBe(1);
  });

  it('lets no claim overtake: with a waiting claim, one with a leased slot queues behind it, and nothing is leased', async () => {
    await tables.bind([tables.request('a/1')]);
    await tables.ready('p', 2);
    await tables.owner.query(`UPDATE runtime.slot SET holder = 'r1', lease_until = now() + interval '1 minute'`);
    const [slot] = await tables.rows<{ slotId: string; epoch: number }>(
      'SELECT slot_id AS "slotId", epoch FROM runtime.slot ORDER BY 1 LIMIT 1',
    );
    if (slot === undefined) throw new Error('no slot');
    const [late] = await tables.bind([tables.request('b/1')], [{ ...slot, podName: '', podUid: '', address: '' }]);
    expect(late).toMatchObject({ outcome: 'queued', lost: true });
    await tables.ready('p', 1);
    expect(await lease('r1', 9)).toEqual([]);
    expect((await renewLeases(tables.db, 'r1', [], 15)).wanted).toEqual(['p']);
    // A served claim may take slots that others lease: none waits for a replica that may be dead.
    expect((await serveWaiting(tables.db, 'p')).length).toBe(2);
    expect((await tables.bind([tables.request('c/1')]))[0]).toMatchObject({ outcome: 'bound' });
  });

  it('does not hold anybody up for one who has all that he may have', async () => {
    await tables.bind([tables.request('a/1')]);
    await tables.owner.query(`UPDATE runtime.org_usage SET cap = 0 WHERE org_id = 'a'`);
    await tables.ready('p', 1);
    const [other] = await tables.bind([tables.request('b/1')]);
    expect(other).toMatchObject({ outcome: 'bound' });
  });

  it('takes those in that the limit keeps out, at most a hundred beyond it, and refuses what could never fit', async () => {
    const requests = Array.from({ length: 103 }, (_, index) => tables.request(`a/${String(index).padStart(3, '0')}`));
    const outcomes = await tables.bind(requests, [], 'r1', 2);
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual([
      ...Array.from({ length: 102 }, () => 'queued'),
      'quota',
    ]);
    expect(await tables.bind([tables.request('b/1', { cost: 4 })], [], 'r1', 2)).toMatchObject([
      { outcome: 'quota', cap: 2 },
    ]);
  });

  it('refuses another body for a session that waits, and accepts it when the first one is abandoned', async () => {
    await tables.bind([tables.request('a/1')]);
    expect((await tables.bind([tables.request('a/1', { requestHash: 'other' })]))[0]).toMatchObject({
      outcome: 'mismatch',
    });
    await tables.owner.query(`UPDATE runtime.waiting SET seen_at = now() - interval '11 seconds'`);
    expect((await tables.bind([tables.request('a/1', { requestHash: 'other' })]))[0]).toMatchObject({
      outcome: 'queued',
    });
    expect(await tables.rows('SELECT request_hash FROM runtime.waiting')).toEqual([{ request_hash: 'other' }]);
  });

  it('is not held up by a session that has got its sandbox otherwise, and answers it', async () => {
    await tables.ready('p', 1);
    const [bound] = await tables.bind([tables.request('a/1')]);
    if (bound === undefined || !('claim' in bound)) throw new Error('not bound');
    // Its other request read the queue a moment before.
    await tables.owner.query(
      `INSERT INTO runtime.waiting (org_id, session_id, pool_id, claim_id, runtime_id, request_hash, api_key, environment, cost, lane, default_cap)
       VALUES ('a', '1', 'p', 'clm_late', 'run_late', 'hash', '', '', 1, 'interactive', 10)`,
    );
    const [behind] = await tables.bind([tables.request('b/1')]);
    expect(behind).toMatchObject({ outcome: 'queued' });
    expect(await watchWaiting(tables.db, ['clm_late'])).toEqual(['clm_late']);
    await tables.ready('p', 2);
    expect((await serveWaiting(tables.db, 'p')).length).toBe(1);
    expect(await tables.rows('SELECT 1 FROM runtime.waiting')).toEqual([]);
    expect([await inUse('a'), await inUse('b')]).toEqual([1, 1]);
  });

  it('serves one to be resumed with what its session had, and none that was stopped meanwhile', async () => {
    await tables.ready('p', 2);
    const outcomes = await tables.bind([tables.request('a/1'), tables.request('a/2')]);
    for (const outcome of outcomes)
      if ('claim' in outcome)
        await tables.db.query(`SELECT runtime.release_claim('a', $1, false, 'released', 'paused', NULL)`, [
          outcome.claim.claimId,
        ]);
    const resume = { requestHash: null, sealedKey: Buffer.from('another'), sealedEnvironment: null };
    await tables.bind([tables.request('a/1', resume), tables.request('a/2', resume)]);
    await tables.owner.query(`UPDATE runtime.session SET status = 'stopped' WHERE session_id = '2'`);
    await tables.ready('p', 2);
    expect((await serveWaiting(tables.db, 'p')).length).toBe(1);
    const sessions = await tables.rows<{ key: string; environment: string }>(
      `SELECT convert_from(api_key, 'utf8') AS key, convert_from(environment, 'utf8') AS environment FROM runtime.session WHERE session_id = '1'`,
    );
    expect(sessions).toEqual([{ key: 'key', environment: 'environment' }]);
    const claims = await tables.rows(
      `SELECT request_hash FROM runtime.claim WHERE session_id = '1' AND ended_at IS NULL`,
    );
    expect(claims).toEqual([{ request_hash: 'hash' }]);
  });
});

describe('replicas side by side', () => {
  it('never lock each other out, and lose and double nothing, whatever they bind, mark, serve and release at once', async () => {
    const SESSIONS = 240;
    await tables.ready('p', SESSIONS);
    const orgs = ['a', 'b', 'c', 'd', 'e'];
    const who = Array.from({ length: SESSIONS }, (_, index) => `${orgs[index % orgs.length]}/${index}`);
    const shuffled = (): string[] => [...who].sort(() => Math.random() - 0.5);
    // Each replica claims every session, in an order of its own, in batches; and marks and releases what it gets
    // meanwhile.
    const replica = async (name: string): Promise<number> => {
      let bound = 0;
      const mine = shuffled();
      while (mine.length > 0) {
        const batch = mine.splice(0, 24);
        const slots = await leaseChunk(tables.db, 'p', { replicaId: name, count: 24, held: 0, seconds: 15 });
        const outcomes = await tables.bind(
          batch.map((each) => tables.request(each)),
          slots,
          name,
          1_000,
        );
        const marks = outcomes.flatMap((outcome, index) => {
          const [orgId = '', sessionId = ''] = (batch[index] ?? '').split('/');
          if (outcome.outcome === 'bound') bound += 1;
          return 'claim' in outcome
            ? [
                {
                  orgId,
                  sessionId,
                  claimId: outcome.claim.claimId,
                  epoch: outcome.claim.epoch,
                  address: 'http://x',
                  workingDir: '/w',
                },
              ]
            : [];
        });
        await Promise.all([
          activateBatch(tables.db, marks),
          serveWaiting(tables.db, 'p'),
          renewLeases(tables.db, name, slots, 15),
          takeDueChecks(tables.db, 'p', 0, 50),
        ]);
      }
      return bound;
    };
    const bound = await Promise.all(['r1', 'r2', 'r3', 'r4'].map(replica));
    expect(bound.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(SESSIONS);
    const [counts] = await tables.rows<{
      claims: number;
      slots: number;
      sessions: number;
      used: number;
      waiting: number;
    }>(
      `SELECT (SELECT count(*)::int FROM runtime.claim WHERE ended_at IS NULL) AS claims, (SELECT count(DISTINCT slot_id)::int FROM runtime.claim) AS slots,
         (SELECT count(*)::int FROM runtime.session) AS sessions, (SELECT sum(in_use)::int FROM runtime.org_usage) AS used, (SELECT count(*)::int FROM runtime.waiting) AS waiting`,
    );
    expect(counts).toEqual({ claims: SESSIONS, slots: SESSIONS, sessions: SESSIONS, used: SESSIONS, waiting: 0 });
  });
});
