import { createHash } from 'node:crypto';
import type { FolderAt, HostTree } from '@slipway/integrations';
import type { VerifiedBundle } from './bundle/verify-bundle.js';
import { folders } from './read-folder.js';

/** With more of them than these, all that the branch holds must stay as it is: each costs a lookup. */
const MAX_NAMED = 200;

/**
 * Names what the branch holds at protected paths, whatever else changes: the hashes of what stands there. A permission
 * is for one name.
 * @param paths those that are changed.
 */
export async function nameOfProtected(
  bundle: VerifiedBundle,
  paths: readonly string[],
  treeOf: (folder: FolderAt) => Promise<HostTree>,
): Promise<string> {
  const folder = folders(bundle, treeOf);
  const standing = async (path: string): Promise<string> => {
    let hash: string | undefined = bundle.tree;
    for (const name of path.split('/')) {
      const read: Awaited<ReturnType<typeof folder>> = await folder(hash, null);
      // What is below it is unknown: then it must stay as a whole.
      if (read === null) return `in ${hash}`;
      hash = read.entries.get(name);
      if (hash === undefined) return 'nothing';
    }
    return hash;
  };
  // Names whose bytes are no text read alike: two files would have one name.
  const isWhole = paths.length > MAX_NAMED || paths.some((path) => path.includes('\ufffd'));
  const lines = isWhole
    ? [`all ${bundle.tree}`]
    : await Promise.all([...paths].sort().map(async (path) => `${JSON.stringify(path)} ${await standing(path)}`));
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
