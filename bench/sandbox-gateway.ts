// What sandbox-gateway adds to a request, what it leaves of the throughput of 100 MB on loopback and over links of 1
// and 5 Gbit/s, and how long a revoked access still has an open socket.
import { randomUUID } from 'node:crypto';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase } from '@slipway/testing';
import { Pool, WebSocket } from 'undici';
import { downloadOverLinks } from './measure/download-over-links.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startScript, startService } from './measure/service-process.ts';

const SECRET = 'bench-sandbox-access-secret-0123456789';
const RUNTIME_KEY = 'bench-runtime-api-key-0123456789-0123456789';
/** For a check under load; the figures of the pages are taken with 1. */
const SHARE = Number(process.env['BENCH_SHARE'] ?? quick(1, 0.01));
const SMALL = Math.max(50, Math.round(3_000 * SHARE));
const LARGE = Math.max(3, Math.round(20 * SHARE));
const REVOKED = Math.max(5, Math.round(100 * SHARE));
const MEGABYTES = 100;
/** Speed of the links that downloads are tried over, beside loopback. Mbit/s. */
const LINK_SPEEDS = [1_000, 5_000];
const LINK_ROUNDS = Math.max(1, Math.round(6 * SHARE));

type Way = 'direct' | 'relay' | 'gateway';
const WAYS: readonly Way[] = ['direct', 'relay', 'gateway'];

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'bench', onError: () => {} });
  const sandbox = await startScript('./sandbox-stub.ts');
  const relay = await startScript('./bare-relay.ts', sandbox.url);
  const env = {
    PUBLIC_URL: 'https://slipway.bench',
    SANDBOX_GATEWAY_URL: 'http://gw.bench',
    SANDBOX_ACCESS_SECRET: SECRET,
    DATABASE_URL: database.urls.sandbox,
    RUNTIME_API_URL: sandbox.url,
    RUNTIME_API_KEY: RUNTIME_KEY,
    LOG_LEVEL: 'info',
  };
  const gateway = await startService('sandbox-gateway', env);
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
    report.note(`p50 of a small request ${percentile(small.direct, 0.5).toFixed(3)} ms`);
    const processes = { sandbox, relay, gateway };
    const used = async (): Promise<number[]> => Promise.all(Object.values(processes).map(({ pid }) => cpuMs(pid)));
    await alternate(2, 0, (way) => get(way, '/big'));
    const before = await used();
    const large = await alternate(LARGE, 0, (way) => get(way, '/big'));
    const [, relayCpu = 0, gatewayCpu = 0] = (await used()).map((ms, index) => (ms - (before[index] ?? 0)) / LARGE);
    report.figure({
      figure: 'loopback-throughput-of-direct',
      value: shareOf(large.direct, large.gateway),
      unit: '%',
      floor: shareOf(large.direct, large.relay),
      n: LARGE,
    });
    report.figure({ figure: 'loopback-direct', value: megabytesPerSecond(large.direct), unit: 'MB/s', n: LARGE });
    report.figure({ figure: 'cpu-of-100-MB', value: gatewayCpu, unit: 'ms', floor: relayCpu, n: LARGE });
    for (const mbits of LINK_SPEEDS) {
      const over = await downloadOverLinks(mbits, LINK_ROUNDS, env, headers);
      if (typeof over === 'string') {
        report.note(
          `NOT MEASURED over links of ${mbits} Mbit/s, for which this machine would need network namespaces and tc: ${over}`,
        );
        continue;
      }
      const name = `link-${mbits}-Mbit`;
      report.figure({
        figure: `${name}-throughput-of-direct`,
        value: shareOf(over.direct, over.gateway),
        unit: '%',
        n: over.gateway.length,
      });
      report.figure({
        figure: `${name}-direct`,
        value: megabytesPerSecond(over.direct),
        unit: 'MB/s',
        floor: mbits / 8,
        n: over.direct.length,
      });
      report.figure({
        figure: `${name}-gateway`,
        value: megabytesPerSecond(over.gateway),
        unit: 'MB/s',
        floor: mbits / 8,
        n: over.gateway.length,
      });
      report.figure({ figure: `${name}-cpu-of-100-MB`, value: over.gatewayCpuMs, unit: 'ms', n: over.gateway.length });
    }
    const cut = await revocations(owner, gateway.url);
    report.figure({ figure: 'revoked-socket-p50', value: percentile(cut, 0.5), unit: 'ms', n: cut.length });
    report.figure({ figure: 'revoked-socket-max', value: Math.max(...cut), unit: 'ms', n: cut.length });
    report.note(
      'must: added p50 at most 0.5 ms, throughput at least 80 % of direct, a revoked access refused within 1,000 ms on open sockets too',
    );
    await Promise.all(Object.values(pools).map((pool) => pool.close()));
  } finally {
    await gateway.stop();
    await relay.stop();
    await sandbox.stop();
    await owner.end();
    await database.close();
  }
}

/** Throughput through something as a share of that without it, at the median. Percent. */
function shareOf(direct: readonly number[], through: readonly number[]): number {
  return (100 * percentile(direct, 0.5)) / percentile(through, 0.5);
}

/** At the median. */
function megabytesPerSecond(took: readonly number[]): number {
  return (MEGABYTES * 1.048_576 * 1_000) / percentile(took, 0.5);
}

/** The ways in turn, so that what the machine does meanwhile falls on all of them. Milliseconds. */
async function alternate(
  n: number,
  warmup: number,
  once: (way: Way) => Promise<number>,
): Promise<Record<Way, number[]>> {
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
    const socket = new WebSocket(`${url.replace('http', 'ws')}/${conversation}/8000/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
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
  await owner.query(
    "INSERT INTO app.org (id, slug, name, kind) VALUES ('org_bench', 'bench', 'bench', 'team') ON CONFLICT DO NOTHING",
  );
  await owner.query(
    "INSERT INTO app.membership (org_id, user_id, role) VALUES ('org_bench', 'usr_bench', 'member') ON CONFLICT DO NOTHING",
  );
  await owner.query(
    "INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, 'org_bench', 'u', 'u', 't', 'm')",
    [conversation],
  );
  await owner.query(
    `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($1, 'org_bench', 'usr_bench', $2, 8000, now(), now() + interval '1 hour')`,
    [id, conversation],
  );
  const claims = { jti: id, org: 'org_bench', sub: 'usr_bench', conversation, port: 8000 };
  const { token } = await new SandboxTokens(SECRET).sign(claims, new Date(), new Date(Date.now() + 3_600_000));
  return { id, token, conversation };
}
