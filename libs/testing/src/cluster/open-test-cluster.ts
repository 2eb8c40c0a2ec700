import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { buildPrograms, builtPrograms, missingForBuilding } from './build/build.js';
import { findProgram } from './find-program.js';
import { givenKubeconfig, openGivenCluster } from './given-cluster.js';
import { canRunKind, openKindCluster } from './kind-cluster.js';
import { openLabCluster } from './lab/lab-cluster.js';
import type { TestCluster, TestClusterOptions } from './test-cluster.js';
import { ClusterUnavailable } from './unavailable.js';

const run = promisify(execFile);

/**
 * A Kubernetes cluster to test against: the one of SLIPWAY_TEST_KUBECONFIG or KUBECONFIG; else `kind` where a Docker
 * daemon answers; else built from Go modules and run in namespaces of its own, which takes minutes the first time and
 * seconds after.
 *
 * The first two take no options: what a test needs of them stands in `capabilities`.
 *
 * @throws ClusterUnavailable with one sentence when none of them can be had; Error when one should have come up and did
 * not.
 */
export async function openTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const given = givenKubeconfig();
  if (given !== null) return openGivenCluster(given);
  if (await canRunKind()) return openKindCluster();
  return openBuiltCluster(options);
}

/** One of its own, whatever else the machine has: for tests that break it. @throws as `openTestCluster`. */
export async function openBuiltCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const missing = await missingForBuiltCluster();
  if (missing !== null) throw new ClusterUnavailable(missing);
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`));
  return openLabCluster(await buildPrograms(say, options.signal), options);
}

/**
 * Why no cluster can be had here, as one sentence; `null` when one can. Takes some seconds at most and builds nothing.
 */
export async function missingForTestCluster(): Promise<string | null> {
  if (givenKubeconfig() !== null || (await canRunKind())) return null;
  return missingForBuiltCluster();
}

/** Why none of its own can be had here, as one sentence; `null` when it can. */
export async function missingForBuiltCluster(): Promise<string | null> {
  const missing = (await missingForRunning()) ?? ((await builtPrograms()) === null ? await missingForBuilding() : null);
  return missing === null
    ? null
    : `There is no Kubernetes to test against: no KUBECONFIG is set, kind finds no Docker daemon, and ${missing}.`;
}

/**
 * Does everything that takes minutes, so that the tests themselves need not. @returns the sentence of
 * `missingForTestCluster`.
 * @throws Error when it can be built and the build fails.
 */
export async function prepareTestCluster(say: (line: string) => void, signal?: AbortSignal): Promise<string | null> {
  const missing = await missingForTestCluster();
  if (missing === null && givenKubeconfig() === null && !(await canRunKind())) await buildPrograms(say, signal);
  return missing;
}

/** The archive of `ECHO_IMAGE`, for `importImage`. Builds it when needed. */
export async function echoArchive(): Promise<string> {
  return path.join(await buildPrograms(() => {}), 'echo.tar');
}

/** What running a built cluster misses. */
async function missingForRunning(): Promise<string | null> {
  if (process.platform !== 'linux') return `one of its own needs Linux, and this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'one of its own needs root';
  for (const [program, debianPackage] of [
    ['ip', 'iproute2'],
    ['nsenter', 'util-linux'],
    ['unshare', 'util-linux'],
    ['setpriv', 'util-linux'],
  ] as const)
    if (findProgram(program) === null) return `one of its own needs ${program}: apt-get install ${debianPackage}`;
  for (const [place, mode] of [
    ['/sys/fs/cgroup', constants.W_OK],
    ['/dev/kmsg', constants.R_OK],
  ] as const)
    if (!(await succeeds(access(place, mode))))
      return `one of its own needs ${place}, which this user or container may not use`;
  const unshare = run('unshare', ['--mount', '--net', '--pid', '--fork', 'true'], { timeout: 10_000 });
  return (await succeeds(unshare))
    ? null
    : 'one of its own needs namespaces, which this user or container may not make';
}

const succeeds = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );
