import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { TestCluster } from '@slipway/testing/cluster';
import { applyManifest, type Variables } from './manifest.ts';

export interface PlaceOptions {
  readonly release: string;
  readonly namespace: string;
  /** Name of its Postgres in `slipway-beside`. */
  readonly postgres: string;
  /** A folder for its store. */
  readonly folder: string;
  readonly variables: Variables;
}

/** A namespace with nothing of Slipway in it, a Postgres and a store of its own, both empty. */
export async function openPlace(cluster: TestCluster, options: PlaceOptions): Promise<void> {
  const { release, namespace, postgres, folder, variables } = options;
  const workspaces = path.join(folder, namespace);
  await mkdir(workspaces);
  // The volume is a folder of this machine; who writes there is somebody of the pods.
  await chmod(workspaces, 0o777);
  await applyManifest(cluster, 'place.yaml', { ...variables, RELEASE: release, NAMESPACE: namespace, POSTGRES: postgres, WORKSPACES: workspaces });
}
