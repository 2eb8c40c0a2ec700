import { access, constants } from 'node:fs/promises';
import { buildPrograms, builtPrograms, lackForBuilding } from './build/build.js';
import { findProgram } from './find-program.js';
import { openLabCluster } from './lab/lab-cluster.js';
import type { TestCluster, TestClusterOptions } from './test-cluster.js';
import { ClusterUnavailable } from './unavailable.js';

/**
 * A Kubernetes cluster to test against: the one of SLIPWAY_TEST_KUBECONFIG or KUBECONFIG; else `kind` where a Docker daemon answers; else built from
 * Go modules and run in namespaces of its own, which takes minutes the first time and seconds after.
 *
 * @throws ClusterUnavailable with one sentence when none of them can be had; Error when one should have come up and did not.
 */
export async function openTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const lack = await lackForTestCluster();
  if (lack !== null) throw new ClusterUnavailable(lack);
  return openLabCluster(await buildPrograms(say, options.signal), options);
}

/** Why no cluster can be had here, as one sentence; `null` when one can. Takes a second at most and builds nothing. */
export async function lackForTestCluster(): Promise<string | null> {
  const lack = (await lackForRunning()) ?? ((await builtPrograms()) === null ? await lackForBuilding() : null);
  return lack === null ? null : `No Kubernetes cluster for tests: no KUBECONFIG is set, no Docker daemon answers kind, and ${lack}.`;
}

/** What running a built cluster lacks. */
async function lackForRunning(): Promise<string | null> {
  if (process.platform !== 'linux') return `running one of its own needs Linux, and this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'running one of its own needs root';
  for (const [program, debianPackage] of [
    ['ip', 'iproute2'],
    ['nsenter', 'util-linux'],
    ['unshare', 'util-linux'],
    ['setpriv', 'util-linux'],
  ] as const)
    if (findProgram(program) === null) return `running one of its own needs ${program}: apt-get install ${debianPackage}`;
  const writable = await access('/sys/fs/cgroup', constants.W_OK).then(
    () => true,
    () => false,
  );
  return writable ? null : 'running one of its own needs a writable /sys/fs/cgroup';
}
