// Warm claims with a real API server, scheduler and rights beside, pods of fake nodes: one at a time, at 10/s and
// 100/s, a hundred at once; what Kubernetes is asked to write, and what it costs. Peer: agent-sandbox 0.5.6.
import { setTimeout as wait } from 'node:timers/promises';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { missingForTestCluster } from '@slipway/testing/cluster';
import { Pool } from 'undici';
import { readWrites, type Write } from './measure/cluster-audit.ts';
import { ClusterPlace } from './measure/cluster-place.ts';
import { commitFloor, loopbackFloor } from './measure/floor.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { NOT_QUICK, QUICK } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type ServiceProcess, startService } from './measure/service-process.ts';

/** Warm at the beginning of each run; refilled beside the claims. */
const STOCK = 400;
const NODES = 4;
const NAMESPACE = 'slipway-sandboxes';
const RUNTIME_API = 'system:serviceaccount:slipway:runtime-api';
const WARMUP = 100;
/** How long it is watched when idle. Milliseconds. */
const REST_MS = 10_000;
/** By then the claim has been noted on its pod. Milliseconds. */
const NOTED_MS = 5_000;
/** Sessions that are started and stopped one after another, for the cost of a whole lifecycle. */
const LIVES = 30;
/** agent-sandbox on such a machine (facts/peers-measured.md 1): p50, and the last of a burst. Milliseconds. */
const PEER = { gap: 36.8, noGap: 91.8, tenASecond: 128.6, tenDefault: 819.7, burstLast: 4_529, writes: 21.7, cpu: 133 };

interface Run {
  readonly name: string;
  /** When each claim is sent after the one before: at fixed times, after its answer and a pause, or all at once. */
  readonly arrivals: { readonly every: number } | { readonly gap: number } | 'at once';
  readonly n: number;
  readonly peer?: number;
}

const RUNS: readonly Run[] = [
  { name: 'gap', arrivals: { gap: 200 }, n: 100, peer: PEER.gap },
  { name: 'no-gap', arrivals: { gap: 0 }, n: 200, peer: PEER.noGap },
  // The better of its two figures at this rate: with its own flags for refill and connections.
  { name: 'at-10', arrivals: { every: 100 }, n: 200, peer: PEER.tenASecond },
  { name: 'at-100', arrivals: { every: 10 }, n: 300 },
  { name: 'burst-100', arrivals: 'at once', n: 100 },
];

interface Claim {
  readonly ms: number;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly runtime: Runtime;
}

export default async function run(report: Report): Promise<void> {
  const missing = QUICK ? NOT_QUICK : await missingForTestCluster();
  if (missing !== null) return report.note(`not measured: ${missing}`);
  const place = await ClusterPlace.open({ kwokNodes: NODES, realNode: false, audit: true });
  try {
    const api = await startService('runtime-api', place.environment([place.fakeTemplate('fake', STOCK)]));
    try {
      await measure(report, place, api);
    } finally {
      await api.stop();
    }
  } finally {
    await place.close();
  }
}

async function measure(report: Report, place: ClusterPlace, api: ServiceProcess): Promise<void> {
  const client = new Pool(api.url, { connections: 128 });
  const headers = { 'x-api-key': place.apiKey, 'content-type': 'application/json' };
  const post = async (path: string, body: object): Promise<Runtime> => {
    const answer = await client.request({ path, method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode !== 200)
      throw new Error(`${path} was answered ${answer.statusCode}: ${text}\n${api.output()}`);
    return JSON.parse(text) as Runtime;
  };
  let sessions = 0;
  const claim = async (due = performance.now()): Promise<Claim> => {
    sessions += 1;
    const sentAt = Date.now();
    const runtime = await post('/start', { session_id: `session-${sessions}`, environment: { SLIPWAY: '1' } });
    return { ms: performance.now() - due, sentAt, answeredAt: Date.now(), runtime };
  };
  const isFull = async (): Promise<boolean> => {
    const { rows } = await place.owner.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM runtime.slot WHERE state IN ('ready', 'leased')`,
    );
    return (rows[0]?.n ?? 0) >= STOCK;
  };
  const isEnded = async (): Promise<boolean> => {
    const { rows } = await place.owner.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM runtime.slot WHERE state IN ('doomed', 'releasing', 'bound', 'active')`,
    );
    return rows[0]?.n === 0;
  };
  const idle = async (): Promise<void> => {
    await until('the pool is full', isFull, 180_000);
    // What comes after the claims, such as notes on pods, is over.
    await wait(1_000);
  };
  const clusterCpu = (): number => place.cluster.usage().reduce((sum, { cpuSeconds }) => sum + cpuSeconds * 1_000, 0);

  await until('the pool is full', isFull, 300_000);
  const warmup: Claim[] = [];
  for (let index = 0; index < WARMUP; index += 1) warmup.push(await claim());
  for (const { runtime } of warmup) await post('/stop', { runtime_id: runtime.runtime_id });
  await idle();
  // What both use without requests, per millisecond: not part of a claim.
  const [restOwn, restCluster, restAt] = [await cpuMs(api.pid), clusterCpu(), performance.now()];
  await wait(REST_MS);
  const rest = performance.now() - restAt;
  const [ownRate, clusterRate] = [((await cpuMs(api.pid)) - restOwn) / rest, (clusterCpu() - restCluster) / rest];
  report.figure({ figure: 'rest-cpu-runtime-api', value: ownRate * 1_000, unit: 'ms', n: 1 });
  report.figure({ figure: 'rest-cpu-control-plane', value: clusterRate * 1_000, unit: 'ms', n: 1 });
  const floor = (await commitFloor(place.database.ownerUrl)) + 2 * (await loopbackFloor());
  report.note(
    `floor: one synchronous commit and two calls over loopback. ${STOCK} warm on ${NODES} fake nodes, one replica, refilled beside the claims; every claim is a whole POST /start. CPU: of a claim with its refill, without what is used at rest (per second).`,
  );
  const claims: Claim[] = [];
  for (const { name, arrivals, n, peer } of RUNS) {
    await idle();
    const [own, cluster, began] = [await cpuMs(api.pid), clusterCpu(), performance.now()];
    const done = await arrive(arrivals, n, claim);
    claims.push(...done);
    await idle();
    const took = performance.now() - began;
    const [ownPer, clusterPer] = [
      ((await cpuMs(api.pid)) - own - took * ownRate) / n,
      (clusterCpu() - cluster - took * clusterRate) / n,
    ];
    const times = done.map(({ ms }) => ms);
    const against = peer === undefined ? {} : { peer };
    report.figure({ figure: `${name}-p50`, value: percentile(times, 0.5), unit: 'ms', floor, ...against, n });
    report.figure({ figure: `${name}-p99`, value: percentile(times, 0.99), unit: 'ms', floor, n });
    report.figure({
      figure: `${name}-last`,
      value: percentile(times, 1),
      unit: 'ms',
      ...(name === 'burst-100' ? { peer: PEER.burstLast } : {}),
      n,
    });
    if (peer !== undefined)
      report.figure({ figure: `${name}-times-faster`, value: peer / percentile(times, 0.5), unit: 'x', n });
    if (name === 'burst-100')
      report.figure({ figure: 'burst-100-times-faster', value: PEER.burstLast / percentile(times, 1), unit: 'x', n });
    report.figure({ figure: `${name}-cpu-runtime-api`, value: ownPer, unit: 'ms', n });
    report.figure({ figure: `${name}-cpu-control-plane`, value: clusterPer, unit: 'ms', peer: PEER.cpu, n });
    for (const { runtime } of done) await post('/stop', { runtime_id: runtime.runtime_id });
    await until('what was given out has ended', isEnded, 180_000);
  }
  await lives(report, place, claim, post, claims);
  await client.close();
}

async function arrive(arrivals: Run['arrivals'], n: number, claim: (due?: number) => Promise<Claim>): Promise<Claim[]> {
  if (arrivals === 'at once') return Promise.all(Array.from({ length: n }, () => claim()));
  if ('gap' in arrivals) {
    const done: Claim[] = [];
    for (let index = 0; index < n; index += 1) {
      done.push(await claim());
      if (arrivals.gap > 0) await wait(arrivals.gap);
    }
    return done;
  }
  const began = performance.now();
  const sent: Promise<Claim>[] = [];
  for (let index = 0; index < n; index += 1) {
    const due = began + index * arrivals.every;
    if (due > performance.now()) await wait(due - performance.now());
    // From the moment at which it should have been sent.
    sent.push(claim(due));
  }
  return Promise.all(sent);
}

/**
 * What is written of one pod from its making to its end, by whom; and that nothing is written between a request and its
 * answer.
 */
async function lives(
  report: Report,
  place: ClusterPlace,
  claim: () => Promise<Claim>,
  post: (path: string, body: object) => Promise<Runtime>,
  before: readonly Claim[],
): Promise<void> {
  const lives: Claim[] = [];
  const claims = [...before];
  for (let index = 0; index < LIVES; index += 1) {
    const one = await claim();
    lives.push(one);
    await wait(100);
  }
  // Long enough for what is written after the answer.
  await wait(NOTED_MS);
  for (const { runtime } of lives) {
    await post('/stop', { runtime_id: runtime.runtime_id });
    await wait(100);
  }
  await wait(NOTED_MS);
  claims.push(...lives);
  const ofPods = new Map<string, Write[]>();
  for (const write of await readWrites(place.cluster.auditLog ?? '', NAMESPACE))
    ofPods.set(write.pod, [...(ofPods.get(write.pod) ?? []), write]);
  const { rows } = await place.owner.query<{ session: string; pod: string }>(
    'SELECT c.session_id AS session, s.pod_name AS pod FROM runtime.claim c JOIN runtime.slot s USING (slot_id)',
  );
  const podOf = new Map(rows.map(({ session, pod }) => [session, pod]));
  const lived = lives.map(({ runtime }) => podOf.get(runtime.session_id) ?? '');
  // Those that waited for their answer beside many others are left out: the measuring process hears of an answer late
  // when it is busy, and the note comes soon after it.
  const early = claims.filter(({ sentAt, answeredAt, ms, runtime }) => {
    const own = (ofPods.get(podOf.get(runtime.session_id) ?? '') ?? []).filter(({ user }) => user === RUNTIME_API);
    const between = own.find(({ receivedAt }) => receivedAt >= sentAt && receivedAt <= answeredAt);
    if (between !== undefined)
      report.note(
        `a ${between.verb} of ${between.resource} ${(between.receivedAt - sentAt).toFixed(1)} ms after a request that took ${ms.toFixed(1)} ms`,
      );
    return between !== undefined;
  }).length;
  report.figure({ figure: 'writes-before-answer', value: early, unit: 'count', peer: 5, n: claims.length });
  const all = lived.flatMap((pod) => ofPods.get(pod) ?? []);
  const by = (isOf: (write: Write) => boolean): number => all.filter(isOf).length / lived.length;
  report.figure({
    figure: 'writes-per-life',
    value: all.length / lived.length,
    unit: 'count',
    peer: PEER.writes,
    n: lived.length,
  });
  report.figure({
    figure: 'writes-per-life-runtime-api',
    value: by(({ user }) => user === RUNTIME_API),
    unit: 'count',
    n: lived.length,
  });
  report.figure({
    figure: 'writes-per-life-scheduler',
    value: by(({ user }) => user === 'system:kube-scheduler'),
    unit: 'count',
    n: lived.length,
  });
  const isRest = ({ user }: Write): boolean => user !== RUNTIME_API && user !== 'system:kube-scheduler';
  report.figure({ figure: 'writes-per-life-kubelet', value: by(isRest), unit: 'count', n: lived.length });
  const kinds = new Map<string, number>();
  for (const { user, verb, resource, status } of all) {
    const kind = `${user.split(':').at(-1)} ${verb} ${resource} ${status}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  report.note(
    `writes of a life: ${[...kinds].map(([kind, count]) => `${kind} ${(count / lived.length).toFixed(2)}`).join(', ')}`,
  );
}
