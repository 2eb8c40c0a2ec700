import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Principal } from '@slipway/contracts/organizations';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { auditOf } from './audit-statement.js';
import { verifyChain } from './verify-chain.js';

const MIGRATION = new URL('../../../../prisma/app/migrations/20261122056000_audit/migration.sql', import.meta.url);

const caller = (orgId: string): Pick<Principal, 'orgId' | 'actor'> => ({
  orgId,
  actor: { kind: 'user', id: 'usr_1', label: 'Ada' },
});

describe('the chain of the audit', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 10, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await pool?.end();
    await database?.close();
  });

  const record = (orgId: string, target: string, fails = false): Promise<void> =>
    inOrg(pool, orgId, async (client) => {
      await client.query(auditOf(randomUUID(), caller(orgId), { action: 'thing.do', target, after: { name: target } }));
      if (fails) throw new Error('undone');
    });

  it('has one link an entry, without a gap, each over the one before, however many are written at once', async () => {
    const orgs = ['org_a', 'org_b'];
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        record(orgs[index % 2] as string, `t${index}`, index % 5 === 0).catch(() => {}),
      ),
    );
    for (const org of orgs) {
      const { rows } = await inOrg(pool, org, (client) =>
        client.query<{ seq: number; previous: Buffer; hash: Buffer; again: Buffer }>(
          `SELECT c.seq, c.previous, c.hash, app.audit_hash(c.previous, c.seq, e) AS again FROM app.audit_chain c JOIN app.audit_entry e ON e.id = c.entry_id ORDER BY c.seq`,
        ),
      );
      expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
      let previous: Buffer = Buffer.alloc(0);
      for (const row of rows) {
        expect(row.previous).toEqual(previous);
        expect(row.hash).toEqual(row.again);
        expect(row.hash.length).toBe(32);
        previous = row.hash;
      }
      const { rows: entries } = await inOrg(pool, org, (client) =>
        client.query<{ n: number }>('SELECT count(*)::int AS n FROM app.audit_entry'),
      );
      expect(entries).toEqual([{ n: 16 }]);
    }
  });

  it('gets the entries that are older than it at its end, oldest first, and each once', async () => {
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    try {
      const org = 'org_older';
      await record(org, 'new');
      await owner.query(`BEGIN; SET LOCAL session_replication_role = 'replica';
        INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, action, target, created_at)
          SELECT gen_random_uuid(), '${org}', 'user', 'u', 'thing.do', 'old' || i, now() - i * interval '1 hour' FROM generate_series(1, 5) i; COMMIT`);
      const sql = await readFile(MIGRATION, 'utf8');
      for (let time = 0; time < 2; time += 1)
        await owner.query(sql.slice(sql.indexOf('ALTER TABLE app.audit_entry NO FORCE')));
      const { rows } = await owner.query<{ target: string }>(
        'SELECT e.target FROM app.audit_chain c JOIN app.audit_entry e ON e.id = c.entry_id WHERE c.org_id = $1 ORDER BY c.seq',
        [org],
      );
      expect(rows.map(({ target }) => target)).toEqual(['new', 'old5', 'old4', 'old3', 'old2', 'old1']);
      expect(await verifyChain((work) => inOrg(pool, org, work), org)).toMatchObject({ ok: true, checked: { seq: 6 } });
      const { rows: forced } = await owner.query(
        'SELECT relforcerowsecurity AS forced FROM pg_class WHERE relname IN ($1, $2)',
        ['audit_entry', 'audit_chain'],
      );
      expect(forced).toEqual([{ forced: true }, { forced: true }]);
    } finally {
      await owner.end();
    }
  });
});
