import { once } from 'node:events';
import type { TestCluster } from '@slipway/testing/cluster';

/** Longest run of `ip`. Milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Cuts the way back from pods: what is sent to them arrives, and none of their answers gets out of the cluster's
 * network. The worse half of a partition: a sandbox may accept a claim without its answer arriving. @param range
 * addresses of pods. @returns what heals it.
 */
export async function cutOff(cluster: TestCluster, range: string): Promise<() => Promise<void>> {
  const rule = ['from', range, 'to', cluster.hostAddress, 'blackhole', 'priority', '50'];
  await ip(cluster, ['rule', 'add', ...rule]);
  return () => ip(cluster, ['rule', 'del', ...rule]);
}

async function ip(cluster: TestCluster, args: readonly string[]): Promise<void> {
  const child = cluster.spawnInside('ip', args);
  let said = '';
  child.stderr?.on('data', (part: Buffer) => {
    said += part.toString();
  });
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${said}`);
}
