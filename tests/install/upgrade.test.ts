import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import { chartCommand } from '../../deploy/cluster/helm-client.ts';
import { missingForInstall, type OpenInstall, openInstall } from '../../deploy/cluster/open-install.ts';
import { openPreviousRelease, type PreviousRelease } from './previous-release.ts';
import { podNames } from './release-objects.ts';
import { missingForBrowser, User } from './user.ts';

const DEPLOYMENTS = ['app-server', 'llm-gateway', 'runtime-api', 'sandbox-gateway', 'web', 'worker'];
/** How far the agent counts while the one version takes the place of the other, one number a second. */
const COUNT = 40;
const BUILD_MS = 600_000;

/** Two minutes and more: it makes the images of two versions. */
const missing =
  process.env['SLIPWAY_UPGRADE'] === '1'
    ? ((await missingForInstall()) ?? missingForBrowser())
    : 'SLIPWAY_UPGRADE=1 runs it: it builds the images of the version before and takes minutes';
const found = missing ?? (await openPreviousRelease(console.log, AbortSignal.timeout(BUILD_MS)));

jest.setTimeout(900_000);

describeUnless(typeof found === 'string' ? found : false)(
  'the chart of the version before, installed and upgraded to this one while an agent works',
  () => {
    const previous = found as PreviousRelease;
    let on: OpenInstall;
    let user: User;
    /** One after the other: after a step that failed the next ones would only wait. */
    let broken = false;
    const step = (name: string, work: () => Promise<void>): void => {
      it(name, async () => {
        if (broken) return skipTest('an earlier step failed');
        broken = true;
        await work();
        broken = false;
      });
    };
    beforeAll(async () => {
      on = await openInstall();
      for (const archive of previous.archives) await on.cluster.importImage(archive);
      await on.imagesKnown(previous.digest);
      await on.imagesKnown();
      user = await User.open(on);
    });
    afterAll(async () => {
      await user?.close();
      await on?.close();
    });

    step('the version before is installed, and a user of it has a conversation that works', async () => {
      await on.helm.run(chartCommand('install', previous.flags, 'slipway', 'slipway', previous.chart));
      await on.reachable();
      await user.signIn();
      await user.giveTask(`Count to ${COUNT}`, on.repositoryUrl);
      await user.sees(/a good moment to try Stop/);
    });

    step(
      'one helm upgrade brings this version while the agent works: its conversation ends, whole, and takes one more message',
      async () => {
        const old = await podNames(on.cluster, 'slipway');
        expect(old.length).toBe(2 * DEPLOYMENTS.length);
        const conversation = user.page.url();
        const began = performance.now();
        await on.helm.run(chartCommand('upgrade', on.flags));
        await on.reachable();
        console.log(`upgraded in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
        expect((await podNames(on.cluster, 'slipway')).filter((name) => old.includes(name))).toEqual([]);
        // The version before had another session cookie over https, which this one does not take from a browser:
        // whoever was signed in signs in again.
        await user.page.context().clearCookies();
        await user.signIn();
        await user.page.goto(conversation);
        await user.send('Count to 1 after the upgrade');
        await user.sees('Count to 1 after the upgrade', 90_000);
        await user.statusIs('Finished');
        expect(await user.wholeLog()).toEqual([`Count to ${COUNT}`, 'Count to 1 after the upgrade']);
      },
    );

    step('a conversation that is new runs in a sandbox of this version, and helm test passes', async () => {
      await user.giveTask('Look around and leave a short note', on.repositoryUrl);
      await user.sees('First I look around, with a real shell.');
      await user.statusIs('Finished');
      expect(await on.helm.run(['test', 'slipway', '--namespace', 'slipway', '--timeout', '120s'])).toMatch(
        /Phase:\s+Succeeded/,
      );
    });
  },
);
