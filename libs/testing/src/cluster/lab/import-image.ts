import path from 'node:path';
import { builtPrograms } from '../build/build.js';
import { ClusterUnavailable } from '../unavailable.js';
import { type ClusterRecord, clusterFolder } from './leftovers.js';
import { ctr } from './real-node.js';

/** Longest import. Milliseconds: 1 GB to a slow disk. The sandbox image (130 MB) takes 6 s on two cores. */
const IMPORT_TIMEOUT_MS = 300_000;

/**
 * Takes an image archive into the real node of a cluster that is up. @throws ClusterUnavailable; Error with what
 * containerd said.
 */
export async function importImage(record: ClusterRecord, archive: string): Promise<void> {
  const programs = await builtPrograms();
  if (programs === null)
    throw new ClusterUnavailable('The programs of the test cluster are not built: `npm run cluster -- build`.');
  await ctr(
    path.join(programs, 'bin'),
    clusterFolder(record.id),
    ['images', 'import', path.resolve(archive)],
    IMPORT_TIMEOUT_MS,
  );
}
