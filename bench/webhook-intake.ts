// Deliveries of a provider, 100 a second: how long until each is acknowledged, with the queue and with the queue away;
// CPU of a bad signature.
import { createHmac, randomUUID } from 'node:crypto';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import pg from 'pg';
import { Pool } from 'undici';
import { type AppServers, startAppServers } from './measure/app-server.ts';
import { commitFloor } from './measure/floor.ts';
import { openLoop } from './measure/open-loop.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const RATE = 100;
const DELIVERIES = quick(3_000, 30);
const WARM_UP = quick(300, 5);
const FORGED = quick(2_000, 20);
/** Text of an issue: a delivery of GitHub has about 12 kB. */
const TEXT = 'It fails on Mondays, and only when the session has expired. '.repeat(180);
/** Of the pages: a change with a cookie must come from there. */
const ORIGIN = 'http://127.0.0.1:3000';
/** Nothing listens there. */
const NO_REDIS = 'redis://127.0.0.1:9';

interface Hook {
  readonly path: string;
  readonly secret: string;
}

async function connect(client: Pool, { cookie, orgId }: AppServers): Promise<Hook> {
  const response = await client.request({
    method: 'POST',
    path: `/api/v1/orgs/${orgId}/integrations/connections`,
    headers: { cookie, origin: ORIGIN, 'content-type': 'application/json' },
    body: JSON.stringify({ provider: 'gitea', host: 'git.example', name: 'bench' }),
  });
  const { connection, webhookSecret } = (await response.body.json()) as ConnectionWithSecret;
  if (response.statusCode !== 201 || webhookSecret === null || connection.address === null)
    throw new Error(`connecting was answered ${response.statusCode}`);
  return { path: new URL(connection.address).pathname, secret: webhookSecret };
}

function delivery(secret: string): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({
    action: 'created',
    issue: { number: 1, title: 'Login is flaky', body: TEXT },
    sender: { id: 1, login: 'mia' },
  });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'issue_comment',
      'x-gitea-delivery': randomUUID(),
      'x-gitea-signature': signature,
    },
  };
}

async function measured(report: Report, name: string, more: Readonly<Record<string, string>>): Promise<void> {
  const servers = await startAppServers(1, { PUBLIC_URL: ORIGIN, ...more });
  const [server] = servers.replicas;
  if (server === undefined) throw new Error('no app-server');
  const client = new Pool(server.url, { connections: 64 });
  const owner = new pg.Client({ connectionString: servers.ownerUrl });
  await owner.connect();
  try {
    const hook = await connect(client, servers);
    const send = async (secret: string, expected: number, path = hook.path): Promise<void> => {
      const response = await client.request({ method: 'POST', path, ...delivery(secret) });
      await response.body.dump();
      if (response.statusCode !== expected)
        throw new Error(`a delivery was answered ${response.statusCode}, not ${expected}`);
    };
    await openLoop(RATE, WARM_UP, () => send(hook.secret, 200));
    const before = await cpuMs(server.pid);
    const samples = await openLoop(RATE, DELIVERIES, () => send(hook.secret, 200));
    report.figure({
      figure: `${name}_cpu`,
      value: ((await cpuMs(server.pid)) - before) / DELIVERIES,
      unit: 'ms',
      n: DELIVERIES,
    });
    const floor = await commitFloor(servers.ownerUrl);
    for (const p of [0.5, 0.99])
      report.figure({
        figure: `${name}_p${p * 100}`,
        value: percentile(samples, p),
        unit: 'ms',
        floor,
        n: samples.length,
      });
    const { rows } = await owner.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM app.integration_delivery',
    );
    report.figure({
      figure: `${name}_lost`,
      value: WARM_UP + DELIVERIES - (rows[0]?.count ?? 0),
      unit: 'count',
      n: WARM_UP + DELIVERIES,
    });
    if (name !== 'acknowledge') return;
    const cpuOf = async (once: () => Promise<void>): Promise<number> => {
      await openLoop(400, quick(200, 5), once);
      const before = await cpuMs(server.pid);
      await openLoop(400, FORGED, once);
      return ((await cpuMs(server.pid)) - before) / FORGED;
    };
    // A request that is answered before its body is read: what HTTP costs by itself.
    const http = await cpuOf(() => send('forged', 404, '/api/integration/none/events'));
    const forged = await cpuOf(() => send('forged', 401));
    report.figure({ figure: 'bad_signature_cpu', value: forged, unit: 'ms', floor: http, n: FORGED });
  } finally {
    await client.close();
    await owner.end();
    await servers.stop();
  }
}

export default async function run(report: Report): Promise<void> {
  await measured(report, 'acknowledge', {});
  await measured(report, 'acknowledge_queue_away', { REDIS_URL: NO_REDIS });
}
