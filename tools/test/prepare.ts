import type { Suite } from './suites.ts';

/** What takes minutes to build once, and the suites that want it. */
const CLUSTER_SUITES = ['tests/cluster', 'tests/install'];
const HELM_SUITES = ['tests/helm', 'tests/install'];
const GITEA_SUITES = ['tests/gitea', 'tests/integrations', 'tests/publish'];

/**
 * Builds what the suites share and no test has the time for. What could be built and is not makes its suites fail; what
 * cannot be built here is said.
 */
export async function prepare(
  suites: readonly Suite[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const wanted = (names: readonly string[]): boolean => suites.some(({ name }) => names.includes(name));

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
