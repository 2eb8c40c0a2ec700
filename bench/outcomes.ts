// Outcomes of an organization with 10,000 conversations and 5,000 pull requests, one of twenty of that size: a year and
// thirty days by repository, and the report of users, over HTTP; with the plan behind.
import pg from 'pg';
import { startAppServers } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import type { ServiceProcess } from './measure/service-process.ts';

const CONVERSATIONS = quick(10_000, 500);
const OTHERS = quick(19, 1);
const SAMPLES = quick(60, 5);

export default async function run(report: Report): Promise<void> {
  const servers = await startAppServers(1, { RATE_READS_PER_MINUTE: '1000000' });
  const [app] = servers.replicas as [ServiceProcess];
  const owner = new pg.Client({ connectionString: servers.ownerUrl });
  await owner.connect();
  try {
    await seed(owner, 'org_bench');
    for (let other = 0; other < OTHERS; other += 1) await seed(owner, `org_other_${other}`);
    await owner.query('VACUUM (ANALYZE) app.conversation_outcome, app.pull_request_outcome, app.pull_request_work');
    for (const [figure, path] of [
      ['year', '?from=2026-01-01&to=2026-12-31'],
      ['thirty-days', '?from=2026-06-01&to=2026-06-30'],
      ['year-by-all', '?from=2026-01-01&to=2026-12-31&groupBy=day,user,repository,model,source'],
      ['users', '/users'],
    ] as const) {
      const samples: number[] = [];
      for (let index = 0; index < SAMPLES + 5; index += 1) {
        const began = performance.now();
        const response = await fetch(`${app.url}/api/v1/orgs/org_bench/outcomes${path}`, {
          headers: { cookie: servers.cookie },
        });
        if (response.status !== 200) throw new Error(`outcomes answered ${response.status}: ${await response.text()}`);
        await response.json();
        if (index >= 5) samples.push(performance.now() - began);
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

async function seed(owner: pg.Client, orgId: string): Promise<void> {
  await owner.query(
    `INSERT INTO app.conversation_outcome (org_id, conversation_id, created_at, user_id, user_label, repository, model, source, cost_usd, start_wait_ms, approval_waits_ms, turns)
     SELECT $1, md5($1 || n)::uuid, timestamptz '2026-01-01T00:00:00Z' + n * (interval '334 days' / $2::int), 'usr_' || n % 50, 'u', 'git.test/acme/r' || n % 200, 'm' || n % 3, 'user', 0.01, n, ARRAY[n], 3
     FROM generate_series(1, $2::int) n`,
    [orgId, CONVERSATIONS],
  );
  await owner.query(
    `WITH made AS (
       INSERT INTO app.pull_request_outcome (org_id, provider, host, repository, number, conversation_id, begun_at, state, merged_at, watched_days)
       SELECT org_id, 'gitea', 'git.test', substr(repository, 10), row_number() OVER (), conversation_id, created_at, 'merged', created_at + interval '1 day', 14
       FROM app.conversation_outcome WHERE org_id = $1 AND start_wait_ms % 2 = 0 RETURNING id, org_id, conversation_id)
     INSERT INTO app.pull_request_work (org_id, pull_request_id, conversation_id) SELECT org_id, id, conversation_id FROM made`,
    [orgId],
  );
}

/** As the service's role sees it. */
async function explain(owner: pg.Client, report: Report): Promise<void> {
  await owner.query('BEGIN');
  await owner.query('SET LOCAL ROLE slipway_app');
  await owner.query(`SELECT set_config('app.org', 'org_bench', true)`);
  const { rows } = await owner.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE, BUFFERS) SELECT m.cost_usd FROM app.conversation_outcome m WHERE m.org_id = 'org_bench' AND m.created_at >= '2026-06-01' AND m.created_at < '2026-07-01'
       AND NOT EXISTS (SELECT 1 FROM app.pull_request_work w WHERE w.org_id = 'org_bench' AND w.conversation_id = m.conversation_id)`,
  );
  await owner.query('ROLLBACK');
  report.note(rows.map((row) => row['QUERY PLAN']).join('\n'));
}
