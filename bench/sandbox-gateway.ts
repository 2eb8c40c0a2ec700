// What sandbox-gateway adds to a request, what it leaves of the throughput of 100 MB, and how long a revoked access still has an open socket.
import { randomUUID } from 'node:crypto';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase } from '@slipway/testing';
import { Pool, WebSocket } from 'undici';
import { percentile } from './measure/percentile.ts';
import type { Report } from './measure/report.ts';
import { startScript, startService } from './measure/service-process.ts';

const SECRET = 'bench-sandbox-access-secret-0123456789';
const RUNTIME_KEY = 'bench-runtime-api-key-0123456789-0123456789';
/** For a look under load; the figures of the pages are taken with 1. */
const SHARE = Number(process.env['BENCH_SHARE'] ?? 1);
const SMALL = Math.max(50, Math.round(3_000 * SHARE));
const LARGE = Math.max(3, Math.round(20 * SHARE));
const REVOKED = Math.max(5, Math.round(100 * SHARE));
const MEGABYTES = 100;

type Way = 'direct' | 'relay' | 'gateway';
const WAYS: readonly Way[] = ['direct', 'relay', 'gateway'];

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'bench', onError: () => {} });
  const sandbox = await startScript('./sandbox-stub.ts');
  const relay = await startScript('./bare-relay.ts', sandbox.url);
  const gateway = await startService('sandbox-gateway', {
    PUBLIC_URL: 'https://slipway.bench',
    SANDBOX_GATEWAY_URL: 'http://gw.bench',
    SANDBOX_ACCESS_SECRET: SECRET,
    DATABASE_URL: database.urls.app,
    RUNTIME_API_URL: sandbox.url,
    RUNTIME_API_KEY: RUNTIME_KEY,
    LOG_LEVEL: 'info',
  });
  try {
    const { token, conversation } = await grant(owner);
    const headers = { host: `8000-${conversation}.gw.bench`, authorization: `Bearer ${token}` };
    const pools: Record<Way, Pool> = {
      direct: new Pool(sandbox.url, { connections: 1 }),
      relay: new Pool(relay.url, { connections: 1 }),
      gateway: new Pool(gateway.url, { connections: 1 }),
    };
    const get = async (way: Way, path: string): Promise<number> => {
      const began = performance.now();
      const response = await pools[way].request({ path, method: 'GET', headers });
      let bytes = 0;
      for await (const part of response.body) bytes += (part as Buffer).length;
      if (response.statusCode !== 200 || (path === '/big' && bytes !== MEGABYTES * 1024 * 1024))
        throw new Error(`${way} answered ${response.statusCode}, ${bytes} bytes`);
      return performance.now() - began;
    };
    const small = await alternate(SMALL, 300, (way) => get(way, '/'));
    for (const [name, p] of [
      ['added-p50', 0.5],
      ['added-p99', 0.99],
    ] as const) {
      const added = (way: Way): number => percentile(small[way], p) - percentile(small.direct, p);
      report.figure({ figure: name, value: added('gateway'), unit: 'ms', floor: added('relay'), n: SMALL });
    }
    const large = await alternate(LARGE, 2, (way) => get(way, '/big'));
    const share = (way: Way): number => (100 * percentile(large.direct, 0.5)) / percentile(large[way], 0.5);
    report.figure({ figure: 'throughput-of-direct', value: share('gateway'), unit: '%', floor: share('relay'), n: LARGE });
    report.note(
      `direct ${((MEGABYTES * 1000) / percentile(large.direct, 0.5)).toFixed(0)} MB/s, p50 of a small request ${percentile(small.direct, 0.5).toFixed(3)} ms`,
    );
    const cut = await revocations(owner, gateway.url);
    report.figure({ figure: 'revoked-socket-p50', value: percentile(cut, 0.5), unit: 'ms', n: cut.length });
    report.figure({ figure: 'revoked-socket-max', value: Math.max(...cut), unit: 'ms', n: cut.length });
    report.note('must: added p50 at most 0.5 ms, throughput at least 80 % of direct, a revoked access refused within 1,000 ms on open sockets too');
    await Promise.all(Object.values(pools).map((pool) => pool.close()));
  } finally {
    await gateway.stop();
    await relay.stop();
    await sandbox.stop();
    await owner.end();
    await database.close();
  }
}

/** The ways in turn, so that what the machine does meanwhile falls on all of them. Milliseconds. */
async function alternate(n: number, warmup: number, once: (way: Way) => Promise<number>): Promise<Record<Way, number[]>> {
  const samples: Record<Way, number[]> = { direct: [], relay: [], gateway: [] };
  for (let index = -Math.min(warmup, n); index < n; index += 1) {
    for (const way of WAYS) {
      const sample = await once(way);
      if (index >= 0) samples[way].push(sample);
    }
  }
  return samples;
}

/** From the commit of the revocation to the end of the socket. */
async function revocations(owner: SqlPool, url: string): Promise<number[]> {
  const cut: number[] = [];
  for (let index = 0; index < REVOKED; index += 1) {
    const { id, token, conversation } = await grant(owner);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/${conversation}/8000/ws`, { headers: { authorization: `Bearer ${token}` } });
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }));
    await owner.query('UPDATE app.sandbox_grant SET revoked_at = now() WHERE id = $1', [id]);
    const began = performance.now();
    await closed;
    cut.push(performance.now() - began);
  }
  return cut;
}

async function grant(owner: SqlPool): Promise<{ id: string; token: string; conversation: string }> {
  const [id, conversation] = [`sbx_${randomUUID()}`, randomUUID()];
  await owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ('org_bench', 'usr_bench', 'member') ON CONFLICT DO NOTHING");
  await owner.query("INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, 'org_bench', 'u', 'u', 't', 'm')", [
    conversation,
  ]);
  await owner.query(
    `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($1, 'org_bench', 'usr_bench', $2, 8000, now(), now() + interval '1 hour')`,
    [id, conversation],
  );
  const claims = { jti: id, org: 'org_bench', sub: 'usr_bench', conversation, port: 8000 };
  const { token } = await new SandboxTokens(SECRET).sign(claims, new Date(), new Date(Date.now() + 3_600_000));
  return { id, token, conversation };
}
