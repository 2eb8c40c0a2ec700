// What an audit entry adds to the transaction of what it records: one after the other, and by twenty writers of one
// organization; and pages of 100,000 entries.
import { randomUUID } from 'node:crypto';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { auditOf } from '../apps/app-server/dist/audit/audit-statement.js';
import { startAppServers } from './measure/app-server.ts';
import { openLoop } from './measure/open-loop.ts';
import { percentile, timeEach } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const ONE_BY_ONE = quick(2_000, 50);
/** Connections that write for one organization, by a schedule that does not wait for them. */
const WRITERS = 20;
const PER_SECOND = quick(200, 100);
const TWENTY = quick(2_000, 100);
const EACH = quick(200, 10);
const ENTRIES = quick(100_000, 1000);
const PAGES = quick(200, 5);
/** Entries of one actor among many: what a filter finds. */
const ACTORS = 500;

/** A change as a feature makes it: one row, and with `audited` the entry of it. */
async function change(pool: SqlPool, orgId: string, index: number, audited: boolean): Promise<void> {
  await inOrg(pool, orgId, async (client) => {
    await client.query({
      name: 'change',
      text: 'UPDATE app.membership SET source = $3 WHERE org_id = $1 AND user_id = $2',
      values: [orgId, `usr_${index % WRITERS}`, `s${index}`],
    });
    if (!audited) return;
    const actor = { kind: 'user', id: `usr_${index % WRITERS}`, label: 'Somebody' } as const;
    await client.query(
      auditOf(
        randomUUID(),
        { orgId, actor },
        { action: 'member.set-role', target: `usr_${index}`, before: { role: 'member' }, after: { role: 'admin' } },
      ),
    );
  });
}

/** p50 and p99 of the same changes with and without their entries, in turns. @param measure times so many changes. */
async function writes(
  report: Report,
  name: string,
  n: number,
  once: (index: number, audited: boolean) => Promise<void>,
  measure: (n: number, once: (index: number) => Promise<void>) => Promise<number[]>,
): Promise<void> {
  const samples: Record<'with' | 'without', number[]> = { with: [], without: [] };
  for (let round = 0; round < 4; round += 1)
    for (const kind of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const))
      samples[kind].push(...(await measure(n / 4, (index) => once(index, kind === 'with'))));
  for (const p of [0.5, 0.99]) {
    const [value, floor] = [percentile(samples.with, p), percentile(samples.without, p)];
    report.figure({ figure: `${name}_p${p * 100}`, value, unit: 'ms', floor, n: samples.with.length });
    report.figure({ figure: `${name}_added_p${p * 100}`, value: value - floor, unit: 'ms', n: samples.with.length });
  }
}

/** The most that one organization can have recorded: its links are made one after the other. */
async function most(report: Report, pool: SqlPool, orgId: string): Promise<void> {
  const began = performance.now();
  await Promise.all(
    Array.from({ length: WRITERS }, (_, writer) =>
      timeEach(EACH, (index) => change(pool, orgId, index * WRITERS + writer, true), 0),
    ),
  );
  report.figure({
    figure: 'most_of_one_organization',
    value: (WRITERS * EACH * 1000) / (performance.now() - began),
    unit: '1/s',
    n: WRITERS * EACH,
  });
}

export default async function run(report: Report): Promise<void> {
  const servers = await startAppServers(1);
  const owner = createPool({
    url: servers.ownerUrl,
    max: 1,
    applicationName: 'bench',
    queryTimeoutMs: 600_000,
    onError: () => {},
  });
  const url = new URL(servers.ownerUrl);
  url.username = 'slipway_app';
  url.password = 'test-app';
  const pool = createPool({ url: url.href, max: WRITERS, applicationName: 'bench', onError: () => {} });
  try {
    const orgId = 'org_audit_bench';
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'audit-bench', 'Bench', 'company')`, [
      orgId,
    ]);
    await owner.query(
      `INSERT INTO app.membership (org_id, user_id, role) SELECT $1, 'usr_' || i, 'member' FROM generate_series(0, $2::int - 1) i`,
      [orgId, WRITERS],
    );
    const once = (index: number, audited: boolean): Promise<void> => change(pool, orgId, index, audited);
    await writes(report, 'alone', ONE_BY_ONE, once, (n, work) => timeEach(n, work));
    await writes(report, 'twenty', TWENTY, once, (n, work) => openLoop(PER_SECOND, n, work));
    await most(report, pool, orgId);

    await owner.query(
      `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, action, target, created_at)
       SELECT gen_random_uuid(), $1, 'user', 'usr_' || i % $3, CASE WHEN i % 100 = 0 THEN 'api-key.create' ELSE 'conversation.create' END, 't' || i % 1000, now() - i * interval '1 second'
       FROM generate_series(1, $2::int) i`,
      [servers.orgId, ENTRIES, ACTORS],
    );
    await owner.query('ANALYZE app.audit_entry; ANALYZE app.audit_chain');
    const page = async (query: string): Promise<string | null> => {
      const response = await fetch(`${servers.replicas[0]?.url}/api/v1/orgs/${servers.orgId}/audit?limit=50${query}`, {
        headers: { cookie: servers.cookie },
      });
      if (!response.ok) throw new Error(`the page ${query} was answered ${response.status}`);
      return ((await response.json()) as { page: { nextCursor: string | null } }).page.nextCursor;
    };
    const [[deep]] = [
      (
        await owner.query(
          `SELECT created_at, id FROM app.audit_entry WHERE org_id = $1 ORDER BY created_at LIMIT 1 OFFSET 100`,
          [servers.orgId],
        )
      ).rows,
    ];
    const far = Buffer.from(JSON.stringify([deep.created_at.toISOString(), deep.id])).toString('base64url');
    for (const [name, query] of [
      ['first', ''],
      ['last', `&cursor=${far}`],
      ['actor', '&actor=usr_7'],
      ['rare_action', '&action=api-key.create'],
      ['noun', '&action=conversation'],
      ['none', '&actor=usr_7&target=t9&action=api-key'],
    ] as const)
      report.figure({
        figure: `page_${name}_p99`,
        value: percentile(await timeEach(PAGES, () => page(query), 20), 0.99),
        unit: 'ms',
        n: PAGES,
      });
  } finally {
    await pool.end();
    await owner.end();
    await servers.stop();
  }
}
