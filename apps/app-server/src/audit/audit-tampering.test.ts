import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditVerification } from '@slipway/contracts/audit';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { auditOf } from './audit-statement.js';
import { type ExpectedLink, verifyChain } from './verify-chain.js';

const PROGRAM = fileURLToPath(new URL('./verify/main.js', import.meta.url));
const ENTRIES = 9;
const CHAIN = 'app.audit_chain';
const ENTRY = 'app.audit_entry';
/** The entry of a link of the organization $1. */
const entryAt = (seq: number): string => `(SELECT entry_id FROM ${CHAIN} WHERE org_id = $1 AND seq = ${seq})`;
/** What a tamperer does who knows how links are made: gives every link from `seq` on the hash that fits. */
const rewriteFrom = (seq: number): string => `DO $do$ DECLARE r record; p bytea; BEGIN
  SELECT hash INTO p FROM ${CHAIN} WHERE org_id = current_setting('test.org') AND seq = ${seq - 1};
  FOR r IN SELECT c.seq, e AS entry FROM ${CHAIN} c JOIN ${ENTRY} e ON e.id = c.entry_id WHERE c.org_id = current_setting('test.org') AND c.seq >= ${seq} ORDER BY c.seq LOOP
    UPDATE ${CHAIN} SET previous = p, hash = app.audit_hash(p, r.seq, r.entry) WHERE org_id = current_setting('test.org') AND seq = r.seq RETURNING hash INTO p;
  END LOOP; END $do$`;

type Fault = NonNullable<AuditVerification['fault']>;

describe('the audit, tampered with by whoever owns the database', () => {
  let database: TestDatabase;
  let owner: pg.Client;
  let pool: SqlPool;
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    pool = createPool({ url: database.urls.app, max: 4, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await pool?.end();
    await owner?.end();
    await database?.close();
  });

  async function orgWithEntries(): Promise<string> {
    const org = `org_${randomUUID()}`;
    for (let index = 1; index <= ENTRIES; index += 1)
      await inOrg(pool, org, (client) =>
        client.query(
          auditOf(
            randomUUID(),
            { orgId: org, actor: { kind: 'user', id: 'usr_1', label: 'Ada' } },
            { action: 'thing.do', target: `t${index}`, before: { a: 1.0 }, after: { a: 2, ü: 'x\n"' } },
          ),
        ),
      );
    return org;
  }
  const verify = (
    org: string,
    options: { expected?: ExpectedLink; after?: number; limit?: number } = {},
  ): Promise<AuditVerification> => verifyChain((work) => inOrg(pool, org, work), org, options);
  const linkOf = async (org: string, seq: number): Promise<ExpectedLink> => {
    const { rows } = await owner.query<{ hash: Buffer }>(`SELECT hash FROM ${CHAIN} WHERE org_id = $1 AND seq = $2`, [
      org,
      seq,
    ]);
    return { seq, hash: rows[0]?.hash.toString('hex') ?? '' };
  };
  /** Statements that name $1 are given the organization; triggers are off, as they are for an attacker. */
  async function tamper(org: string, ...statements: readonly string[]): Promise<void> {
    await owner.query("BEGIN; SET LOCAL session_replication_role = 'replica'");
    await owner.query("SELECT set_config('test.org', $1, true)", [org]);
    for (const statement of statements) await owner.query(statement, statement.includes('$1') ? [org] : []);
    await owner.query('COMMIT');
  }
  const run = (...args: readonly string[]): Promise<{ code: number; out: string }> =>
    new Promise((resolve) =>
      execFile(
        process.execPath,
        [PROGRAM, ...args],
        { env: { DATABASE_URL: database.urls.app }, timeout: 60_000 },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr }),
      ),
    );

  it('is valid without tampering, as a whole and in parts', async () => {
    const org = await orgWithEntries();
    const head = await linkOf(org, ENTRIES);
    expect(await verify(org, { expected: head })).toEqual({ ok: true, checked: head, complete: true, fault: null });
    const part = await verify(org, { limit: 4 });
    expect(part).toEqual({ ok: true, checked: await linkOf(org, 4), complete: false, fault: null });
    expect(await verify(org, { after: 4, limit: 5, expected: await linkOf(org, 2) })).toEqual({
      ok: true,
      checked: head,
      complete: true,
      fault: null,
    });
    expect(await verify(`org_${randomUUID()}`)).toEqual({ ok: true, checked: null, complete: true, fault: null });
  });

  for (const [what, statements, found] of [
    [
      'an entry is altered',
      [`UPDATE ${ENTRY} SET target = 'other' WHERE id = ${entryAt(4)}`],
      { kind: 'entry-altered', seq: 4 },
    ],
    [
      'its time is altered',
      [`UPDATE ${ENTRY} SET created_at = created_at - interval '1 ms' WHERE id = ${entryAt(4)}`],
      { kind: 'entry-altered', seq: 4 },
    ],
    [
      'what was changed is altered',
      [`UPDATE ${ENTRY} SET after = '{}' WHERE id = ${entryAt(1)}`],
      { kind: 'entry-altered', seq: 1 },
    ],
    [
      'the last entry is altered',
      [`UPDATE ${ENTRY} SET actor_label = NULL WHERE id = ${entryAt(9)}`],
      { kind: 'entry-altered', seq: 9 },
    ],
    ['an entry is deleted', [`DELETE FROM ${ENTRY} WHERE id = ${entryAt(5)}`], { kind: 'entry-missing', seq: 5 }],
    [
      'an entry is given to another organization',
      [`UPDATE ${ENTRY} SET org_id = 'org_other' WHERE id = ${entryAt(5)}`],
      { kind: 'entry-missing', seq: 5 },
    ],
    [
      'an entry is deleted with its link',
      [`DELETE FROM ${ENTRY} WHERE id = ${entryAt(5)}`, `DELETE FROM ${CHAIN} WHERE org_id = $1 AND seq = 5`],
      { kind: 'link-missing', seq: 5 },
    ],
    [
      'the first is deleted',
      [`DELETE FROM ${ENTRY} WHERE id = ${entryAt(1)}`, `DELETE FROM ${CHAIN} WHERE org_id = $1 AND seq = 1`],
      { kind: 'link-missing', seq: 1 },
    ],
    [
      'one is deleted and those behind it move up',
      [
        `DELETE FROM ${CHAIN} WHERE org_id = $1 AND seq = 5`,
        ...[6, 7, 8, 9].map((seq) => `UPDATE ${CHAIN} SET seq = ${seq - 1} WHERE org_id = $1 AND seq = ${seq}`),
      ],
      { kind: 'link-altered', seq: 5 },
    ],
    [
      'an entry is inserted without a link',
      [
        `INSERT INTO ${ENTRY} (id, org_id, actor_kind, actor_id, action, target) VALUES (gen_random_uuid(), $1, 'user', 'u', 'thing.do', 't')`,
      ],
      { kind: 'entry-unlinked', seq: null },
    ],
    [
      'an entry is inserted at the end with a link of its own making',
      [
        `INSERT INTO ${ENTRY} (id, org_id, actor_kind, actor_id, action, target) VALUES ('00000000-0000-4000-8000-000000000001', $1, 'user', 'u', 'thing.do', 't')`,
        `INSERT INTO ${CHAIN} SELECT org_id, 10, '00000000-0000-4000-8000-000000000001', hash, sha256('x') FROM ${CHAIN} WHERE org_id = $1 AND seq = 9`,
      ],
      { kind: 'entry-altered', seq: 10 },
    ],
    [
      'an entry is put in between',
      [
        ...[9, 8, 7, 6, 5].map((seq) => `UPDATE ${CHAIN} SET seq = ${seq + 1} WHERE org_id = $1 AND seq = ${seq}`),
        `INSERT INTO ${ENTRY} (id, org_id, actor_kind, actor_id, action, target) VALUES ('00000000-0000-4000-8000-000000000002', $1, 'user', 'u', 'thing.do', 't')`,
        `INSERT INTO ${CHAIN} SELECT c.org_id, 5, e.id, c.hash, app.audit_hash(c.hash, 5, e) FROM ${CHAIN} c, ${ENTRY} e WHERE c.org_id = $1 AND c.seq = 4 AND e.id = '00000000-0000-4000-8000-000000000002'`,
      ],
      { kind: 'link-altered', seq: 6 },
    ],
    [
      'the hash of a link is altered',
      [`UPDATE ${CHAIN} SET hash = sha256('x') WHERE org_id = $1 AND seq = 4`],
      { kind: 'link-altered', seq: 4 },
    ],
    [
      'what a link goes on from is altered',
      [`UPDATE ${CHAIN} SET previous = sha256('x') WHERE org_id = $1 AND seq = 4`],
      { kind: 'link-altered', seq: 4 },
    ],
    [
      'two entries change places',
      [
        `UPDATE ${CHAIN} SET seq = -1 WHERE org_id = $1 AND seq = 3`,
        `UPDATE ${CHAIN} SET seq = 3 WHERE org_id = $1 AND seq = 6`,
        `UPDATE ${CHAIN} SET seq = 6 WHERE org_id = $1 AND seq = -1`,
      ],
      { kind: 'link-altered', seq: 3 },
    ],
    [
      'an entry is altered and its link fitted to it',
      [
        `UPDATE ${ENTRY} SET target = 'other' WHERE id = ${entryAt(4)}`,
        `UPDATE ${CHAIN} c SET hash = app.audit_hash(c.previous, c.seq, e) FROM ${ENTRY} e WHERE e.id = c.entry_id AND c.org_id = $1 AND c.seq = 4`,
      ],
      { kind: 'link-altered', seq: 5 },
    ],
  ] as ReadonlyArray<readonly [string, readonly string[], Pick<Fault, 'kind' | 'seq'>]>)
    it(`is found out when ${what}, with the first bad row`, async () => {
      const org = await orgWithEntries();
      await tamper(org, ...statements);
      const { ok, fault } = await verify(org);
      expect([ok, fault]).toEqual([false, expect.objectContaining(found)]);
    });

  it('is detected by an earlier link when its end was cut off or it was rewritten as a whole', async () => {
    const [cut, anew] = [await orgWithEntries(), await orgWithEntries()];
    const [before, middle] = [await linkOf(cut, ENTRIES), await linkOf(anew, 7)];
    await tamper(
      cut,
      `DELETE FROM ${ENTRY} WHERE id IN (SELECT entry_id FROM ${CHAIN} WHERE org_id = $1 AND seq > 6)`,
      `DELETE FROM ${CHAIN} WHERE org_id = $1 AND seq > 6`,
    );
    await tamper(anew, `UPDATE ${ENTRY} SET target = 'other' WHERE id = ${entryAt(4)}`, rewriteFrom(4));
    expect((await verify(cut)).ok && (await verify(anew)).ok).toBe(true);
    expect((await verify(cut, { expected: before })).fault).toMatchObject({ kind: 'cut', seq: 7 });
    expect((await verify(anew, { expected: middle })).fault).toMatchObject({ kind: 'rewritten', seq: 7 });
    expect((await verify(anew, { expected: middle, after: 8 })).fault).toMatchObject({ kind: 'rewritten', seq: 7 });
  });

  it('is named by the operators’ program, organization by organization', async () => {
    const [good, bad] = [await orgWithEntries(), await orgWithEntries()];
    await tamper(bad, `DELETE FROM ${ENTRY} WHERE id = ${entryAt(3)}`);
    const head = await linkOf(good, ENTRIES);
    const all = await run();
    expect(all.code).toBe(1);
    expect(all.out).toContain(`${good} ok ${ENTRIES}:${head.hash}`);
    expect(all.out).toMatch(new RegExp(`${bad} BAD entry-missing: Entry \\S+ of link 3 is not there`));
    expect(await run('--org', good, '--expect', `${ENTRIES}:${head.hash}`)).toMatchObject({ code: 0 });
    expect(await run('--org', good, '--expect', `${ENTRIES + 1}:${head.hash}`)).toMatchObject({
      code: 1,
      out: expect.stringContaining('BAD cut'),
    });
    expect(await run('--expect', `1:${head.hash}`)).toMatchObject({
      code: 2,
      out: expect.stringContaining('name it with --org'),
    });
  });
});
