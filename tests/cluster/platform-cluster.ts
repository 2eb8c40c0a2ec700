import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { until } from '@slipway/testing';
import { openTestCluster, type TestCluster, type TestClusterOptions } from '@slipway/testing/cluster';
import { contractPod, RUNTIME_API, SANDBOXES } from './contract-pod.ts';
import { KubeApi } from './kube-api.ts';

const MANIFESTS = path.resolve(import.meta.dirname, '../../deploy/kubernetes');
/** The API server takes up a new policy within a second or so; this is for a busy machine. Milliseconds. */
const IN_FORCE_MS = 30_000;

/** A test cluster on which deploy/kubernetes is applied and in force. */
export interface PlatformCluster {
  readonly cluster: TestCluster;
  readonly api: KubeApi;
  close(): Promise<void>;
}

export async function openPlatformCluster(options: TestClusterOptions = {}): Promise<PlatformCluster> {
  const cluster = await openTestCluster(options);
  try {
    await cluster.kubectl(['apply', '-k', MANIFESTS]);
    const api = KubeApi.of(await cluster.kubectl(['config', 'view', '--raw', '--flatten', '--minify', '-o', 'json']));
    await until('the policies are in force', () => inForce(api), IN_FORCE_MS);
    return {
      cluster,
      api,
      close: async () => {
        api.close();
        await cluster.close();
      },
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** A slot that no other test has. */
export const newSlot = (): string => randomBytes(6).toString('hex');
export const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/**
 * The policy on sessions is applied last: whoever sees it sees all. A good pod is asked for too, since the namespace's
 * own service account takes a moment.
 */
async function inForce(api: KubeApi): Promise<boolean> {
  const shell = await api.ask(`${podsOf(SANDBOXES)}/nobody/exec?command=true`, { method: 'POST' });
  if (shell.body.message?.includes('Nobody opens a shell') !== true) return false;
  return (
    (await api.ask(podsOf(SANDBOXES), { method: 'POST', dryRun: true, as: RUNTIME_API, body: contractPod(newSlot()) }))
      .status === 201
  );
}
