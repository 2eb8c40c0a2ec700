import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Suite } from './suites.ts';

/** What takes minutes to build once, and the suites that want it. */
const CLUSTER_SUITES = ['tests/cluster', 'tests/install'];
const HELM_SUITES = ['tests/helm', 'tests/install'];
const GITEA_SUITES = ['tests/gitea', 'tests/integrations', 'tests/publish'];

/** Behind the tests that run meanwhile. */
const NICE = 10;

/**
 * Builds what the suites share and no test has the time for, beside tests, in a process of its own. What could be built
 * and is not makes its suites fail; what cannot be built here is said. Never rejects.
 */
export async function prepareBeside(
  suites: readonly Suite[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const names = suites.map(({ name }) => name);
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'prepare.ts'), ...names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  createInterface(child.stdout).on('line', say);
  const [code] = (await once(child, 'close').catch((error: unknown) => [String(error)])) as [unknown];
  signal.removeEventListener('abort', stop);
  if (code !== 0 && !signal.aborted) say(`What suites share was not built (${code}); those that need it fail.`);
}

async function prepare(names: readonly string[], say: (line: string) => void, signal: AbortSignal): Promise<void> {
  const wanted = (suites: readonly string[]): boolean => names.some((name) => suites.includes(name));

  if (wanted(CLUSTER_SUITES)) {
    const { prepareTestCluster } = await import('@slipway/testing/cluster');
    const missing = await prepareTestCluster(say, signal).catch((error: unknown) => String(error));
    if (missing !== null) say(`${missing} What needs a cluster is not run.`);
  }

  if (wanted(HELM_SUITES)) {
    const { missingForHelm, openHelm } = await import('@slipway/testing/helm');
    const missing = missingForHelm() ?? (await openHelm({ say, signal }).then(() => null, String));
    if (missing !== null) say(`${missing} The chart is not tested.`);
  }

  if (wanted(GITEA_SUITES)) {
    const { missingForGitea, prepareGitea, prepareGiteaPages } = await import('@slipway/testing/gitea');
    const missing = (await missingForGitea()) ?? (await prepareGitea(say, signal).then(() => null, String));
    if (missing !== null) say(`${missing} What needs a real git host is not run.`);
    const plain = missing ?? (await prepareGiteaPages(say, signal).catch(String));
    if (plain !== null && plain !== missing) say(plain);
  }
}

if (import.meta.main) {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort(new Error(name)));
  os.setPriority(NICE);
  await prepare(process.argv.slice(2), console.log, stop.signal);
}
