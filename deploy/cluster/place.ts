import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { TestCluster } from '@slipway/testing/cluster';
import { POSTGRES_PORT, POSTGRES_USER } from './images/postgres-image.ts';
import { applyManifest, besideReady, type Variables } from './manifest.ts';

/** Where one release goes: what `place.yaml` makes. */
export interface Place {
  readonly release: string;
  readonly namespace: string;
  /** The folder of this machine that is its workspace store. */
  readonly workspaces: string;
  /** Its database for whoever may do everything there, from this machine. */
  adminUrl(): Promise<string>;
}

export interface PlaceOptions {
  readonly release: string;
  readonly namespace: string;
  /** Name of its Postgres in `slipway-beside`. */
  readonly postgres: string;
  /** A folder for its store. */
  readonly folder: string;
  readonly variables: Variables;
}

const WAYS_IN = ['from-outside', 'sandboxes-from-outside'];

/**
 * A namespace with nothing of Slipway in it, a Postgres and a store of its own, both empty. @param before whose way in
 * from outside this one gets.
 */
export async function openPlace(cluster: TestCluster, options: PlaceOptions, before?: Place): Promise<Place> {
  const { release, namespace, postgres, folder, variables } = options;
  const workspaces = path.join(folder, namespace);
  await mkdir(workspaces);
  // The volume is a folder of this machine; its writers are users of the pods.
  await chmod(workspaces, 0o777);
  if (before !== undefined) await cluster.kubectl(['-n', before.namespace, 'delete', 'service', ...WAYS_IN]);
  await applyManifest(cluster, 'place.yaml', {
    ...variables,
    RELEASE: release,
    NAMESPACE: namespace,
    POSTGRES: postgres,
    WORKSPACES: workspaces,
  });
  return {
    release,
    namespace,
    workspaces,
    adminUrl: async () => {
      await besideReady(cluster);
      const address = await cluster.kubectl([
        '-n',
        'slipway-beside',
        'get',
        'pod',
        '-l',
        `app=${postgres}`,
        '-o',
        'jsonpath={.items[0].status.podIP}',
      ]);
      return `postgresql://${POSTGRES_USER}:${variables['POSTGRES_PASSWORD']}@${address}:${POSTGRES_PORT}/postgres`;
    },
  };
}
