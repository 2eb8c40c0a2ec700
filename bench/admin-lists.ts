// Lists of an admin with 100,000 rows in the organization: a page of members anywhere in the list, by role and by
// search, over HTTP; with the plans behind them.
import pg from 'pg';
import { startAppServers } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import type { ServiceProcess } from './measure/service-process.ts';

const MEMBERS = quick(100_000, 2000);
const SAMPLES = quick(60, 5);

export default async function run(report: Report): Promise<void> {
  const servers = await startAppServers(1, { RATE_READS_PER_MINUTE: '1000000' });
  const [app] = servers.replicas as [ServiceProcess];
  const owner = new pg.Client({ connectionString: servers.ownerUrl });
  await owner.connect();
  try {
    await seed(owner);
    for (const [figure, query] of [
      ['members', ''],
      ['members-of-role', 'role=admin'],
      ['search-rare', 'search=person77'],
      ['search-common', 'search=person'],
      ['search-none', 'search=nobodyatall'],
    ] as const) {
      const samples: number[] = [];
      let cursor: string | null = null;
      for (let index = 0; index < SAMPLES + 5; index += 1) {
        const began = performance.now();
        const response = await fetch(
          `${app.url}/api/v1/orgs/org_bench/members?limit=200&${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
          {
            headers: { cookie: servers.cookie },
          },
        );
        if (response.status !== 200) throw new Error(`members answered ${response.status}: ${await response.text()}`);
        const page = (await response.json()) as { page: { nextCursor: string | null } };
        if (index >= 5) samples.push(performance.now() - began);
        cursor = page.page.nextCursor;
      }
      report.figure({ figure: `${figure}-p50`, value: percentile(samples, 0.5), unit: 'ms', n: samples.length });
      report.figure({ figure: `${figure}-p99`, value: percentile(samples, 0.99), unit: 'ms', n: samples.length });
    }
    await explain(owner, report);
  } finally {
    await owner.end();
    await servers.stop();
  }
}

async function seed(owner: pg.Client): Promise<void> {
  await owner.query(
    `INSERT INTO app.user_account (id, issuer, subject, name, email, email_verified)
     SELECT 'usr_' || n, 'bench', n::text, 'Person ' || n, 'person' || n || '@bench.example', true FROM generate_series(1, $1::int) n`,
    [MEMBERS],
  );
  await owner.query(
    `INSERT INTO app.membership (org_id, user_id, role, created_at)
     SELECT 'org_bench', 'usr_' || n, CASE WHEN n = 1 THEN 'owner' WHEN n % 100 = 0 THEN 'admin' ELSE 'member' END, now() - n * interval '1 second' FROM generate_series(1, $1::int) n`,
    [MEMBERS],
  );
  await owner.query('VACUUM (ANALYZE) app.membership');
  await owner.query('VACUUM (ANALYZE) app.user_account');
}

/** The plans of a page in the middle of the list, as the service's role sees them. */
async function explain(owner: pg.Client, report: Report): Promise<void> {
  const after = `m.org_id = 'org_bench' AND (m.created_at, m.user_id) < (now() - interval '50000 seconds', 'usr_50000')`;
  const match = (word: string): string => `app.person_words(u.name, u.email) @@ to_tsquery('simple', '''${word}'':*')`;
  const order = 'ORDER BY m.created_at DESC, m.user_id DESC LIMIT';
  for (const [from, condition] of [
    ['app.membership', after],
    [`(SELECT * FROM app.membership m WHERE ${after} ${order} 1000)`, `(${match('person')}) IS TRUE`],
    ['app.membership', `${after} AND ${match('person77')}`],
  ] as const) {
    await owner.query('BEGIN');
    await owner.query(`SET LOCAL ROLE slipway_app`);
    await owner.query(`SELECT set_config('app.org', 'org_bench', true)`);
    const { rows } = await owner.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, BUFFERS) SELECT m.user_id, u.name FROM ${from} m JOIN app.user_account u ON u.id = m.user_id WHERE ${condition} ${order} 201`,
    );
    await owner.query('ROLLBACK');
    report.note(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
}
