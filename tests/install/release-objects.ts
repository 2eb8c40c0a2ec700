import type { TestCluster } from '@slipway/testing/cluster';

interface List {
  readonly items: readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
  }[];
}

/**
 * Everything in the cluster that bears the release's label, of every kind that can be listed: `Kind namespace/name`,
 * sorted. Pods and what controllers make beside them are of their owners.
 */
export async function ofRelease(cluster: TestCluster, release: string): Promise<string[]> {
  const kinds = (await cluster.kubectl(['api-resources', '--verbs=list,delete', '-o', 'name']))
    .split('\n')
    .filter((kind) => kind !== '' && !IGNORED.has(kind));
  const { items } = JSON.parse(
    await cluster.kubectl([
      'get',
      kinds.join(','),
      '--all-namespaces',
      '-l',
      `app.kubernetes.io/instance=${release}`,
      '-o',
      'json',
    ]),
  ) as List;
  return items
    .map(
      ({ kind, metadata: { name, namespace } }) => `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
    )
    .sort();
}

const IGNORED = new Set([
  'pods',
  'replicasets.apps',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'controllerrevisions.apps',
  'events',
  'events.events.k8s.io',
]);

/** Pods of the release's deployments not deleted yet. */
export async function podNames(cluster: TestCluster, release: string): Promise<string[]> {
  const { items } = JSON.parse(
    await cluster.kubectl([
      '-n',
      release,
      'get',
      'pods',
      '-l',
      `app.kubernetes.io/instance=${release},pod-template-hash`,
      '-o',
      'json',
    ]),
  ) as { items: { metadata: { name: string; deletionTimestamp?: string } }[] };
  return items.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [metadata.name] : [])).sort();
}
