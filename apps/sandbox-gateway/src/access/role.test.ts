import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import {
  isSpenderApplied,
  liveGrants,
  noteUse,
  redeemTicket,
  requestChargePass,
  spendThrough,
  steerThrough,
} from './grants.queries.js';

describe('the role slipway_sandbox', () => {
  let database: TestDatabase;
  let owner: SqlPool;
  let pool: SqlPool;
  const conversation = randomUUID();
  const ticket = createHash('sha256').update('ticket').digest();

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'test', onError: () => {} });
    pool = createPool({ url: database.urls.sandbox, max: 1, applicationName: 'test', onError: () => {} });
    await owner.query("INSERT INTO app.org (id, slug, name, kind) VALUES ('org', 'org', 'org', 'team')");
    await owner.query(
      "INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at) VALUES ('ses', 'usr', 'sealed', now(), now() + interval '1 day')",
    );
    await owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ('org', 'usr', 'member')");
    await owner.query(
      "INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, 'org', 'u', 'u', 't', 'm')",
      [conversation],
    );
    await owner.query(
      `INSERT INTO app.sandbox_grant (id, org_id, user_id, session_id, conversation_id, port, ticket_hash, ticket_expires_at, expires_at)
       VALUES ('sbx', 'org', 'usr', 'ses', $1, 8000, $2, now() + interval '30 s', now() + interval '1 hour')`,
      [conversation, ticket],
    );
  });
  afterAll(async () => {
    await pool?.end();
    await owner?.end();
    await database?.close();
  });

  it('finds the grants that hold, by a sign-in that its organization still takes, and spends a ticket once', async () => {
    const found = async (): Promise<string[]> => (await liveGrants(pool, ['sbx', 'none'])).map(({ id }) => id);
    expect(await found()).toEqual(['sbx']);
    await owner.query('UPDATE app.org SET second_factor = true');
    expect(await found()).toEqual([]);
    await owner.query('UPDATE app.org SET second_factor = false, session_idle_minutes = 5');
    expect(await found()).toEqual(['sbx']);
    expect(await redeemTicket(pool, ticket, conversation, 8001)).toBe(null);
    expect(await redeemTicket(pool, ticket, conversation, 8000)).toBe('sbx');
    expect(await redeemTicket(pool, ticket, conversation, 8000)).toBe(null);
  });

  it('does the same as slipway_app does, as which gateways of the version before come', async () => {
    const app = createPool({ url: database.urls.app, max: 1, applicationName: 'test', onError: () => {} });
    try {
      expect(await liveGrants(app, ['sbx'])).toEqual(await liveGrants(pool, ['sbx']));
      expect(await redeemTicket(app, ticket, conversation, 8000)).toBe(null);
    } finally {
      await app.end();
    }
  });

  it('notes when an access was used, and never makes that older', async () => {
    const age = async (): Promise<number> =>
      Number(
        (await owner.query("SELECT extract(epoch FROM now() - used_at) AS age FROM app.sandbox_grant WHERE id = 'sbx'"))
          .rows[0].age,
      );
    for (const [noted, kept] of [
      [30, 30],
      [5, 5],
      [60, 5],
    ] as const) {
      await noteUse(pool, [
        ['sbx', noted],
        ['none', noted],
      ]);
      expect(Math.abs((await age()) - kept)).toBeLessThan(4);
    }
    const app = createPool({ url: database.urls.app, max: 1, applicationName: 'test', onError: () => {} });
    try {
      await noteUse(app, [['sbx', 0]]);
      expect(await age()).toBeLessThan(4);
    } finally {
      await app.end();
    }
  });

  it('says who pays for a conversation: the holder of an access to its agent-server, and no user that a compromised gateway would choose', async () => {
    const written = async (): Promise<unknown> =>
      (
        await owner.query('SELECT user_id, applied FROM app.conversation_spender WHERE conversation_id = $1', [
          conversation,
        ])
      ).rows[0];
    expect(await spendThrough(pool, 'sbx', false)).toEqual({ stop: null, applied: true });
    expect(await written()).toBeUndefined();
    expect(await spendThrough(pool, 'sbx', true)).toEqual({ stop: null, applied: false });
    expect([await written(), await isSpenderApplied(pool, conversation)]).toEqual([
      { user_id: 'usr', applied: null },
      false,
    ]);
    await owner.query(`UPDATE app.conversation_spender SET applied = '["usr","U",null]'`);
    expect([await spendThrough(pool, 'sbx', true), await isSpenderApplied(pool, conversation)]).toEqual([
      { stop: null, applied: true },
      true,
    ]);
    // Worker has changed the user and was not yet acknowledged: what stands there is another's.
    await owner.query(`UPDATE app.conversation_spender SET applied = '["other","O",null]'`);
    expect(await spendThrough(pool, 'sbx', true)).toEqual({ stop: null, applied: false });
    expect(await spendThrough(pool, 'none', true)).toBeNull();
    for (const statement of [
      `UPDATE app.conversation_spender SET user_id = 'victim', applied = NULL`,
      `UPDATE app.conversation_spender SET applied = '["usr","U",null]'`,
      `BEGIN; SET LOCAL app.org = 'org'; UPDATE app.conversation_spender SET user_id = 'victim'; COMMIT`,
    ])
      await expect(pool.query(statement))
        .rejects.toThrow(/row-level security/)
        .finally(() => pool.query('ROLLBACK'));
    await expect(pool.query('DELETE FROM app.conversation_spender')).rejects.toThrow(/permission denied/);
    await owner.query("UPDATE app.sandbox_grant SET port = 12000 WHERE id = 'sbx'");
    expect(await spendThrough(pool, 'sbx', true)).toBeNull();
    await owner.query("UPDATE app.sandbox_grant SET port = 8000 WHERE id = 'sbx'");
  });

  it('says that the holder of an access steers, whoever a gateway that was taken over would choose, and takes none of it back', async () => {
    expect([
      await steerThrough(pool, 'none', 5),
      await steerThrough(pool, 'sbx', 60),
      await steerThrough(pool, 'sbx', 1),
    ]).toEqual([false, true, true]);
    const { rows } = await owner.query(
      "SELECT user_id, until > now() + interval '50 s' AS longest FROM app.sandbox_steering WHERE conversation_id = $1",
      [conversation],
    );
    expect(rows).toEqual([{ user_id: 'usr', longest: true }]);
    const insert = `INSERT INTO app.sandbox_steering (conversation_id, user_id, org_id, until) VALUES ($1, 'victim', 'org', now() + interval '1 hour')`;
    await expect(pool.query(insert, [conversation])).rejects.toThrow(/row-level security/);
    await expect(pool.query("UPDATE app.sandbox_steering SET until = now() - interval '1 hour'")).rejects.toThrow(
      /row-level security/,
    );
    for (const statement of ['DELETE FROM app.sandbox_steering', "UPDATE app.sandbox_steering SET user_id = 'victim'"])
      await expect(pool.query(statement)).rejects.toThrow(/permission denied/);
  });

  it('asks for a pass that counts for the holder of an access, and for no user that a compromised gateway would choose', async () => {
    const hash = createHash('sha256').update('pass').digest();
    expect([await requestChargePass(pool, 'none', hash), await requestChargePass(pool, 'sbx', hash)]).toEqual([
      false,
      true,
    ]);
    const { rows } = await owner.query('SELECT user_id, conversation_id FROM app.charge_pass_request WHERE hash = $1', [
      hash,
    ]);
    expect(rows).toEqual([{ user_id: 'usr', conversation_id: conversation }]);
    const insert = `INSERT INTO app.charge_pass_request (hash, org_id, conversation_id, user_id, user_label) VALUES (sha256('x'), 'org', $1, 'victim', 'V')`;
    await expect(pool.query(insert, [conversation])).rejects.toThrow(/row-level security/);
    for (const statement of [
      'DELETE FROM app.charge_pass_request',
      "UPDATE app.charge_pass_request SET user_id = 'victim'",
      'SELECT user_id FROM app.charge_pass_request',
    ])
      await expect(pool.query(statement)).rejects.toThrow(/permission denied/);
    await owner.query("UPDATE app.sandbox_grant SET port = 12000 WHERE id = 'sbx'");
    expect(await requestChargePass(pool, 'sbx', createHash('sha256').update('other').digest())).toBe(false);
    await owner.query("UPDATE app.sandbox_grant SET port = 8000 WHERE id = 'sbx'");
  });

  it('learns that a budget is used up: the user’s own, or the organization’s, and none that has begun again', async () => {
    const stop = (user: string, until: string): Promise<unknown> =>
      owner.query(
        `INSERT INTO app.budget_stop (org_id, user_id, limit_usd, until) VALUES ('org', $1, 5, now() + $2::interval)`,
        [user, until],
      );
    await stop('usr', '-1 s');
    await stop('somebody', '1 day');
    expect((await spendThrough(pool, 'sbx', false))?.stop).toBeNull();
    await owner.query("UPDATE app.budget_stop SET until = now() + interval '1 day' WHERE user_id = 'usr'");
    expect((await spendThrough(pool, 'sbx', true))?.stop).toMatchObject({ whose: 'usr', limitUsd: '5' });
    await stop('', '1 day');
    expect((await spendThrough(pool, 'sbx', false))?.stop).toMatchObject({ whose: null });
    await owner.query('DELETE FROM app.budget_stop');
  });

  it('can do nothing else: no other table or column, no row made, changed or taken away, no other role', async () => {
    for (const statement of [
      'SELECT tokens FROM app.session',
      'SELECT title FROM app.conversation',
      'SELECT email FROM app.user_account',
      'SELECT hash FROM app.api_key',
      'SELECT 1 FROM app.event',
      'SELECT 1 FROM app.secret',
      'SELECT 1 FROM runtime.runtime',
      'SELECT 1 FROM gateway.virtual_key',
      "UPDATE app.membership SET role = 'owner'",
      "UPDATE app.sandbox_grant SET expires_at = now() + interval '1 year'",
      'DELETE FROM app.sandbox_grant',
      "INSERT INTO app.sandbox_grant (id, org_id) VALUES ('x', 'org')",
      'CREATE TABLE app.mine (id int)',
      'SET ROLE slipway_app_system',
      'SET ROLE slipway_app',
    ])
      await expect(pool.query(statement)).rejects.toThrow(/permission denied/);
    const { rows } = await owner.query<{ what: string }>(
      `SELECT DISTINCT table_schema || '.' || table_name || ' ' || privilege_type AS what FROM information_schema.column_privileges WHERE grantee = 'slipway_sandbox' ORDER BY 1`,
    );
    expect(rows.map(({ what }) => what)).toEqual([
      'app.api_key SELECT',
      'app.budget_stop SELECT',
      'app.charge_pass_request INSERT',
      'app.charge_pass_request SELECT',
      'app.conversation SELECT',
      'app.conversation_spender INSERT',
      'app.conversation_spender SELECT',
      'app.conversation_spender UPDATE',
      'app.membership SELECT',
      'app.org SELECT',
      'app.sandbox_grant SELECT',
      'app.sandbox_grant UPDATE',
      'app.sandbox_steering INSERT',
      'app.sandbox_steering SELECT',
      'app.sandbox_steering UPDATE',
      'app.service_account SELECT',
      'app.session SELECT',
      'app.user_account SELECT',
    ]);
  });
});
