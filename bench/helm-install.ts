// From `helm install` to the first finished conversation, on a cluster of one node that has the images, with two
// replicas of everything; the target is 90 s.
import { chartCommand } from '../deploy/cluster/helm-client.ts';
import { missingForInstall, openInstall } from '../deploy/cluster/open-install.ts';
import { User } from '../tests/install/user.ts';
import { NOT_QUICK, QUICK } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** Each on a cluster of its own. */
const N = Number(process.env['HELM_INSTALL_N'] ?? 3);

export default async function run(report: Report): Promise<void> {
  const missing = QUICK ? NOT_QUICK : await missingForInstall();
  if (missing !== null) return report.note(`not measured: ${missing}`);
  for (let n = 1; n <= N; n += 1) {
    const on = await openInstall();
    const user = await User.open(on);
    try {
      await on.imagesKnown();
      const began = performance.now();
      const since = (): number => (performance.now() - began) / 1_000;
      await on.helm.run(chartCommand('install', on.flags));
      report.figure({ figure: 'installed', value: since(), unit: 's', n: 1 });
      await on.reachable();
      await user.signIn();
      report.figure({ figure: 'signed-in', value: since(), unit: 's', n: 1 });
      await user.giveTask('Look around and leave a short note', on.repositoryUrl);
      await user.statusIs('Finished');
      report.figure({ figure: 'first-conversation-finished', value: since(), unit: 's', n: 1 });
    } finally {
      await user.close();
      await on.close();
    }
  }
  report.note(
    'Seconds since `helm install` was called: every pod ready; the demo person signed in; the demo model has finished.',
  );
}
