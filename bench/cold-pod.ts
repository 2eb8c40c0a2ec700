// A sandbox's pod from its creation to agent-server's first answer, on a real node with its image there: one at a time
// and four at once, and where the time goes.
import { missingForTestCluster } from '@slipway/testing/cluster';
import { SANDBOXES } from '../tests/cluster/contract-pod.ts';
import { openBackendCluster } from '../tests/cluster/open-backend.ts';
import { newSlot } from '../tests/cluster/platform-cluster.ts';
import { PodClock, type PodTimes } from './measure/cluster-pod-times.ts';
import { percentile } from './measure/percentile.ts';
import { NOT_QUICK, QUICK } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** In batches of one, and of four. */
const N = Number(process.env['COLD_POD_N'] ?? 32);
const AT_ONCE = [1, 4] as const;
/** The first ones read the image's files from the disk. */
const WARMUP = 2;

export default async function run(report: Report): Promise<void> {
  const missing = QUICK ? NOT_QUICK : await missingForTestCluster();
  if (missing !== null) return report.note(`not measured: ${missing}`);
  const opened = await openBackendCluster();
  try {
    const { cluster } = opened.platform;
    if (!cluster.capabilities.podAddresses)
      return report.note('not measured: this process does not reach the addresses of pods on this cluster.');
    const backend = await opened.open();
    const signal = AbortSignal.timeout(1_800_000);
    const clock = await new PodClock(cluster.kubeconfig, SANDBOXES).start();
    const once = async (): Promise<PodTimes> => {
      const slotId = newSlot();
      const name = `sb-${slotId}`;
      const times = await clock.time(name, () => backend.ensure({ name, slotId, image: opened.template.name }, signal));
      const pod = await backend.observe(name, signal);
      if (pod.state === 'running') await backend.remove(name, pod.uid, signal);
      return times;
    };
    for (let index = 0; index < WARMUP; index += 1) await once();
    for (const atOnce of AT_ONCE) {
      const all: PodTimes[] = [];
      const nodeCpu = cpuOf(cluster.usage());
      for (let done = 0; done < N; done += atOnce)
        all.push(...(await Promise.all(Array.from({ length: atOnce }, once))));
      const name = atOnce === 1 ? '' : `-${atOnce}-at-once`;
      const figure = (label: string, value: (times: PodTimes) => number): void => {
        report.figure({
          figure: `${label}-p50${name}`,
          value: percentile(all.map(value), 0.5),
          unit: 'ms',
          n: all.length,
        });
        report.figure({
          figure: `${label}-p99${name}`,
          value: percentile(all.map(value), 0.99),
          unit: 'ms',
          n: all.length,
        });
      };
      figure('answered', ({ answered }) => answered);
      figure('known', ({ answered, agentStarted }) => Math.max(answered, agentStarted));
      figure('part-made', ({ made }) => made);
      figure('part-scheduled', ({ made, scheduled }) => scheduled - made);
      figure('part-tools-started', ({ scheduled, toolsStarted }) => toolsStarted - scheduled);
      figure('part-agent-started', ({ toolsStarted, agentStarted }) => agentStarted - toolsStarted);
      figure('part-answer-after-started', ({ agentStarted, answered }) => answered - agentStarted);
      report.figure({
        figure: `cpu-cluster${name}`,
        value: (cpuOf(cluster.usage()) - nodeCpu) / all.length,
        unit: 'ms',
        n: all.length,
      });
    }
    report.note(
      'answered: agent-server answers; known: and the kubelet has reported it, which is when the pool may use it. Parts are as the API server tells of them; negative: it had answered before it was said to run.',
    );
  } finally {
    await opened.close();
  }
}

const cpuOf = (usage: readonly { cpuSeconds: number }[]): number =>
  usage.reduce((sum, { cpuSeconds }) => sum + cpuSeconds * 1_000, 0);
