// Rolling restart of each deployment, two replicas one after the other: 20 running conversations, 50 requests/s; pages
// and sockets into sandboxes too; what fails, what is lost, how long sockets are away.
import { cleanExitOf, DEPLOYMENTS, type Deployment } from '../tests/rolling/fleet.ts';
import { OpenRolling } from '../tests/rolling/open-rolling.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const CONVERSATIONS = quick(20, 1);
const PER_SECOND = quick(50, 5);
/** As the chart has it is longer: it only has to be above what the balancer takes to learn of it. Seconds. */
const DRAIN_SECONDS = quick(3, 1);

export default async function run(report: Report): Promise<void> {
  const rolling = await OpenRolling.open({
    conversations: CONVERSATIONS,
    perSecond: PER_SECOND,
    drainSeconds: DRAIN_SECONDS,
  });
  let failed = 0;
  try {
    for (const name of quick<readonly Deployment[]>(DEPLOYMENTS, ['app-server'])) {
      rolling.load.take();
      rolling.takeOutages();
      rolling.takeSandboxSocketOutages();
      const began = performance.now();
      const exits = await rolling.fleet.roll(name);
      await rolling.goesOn(name, 60_000);
      const tookMs = performance.now() - began;
      const { requests, repeated, failed: problems, slowestMs } = rolling.load.take();
      const outages = rolling.takeOutages().map(({ ms }) => ms);
      const sandboxSocketOutages = rolling.takeSandboxSocketOutages().map(({ ms }) => ms);
      failed += problems.length;
      for (const problem of problems) console.error(problem);
      report.figure({ figure: `${name}-failed`, value: problems.length, unit: 'count', n: requests });
      report.figure({ figure: `${name}-repeated`, value: repeated, unit: 'count', n: requests });
      report.figure({ figure: `${name}-slowest-request`, value: slowestMs, unit: 'ms', n: requests });
      report.figure({ figure: `${name}-sockets-resumed`, value: outages.length, unit: 'count', n: CONVERSATIONS });
      report.figure({
        figure: `${name}-resume-p50`,
        value: outages.length === 0 ? 0 : percentile(outages, 0.5),
        unit: 'ms',
        n: outages.length,
      });
      report.figure({
        figure: `${name}-resume-slowest`,
        value: Math.max(0, ...outages),
        unit: 'ms',
        n: outages.length,
      });
      report.figure({
        figure: `${name}-sandbox-sockets-resumed`,
        value: sandboxSocketOutages.length,
        unit: 'count',
        n: CONVERSATIONS,
      });
      report.figure({
        figure: `${name}-sandbox-resume-slowest`,
        value: Math.max(0, ...sandboxSocketOutages),
        unit: 'ms',
        n: sandboxSocketOutages.length,
      });
      report.figure({
        figure: `${name}-slowest-stop`,
        value: Math.max(...exits.map(({ afterMs }) => afterMs)),
        unit: 'ms',
        n: exits.length,
      });
      report.figure({
        figure: `${name}-unclean-stops`,
        value: exits.filter(({ code }) => code !== cleanExitOf(name)).length,
        unit: 'count',
        n: exits.length,
      });
      report.figure({ figure: `${name}-rolled`, value: tookMs, unit: 'ms', n: exits.length });
    }
    const wrong = await rolling.finish();
    for (const problem of wrong) console.error(problem);
    const events = rolling.talks.reduce((sum, talk) => sum + talk.events.length, 0);
    report.figure({ figure: 'events-lost-or-doubled', value: wrong.length, unit: 'count', n: events });
    report.figure({
      figure: 'failed-after-retry',
      value: failed + rolling.load.take().failed.length,
      unit: 'count',
      n: events,
    });
  } finally {
    await rolling.close();
  }
}
