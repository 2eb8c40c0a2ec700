import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FAIR_QUEUE_VECTORS, type FairQueueStep } from '@slipway/domain/fair-queue-vectors';
import { releaseClaim } from '../sessions/sessions.queries.js';
import { ClaimTables } from '../testing/claim-tables.js';
import { leaveQueue, serveWaiting } from './waiting.queries.js';

describe('the fair queue in Postgres: I10', () => {
  let tables: ClaimTables;
  beforeAll(async () => {
    tables = await ClaimTables.open();
  });
  afterAll(() => tables.close());

  for (const vector of FAIR_QUEUE_VECTORS)
    it(vector.name, async () => {
      await tables.reset('p');
      for (const [org, { weight, cap }] of Object.entries(vector.orgs))
        await tables.owner.query('INSERT INTO runtime.org_usage (org_id, weight, cap) VALUES ($1, $2, $3)', [
          org,
          weight,
          cap,
        ]);
      for (const step of vector.steps) await take(tables, step);
    });
});

async function take(tables: ClaimTables, step: FairQueueStep): Promise<void> {
  if ('arrive' in step) {
    for (const text of step.arrive) {
      const [id = '', cost = '', lane = ''] = text.split(':');
      const [org, session] = id.split('/');
      // By hand: a service refuses to let more wait than their caps could ever let through.
      await tables.owner.query(
        `INSERT INTO runtime.waiting (org_id, session_id, pool_id, claim_id, runtime_id, request_hash, api_key, environment, cost, lane, default_cap)
         VALUES ($1, $2, 'p', $3, $3, 'hash', '', '', $4, $5, 0)`,
        [org, session, id, cost === '' ? 1 : Number(cost), lane === '' ? 'interactive' : lane],
      );
    }
  } else if ('leave' in step) {
    for (const id of step.leave) await leaveQueue(tables.db, id.split('/')[0] ?? '', id.split('/')[1] ?? '', id);
  } else if ('end' in step) {
    for (const id of step.end)
      await releaseClaim(tables.db, id.split('/')[0] ?? '', id, {
        only: 'bound-or-active',
        end: 'released',
        session: 'paused',
        detail: null,
      });
  } else {
    await tables.ready('p', step.free);
    expect(await serveWaiting(tables.db, 'p', step.free)).toEqual(step.served);
    await tables.owner.query(`DELETE FROM runtime.slot WHERE state = 'ready'`);
    const served = await tables.rows<{ claim_id: string }>(
      'SELECT claim_id FROM runtime.claim WHERE claim_id = ANY ($1)',
      [step.served],
    );
    expect(served.length).toBe(step.served.length);
  }
}
