import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import { chartCommand } from '../../deploy/cluster/helm-client.ts';
import { missingForInstall, type OpenInstall, openInstall } from '../../deploy/cluster/open-install.ts';
import { runDocumented } from '../operate/documented.ts';
import { openPostgresClient } from '../operate/postgres-client.ts';
import { Backup } from './backup.ts';
import { ofRelease, podNames } from './release-objects.ts';
import { missingForBrowser, User } from './user.ts';

const missing = (await missingForInstall()) ?? missingForBrowser();
const client = missing ?? (await openPostgresClient());
const DEPLOYMENTS = ['app-server', 'llm-gateway', 'runtime-api', 'sandbox-gateway', 'web', 'worker'];
/** How far the agent counts while everything around it is replaced, one number a second. */
const COUNT = 20;

jest.setTimeout(900_000);

describeUnless(missing)('the chart, installed on a cluster', () => {
  let on: OpenInstall;
  let user: User;
  beforeAll(async () => {
    on = await openInstall();
    user = await User.open(on);
  });
  afterAll(async () => {
    await user?.close();
    await on?.close();
  });

  /** One after the other: after a step that failed the next ones would only wait. */
  let broken = false;
  const step = (name: string, work: () => Promise<void>, missing?: string): void => {
    it(name, async () => {
      if (missing !== undefined) return skipTest(missing);
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await user?.page.screenshot({ path: `test-results/${name.replaceAll(/[^a-z]+/gi, '-')}.png` });
        throw new Error(`${String(error)}\n\nThe page shows: ${await user?.page.innerText('body')}`, { cause: error });
      }
    });
  };
  const bothReady = async (): Promise<void> => {
    const { items } = JSON.parse(await on.cluster.kubectl(['-n', 'slipway', 'get', 'deployments', '-o', 'json'])) as {
      items: { metadata: { name: string }; status: { readyReplicas?: number } }[];
    };
    expect(items.map(({ metadata, status }) => [metadata.name, status.readyReplicas])).toEqual(
      DEPLOYMENTS.map((app) => [`slipway-${app}`, 2]),
    );
    await on.reachable();
  };
  const leavesNothing = async (release: string, namespace: string): Promise<void> => {
    expect(await ofRelease(on.cluster, release)).toEqual([]);
    expect((await on.helm.try(['status', release, '--namespace', namespace])).said).toContain('release: not found');
  };

  step('a Secret that is not there is named before anything is made', async () => {
    const { code, said } = await on.helm.try(
      chartCommand('install', [...on.flags, '--set', 'oidc.existingSecret=nowhere']),
    );
    expect(code).not.toBe(0);
    expect(said).toContain('oidc.existingSecret: there is no Secret nowhere in namespace slipway');
    await leavesNothing('slipway', 'slipway');
  });

  step('an installer without rights reads which, and leaves nothing half-installed', async () => {
    await on.cluster.kubectl(['-n', 'slipway', 'create', 'serviceaccount', 'installer']);
    const asInstaller = ['--kube-as-user', 'system:serviceaccount:slipway:installer'];
    const none = await on.helm.try(chartCommand('install', [...on.flags, ...asInstaller]));
    expect([none.code === 0, none.said]).toEqual([
      false,
      expect.stringMatching(/is forbidden: User "system:serviceaccount:slipway:installer" cannot/),
    ]);
    await leavesNothing('slipway', 'slipway');
    // All of its own namespace, as many a team has, and nothing of the cluster.
    await on.cluster.kubectl([
      '-n',
      'slipway',
      'create',
      'rolebinding',
      'installer',
      '--clusterrole=admin',
      '--serviceaccount=slipway:installer',
    ]);
    const own = await on.helm.try(chartCommand('install', [...on.flags, ...asInstaller]));
    expect([own.code === 0, own.said]).toEqual([
      false,
      expect.stringMatching(/is forbidden: User "system:serviceaccount:slipway:installer" cannot/),
    ]);
    await leavesNothing('slipway', 'slipway');
  });

  step('preflight says all that is wrong with the cluster before anything is made', async () => {
    const wrong = [
      'oidc.issuerUrl=https://nobody.slipway.test/realms/slipway',
      `sandboxes.image.digest=sha256:${'0'.repeat(64)}`,
    ];
    const { code, said } = await on.helm.try(
      chartCommand('install', [...on.flags, ...wrong.flatMap((value) => ['--set', value])]),
    );
    expect(code).not.toBe(0);
    expect(said).toContain('Nothing was installed or changed.');
    expect(said).toMatch(/oidc\.issuerUrl: \S+ cannot be reached: getaddrinfo ENOTFOUND nobody\.slipway\.test/);
    expect(said).toMatch(
      /sandboxes\.image: nothing pulls it \(pullPolicy Never\), and real-0 of 1 nodes do not have slipway\.local\/sandbox@sha256:0+/,
    );
    // It stays with its words.
    expect(await ofRelease(on.cluster, 'slipway')).toEqual(['Job slipway/slipway-preflight']);
  });

  step('corrected and run again, one command installs it: two replicas of everything are ready', async () => {
    await on.imagesKnown();
    await on.helm.run([...chartCommand('upgrade', on.flags), '--install']);
    await bothReady();
  });

  let asked: Awaited<ReturnType<User['signIn']>> | undefined;
  let conversation = '';
  step('a user signs in, gives a task, sees its steps, its end and its diff, in a browser', async () => {
    asked = await user.signIn();
    await user.giveTask('Look around and leave a short note', on.repositoryUrl);
    conversation = user.page.url();
    await user.sees(/^Started: 7 steps/);
    await user.sees('First I look around, with a real shell.');
    await user.statusIs('Finished');
    expect(await user.opensDiff(/SLIPWAY_DEMO\.md/)).toContain('Slipway');
    expect(await user.wholeLog()).toEqual(['Look around and leave a short note']);
  });

  it('the sign-in went through the page of a real Keycloak', () => {
    if (asked === undefined || on.issuer.missing !== null) return skipTest(on.issuer.missing ?? 'nobody has signed in');
    expect(asked).toEqual({
      url: expect.stringMatching(/^https:\/\/id\.slipway\.test\/realms\/slipway\/protocol\/openid-connect\/auth\?/),
      title: 'Sign in to Slipway',
    });
  });

  step('sandbox-gateway admits the browser with a ticket, on an origin of its own, and no other', async () => {
    const { url, ticket } = await user.grantSandbox('agent-server');
    expect(new URL(url).hostname).toMatch(/^8000-[0-9a-f-]+\.sandboxes\.slipway\.test$/);
    expect(await user.opens(`${url}alive`)).toMatchObject({ status: 401 });
    expect(await user.entersSandbox(ticket, '/alive')).toEqual({
      status: 200,
      url: `${url}alive`,
      text: '{"status":"ok"}',
    });
  });

  step('helm test passes', async () => {
    expect(await on.helm.run(['test', 'slipway', '--namespace', 'slipway', '--timeout', '120s'])).toMatch(
      /Phase:\s+Succeeded/,
    );
  });

  step('a second release on the same sandboxes is refused in words, and the first has what it had', async () => {
    const before = await ofRelease(on.cluster, 'slipway');
    const { code, said } = await on.helm.try(
      chartCommand('install', [...on.flags, '--create-namespace'], 'other', 'other'),
    );
    expect(code).not.toBe(0);
    expect(said).toContain('slipway-sandboxes belongs to release slipway in namespace slipway');
    await leavesNothing('other', 'other');
    expect(await ofRelease(on.cluster, 'slipway')).toEqual(before);
  });

  step(
    'an upgrade that restarts everything in the middle of a run loses no message, and the page goes on by itself',
    async () => {
      await user.giveTask(`Count to ${COUNT}`, on.repositoryUrl);
      await user.sees(/a good moment to try Stop/);
      await user.page.evaluate(() => Object.assign(globalThis, { stillTheSamePage: true }));
      const old = await podNames(on.cluster, 'slipway');
      const upgrade = on.helm.run(chartCommand('upgrade', [...on.flags, '--set', 'pods.annotations.restarted=once']));
      upgrade.catch(() => {});
      const sent: string[] = [];
      const sendsOne = async (text: string): Promise<void> => {
        sent.push(text);
        await user.send(text);
      };
      const ask = (args: readonly string[]): Promise<string> => on.cluster.kubectl(['-n', 'slipway', ...args]);
      for (const app of DEPLOYMENTS) {
        await ask([
          'wait',
          `deployment/slipway-${app}`,
          '--for=jsonpath={.spec.template.metadata.annotations.restarted}=once',
          '--timeout=150s',
        ]);
        await sendsOne(`Count to 1 while ${app} is replaced`);
        await ask(['rollout', 'status', `deployment/slipway-${app}`, '--timeout=150s']);
      }
      await upgrade;
      const now = await podNames(on.cluster, 'slipway');
      expect(now.filter((name) => old.includes(name))).toEqual([]);
      await sendsOne('Count to 1 after the upgrade');
      // They are taken in by their order.
      await user.sees(sent.at(-1) ?? '', 90_000);
      await user.statusIs('Finished');
      expect(await user.wholeLog()).toEqual([`Count to ${COUNT}`, ...sent]);
      expect(await user.page.evaluate(() => 'stillTheSamePage' in globalThis)).toBe(true);
    },
  );

  step(
    'a Helm that was killed in the middle of an upgrade leaves a release that the commands of docs/operate/upgrade.md bring back',
    async () => {
      const restarted = ['--set', 'pods.annotations.restarted=twice'];
      await on.helm.killed(chartCommand('upgrade', [...on.flags, ...restarted]), async () => {
        const { said } = await on.helm.try(['status', 'slipway', '--namespace', 'slipway']);
        return said.includes('pending-upgrade');
      });
      const { code, said } = await on.helm.try(chartCommand('upgrade', on.flags));
      expect([code === 0, said]).toEqual([
        false,
        expect.stringContaining('another operation (install/upgrade/rollback) is in progress'),
      ]);
      await runDocumented('upgrade.md', 'stuck', on.helm.environment);
      expect(await on.helm.run(['status', 'slipway', '--namespace', 'slipway'])).toContain('STATUS: deployed');
      await bothReady();
    },
  );

  step('an uninstall leaves sandboxes at work what confines them, and otherwise the kept Secret alone', async () => {
    const confines = async (): Promise<string[]> =>
      (await ofRelease(on.cluster, 'slipway')).filter((one) =>
        /^(Namespace|LimitRange|NetworkPolicy slipway-sandboxes|ValidatingAdmission)/.test(one),
      );
    const before = await confines();
    const pods = (): Promise<string> =>
      on.cluster.kubectl(['-n', 'slipway-sandboxes', 'get', 'pods', '-l', 'slipway.dev/claim', '-o', 'name']);
    const atWork = await pods();
    expect(atWork).not.toBe('');
    await on.helm.run(['uninstall', 'slipway', '--namespace', 'slipway', '--wait', '--timeout', '120s']);
    expect(await confines()).toEqual(before);
    expect(await ofRelease(on.cluster, 'slipway')).toEqual([...before, 'Secret slipway/slipway-secrets'].sort());
    expect(await pods()).toBe(atWork);
    // Not only there: it still refuses, also the administrator.
    const intruder = ['-n', 'slipway-sandboxes', 'create', 'deployment', 'intruder', '--image=slipway.local/none'];
    await expect(on.cluster.kubectl(intruder)).rejects.toThrow('Only runtime-api makes pods in this namespace');
    const [pod = ''] = atWork.split('\n');
    const unfenced = ['-n', 'slipway-sandboxes', 'label', pod, 'slipway.dev/egress=none', '--overwrite'];
    await expect(on.cluster.kubectl(unfenced)).rejects.toThrow('Only runtime-api changes sandboxes');
  });

  step(
    'an install over what the uninstall left goes on with the same secrets, the same session and the same conversation',
    async () => {
      const secrets = (): Promise<string> =>
        on.cluster.kubectl(['-n', 'slipway', 'get', 'secret', 'slipway-secrets', '-o', 'jsonpath={.data}']);
      const before = await secrets();
      await on.helm.run(chartCommand('install', on.flags));
      await bothReady();
      expect(await secrets()).toBe(before);
      await user.page.reload();
      const messages = await user.wholeLog();
      await user.send('Count to 2');
      await user.sees('I count to 2, one number a second');
      await user.statusIs('Finished');
      expect(await user.wholeLog()).toEqual([...messages, 'Count to 2']);
    },
  );

  step(
    'backed up and restored into a fresh namespace by the commands of docs/operate/backup.md, a conversation goes on with its log and its files',
    async () => {
      await user.page.goto(conversation);
      await user.pause();
      const messages = await user.wholeLog();
      const backup = await Backup.take(on, typeof client === 'string' ? '' : client.folder);
      await backup.restore();
      await user.page.reload();
      expect(await user.wholeLog()).toEqual(messages);
      await user.send('And once more');
      // It finds what the first message left in the workspace.
      await user.sees('SLIPWAY_DEMO.md is there with 1 entry.', 90_000);
      await user.statusIs('Finished');
      expect(await user.wholeLog()).toEqual([...messages, 'And once more']);
      // And in no sandbox of the old release.
      const places = await on.cluster.kubectl([
        'get',
        'pods',
        '--all-namespaces',
        '-l',
        'slipway.dev/claim',
        '-o',
        'jsonpath={.items[*].metadata.namespace}',
      ]);
      expect([...new Set(places.split(' '))]).toEqual(['restored-sandboxes']);
    },
    typeof client === 'string' ? client : undefined,
  );
});
