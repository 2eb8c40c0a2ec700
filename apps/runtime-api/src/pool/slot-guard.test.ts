import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  nextSlotState,
  SLOT_TRANSITIONS,
  type SlotState,
  type SlotTrigger,
  UNCLAIMED_SLOT_STATES as unclaimed,
} from '@slipway/domain';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import pg from 'pg';

const states = Object.keys(SLOT_TRANSITIONS) as SlotState[];

describe('the slot table in Postgres', () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.urls.runtime });
    await client.connect();
    await client.query(
      `INSERT INTO runtime.pool (pool_id, image, template, target, max_age_seconds) VALUES ('p', 'i', 't', 1, 60)`,
    );
  });
  afterAll(async () => {
    await client.end();
    await database.close();
  });

  it('allows exactly the transitions of the lifecycle, also to whoever connects as the service', async () => {
    for (const from of states)
      for (const to of states.filter((state) => state !== from)) {
        const id = `${from}-${to}`;
        await client.query(
          'INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name, state, claim_id) VALUES ($1, $2, $3, $1, $4, $5)',
          [id, 'p', 't', from, unclaimed.has(from) ? null : id],
        );
        const moved = await client
          .query(
            'UPDATE runtime.slot SET state = $2, claim_id = CASE WHEN $3 THEN claim_id ELSE coalesce(claim_id, slot_id) END WHERE slot_id = $1',
            [id, to, unclaimed.has(to) || to === 'gone'],
          )
          .then(
            () => true,
            () => false,
          );
        const triggers = Object.keys(SLOT_TRANSITIONS[from]) as SlotTrigger[];
        expect({ from, to, moved }).toEqual({
          from,
          to,
          moved: triggers.some((trigger) => nextSlotState(from, trigger) === to),
        });
      }
  });

  it('never lets a slot change its claim or its sandbox', async () => {
    await client.query(
      `INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name, pod_uid, state, claim_id) VALUES ('kept', 'p', 't', 'kept', 'uid', 'active', 'claim')`,
    );
    for (const change of [`claim_id = 'other'`, 'claim_id = NULL', `pod_uid = 'other'`])
      await expect(client.query(`UPDATE runtime.slot SET ${change} WHERE slot_id = 'kept'`)).rejects.toMatchObject({
        code: '23514',
      });
  });

  it('marks a claim active without a new entry in any index of claims and sessions', async () => {
    const { rows } = await client.query<{ definition: string }>(
      `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid IN ('runtime.claim'::regclass, 'runtime.session'::regclass)`,
    );
    expect(rows.length).toBeGreaterThan(4);
    for (const { definition } of rows)
      expect(definition).not.toMatch(/\b(state|status|status_detail|url|working_dir|changed_at)\b/);
  });

  it('shows and changes no row of another organization, even without a condition in the query', async () => {
    const insert = `INSERT INTO runtime.org_usage (org_id, in_use) VALUES ('org_a', 1)`;
    await expect(client.query(insert)).rejects.toMatchObject({ code: '42501' });
    await client.query('BEGIN');
    await client.query(`SELECT set_config('app.org', 'org_a', true)`);
    await client.query(insert);
    await client.query('COMMIT');
    expect((await client.query('SELECT * FROM runtime.org_usage')).rows).toEqual([]);
    expect((await client.query('UPDATE runtime.org_usage SET in_use = 0')).rowCount).toBe(0);
  });
});
