// 300 POST /start released at once on 300 warm slots: when the first, the middle and the last has its activated
// sandbox; floor: one synchronous commit + two loopback calls. Sandboxes are a responder that costs nothing.
import { until } from '@slipway/testing';
import { startClaimsOnFarm } from './measure/claims-on-farm.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const CLAIMS = quick(300, 8);
const BURSTS = quick(8, 1);

export default async function run(report: Report): Promise<void> {
  const claims = await startClaimsOnFarm(CLAIMS, CLAIMS);
  report.note(
    `${CLAIMS} callers with a connection each, released together; the pool is full before each of ${BURSTS} bursts, the first of which is not counted. last, p50, p90: from the release, the median of the bursts. On two cores the callers, runtime-api, Postgres and the sandboxes share them: the callers alone take a third.`,
  );
  try {
    const bursts: Array<{ p50: number; p90: number; last: number; cpu: number }> = [];
    for (let burst = 0; burst <= BURSTS; burst += 1) {
      await until('the pool is full', claims.isFull, 120_000);
      await claims.connect();
      const before = await cpuMs(claims.api.pid);
      const latencies = await Promise.all(
        Array.from({ length: CLAIMS }, (_, index) => claims.claim(`burst-${burst}-${index}`)),
      );
      const cpu = (await cpuMs(claims.api.pid)) - before;
      if (burst > 0)
        bursts.push({
          p50: percentile(latencies, 0.5),
          p90: percentile(latencies, 0.9),
          last: Math.max(...latencies),
          cpu: cpu / CLAIMS,
        });
    }
    const floor = await claims.floor();
    for (const figure of ['p50', 'p90', 'last'] as const)
      report.figure({
        figure,
        value: percentile(
          bursts.map((burst) => burst[figure]),
          0.5,
        ),
        unit: 'ms',
        floor,
        n: bursts.length * CLAIMS,
      });
    report.figure({
      figure: 'worst-last',
      value: Math.max(...bursts.map((burst) => burst.last)),
      unit: 'ms',
      floor,
      n: bursts.length * CLAIMS,
    });
    report.figure({
      figure: 'cpu-per-claim',
      value: percentile(
        bursts.map((burst) => burst.cpu),
        0.5,
      ),
      unit: 'ms',
      n: bursts.length * CLAIMS,
    });
  } finally {
    await claims.stop();
  }
}
