import { broken, tooLarge } from '../objects/broken.js';
import type { TreeLoader } from '../objects/checkpoint-object.js';
import { type ContentId, contentIdOf } from '../objects/content-id.js';
import { MAX_DEPTH, MAX_ENTRIES } from '../objects/limits.js';
import { decodeTree } from './decode-tree.js';
import type { Tree } from './tree-entry.js';

export interface WalkTrees {
  readonly root: ContentId;
  readonly load: TreeLoader;
  /** A tree for which it answers `true` is not entered: its content is known to whoever asks. Each is asked once. */
  readonly known: (tree: ContentId) => boolean | Promise<boolean>;
  readonly signal: AbortSignal;
}

export interface WalkedTree {
  readonly id: ContentId;
  readonly tree: Tree;
  readonly bytes: Uint8Array;
  /** Folders above it; the root tree has 0. */
  readonly depth: number;
}

/**
 * Every tree below a root, parents first, each id once. Recomputes ids and bounds depth (256) and entries (5 million).
 * A tree that is reached at two depths is bounded at the first one only; a restore bounds each path again.
 * @throws SlipwayError `checkpoint.broken`, `checkpoint.too-large`.
 */
export async function* walkTrees({ root, load, known, signal }: WalkTrees): AsyncGenerator<WalkedTree, void> {
  const seen = new Set<ContentId>([root]);
  const open: { id: ContentId; depth: number }[] = [{ id: root, depth: 0 }];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { id, depth } = next;
    signal.throwIfAborted();
    if (await known(id)) continue;
    const bytes = await load(id);
    if (contentIdOf(bytes) !== id) throw broken('a folder is not what its id says');
    const tree = decodeTree(bytes);
    entries += tree.length;
    if (entries > MAX_ENTRIES) throw tooLarge(`more than ${MAX_ENTRIES} entries`);
    yield { id, tree, bytes, depth };
    for (let index = tree.length - 1; index >= 0; index -= 1) {
      const entry = tree[index];
      if (entry?.kind !== 'folder' || seen.has(entry.tree)) continue;
      if (depth + 1 > MAX_DEPTH) throw tooLarge(`folders are more than ${MAX_DEPTH} deep`);
      seen.add(entry.tree);
      open.push({ id: entry.tree, depth: depth + 1 });
    }
  }
}
