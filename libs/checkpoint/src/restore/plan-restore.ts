import { broken, tooLarge } from '../objects/broken.js';
import type { TreeLoader } from '../objects/checkpoint-object.js';
import { type ContentId, contentIdOf } from '../objects/content-id.js';
import { MAX_DEPTH } from '../objects/limits.js';
import { decodeTree } from '../tree/decode-tree.js';
import type { Chunk, FileEntry, Tree, TreeEntry } from '../tree/tree-entry.js';
import type { RestorePlan } from './restore-types.js';

export interface PlanRestore {
  /** State hash to reach. */
  readonly root: ContentId;
  /** State hash of the index where it is applied (`indexRoot`); `null` for a blank sandbox. */
  readonly current: ContentId | null;
  readonly load: TreeLoader;
  readonly signal: AbortSignal;
}

/** Which objects a restore needs: trees and chunks of what differs. Equal folders are not entered. */
export async function planRestore(request: PlanRestore): Promise<RestorePlan> {
  return await new Planner(request).run();
}

class Planner {
  private readonly trees = new Set<ContentId>();
  private readonly chunks = new Map<ContentId, number>();
  private files = 0;

  constructor(private readonly request: PlanRestore) {}

  async run(): Promise<RestorePlan> {
    const { root, current } = this.request;
    const target = await this.tree(root);
    const before = current === null ? [] : await this.load(current);
    for (const entry of target) {
      if (entry.kind !== 'folder') throw broken('a root is no folder');
      // Files beside the roots are handed out each time.
      const old = entry.name === 'meta' ? undefined : byName(before).get(entry.name);
      if (old?.kind !== 'folder' || old.tree !== entry.tree) await this.folder(entry.tree, old, 1);
    }
    const bytes = [...this.chunks.values()].reduce((sum, length) => sum + length, 0);
    return { trees: [...this.trees], chunks: new Set(this.chunks.keys()), bytes, files: this.files };
  }

  private async folder(id: ContentId, current: TreeEntry | undefined, depth: number): Promise<void> {
    this.request.signal.throwIfAborted();
    if (depth > MAX_DEPTH) throw tooLarge(`folders are more than ${MAX_DEPTH} deep`);
    const before = byName(current?.kind === 'folder' ? await this.load(current.tree) : []);
    for (const entry of await this.tree(id)) {
      const old = before.get(entry.name);
      if (entry.kind === 'file' && !isSameFile(entry, old)) this.need(entry);
      if (entry.kind === 'folder' && (old?.kind !== 'folder' || old.tree !== entry.tree))
        await this.folder(entry.tree, old, depth + 1);
    }
  }

  private need(file: FileEntry): void {
    for (const { id, length } of file.chunks) {
      if (id === null) continue;
      this.chunks.set(id, length);
      if (file.linkedTo === null) this.files += length;
    }
  }

  private async tree(id: ContentId): Promise<Tree> {
    this.trees.add(id);
    return await this.load(id);
  }

  private async load(id: ContentId): Promise<Tree> {
    const bytes = await this.request.load(id);
    if (contentIdOf(bytes) !== id) throw broken('a folder is not what its id says');
    return decodeTree(bytes);
  }
}

function byName(tree: Tree): ReadonlyMap<string, TreeEntry> {
  return new Map(tree.map((entry) => [entry.name, entry]));
}

/** Whether its bytes and its place among hard links are there already. */
export function isSameFile(file: FileEntry, old: TreeEntry | undefined): boolean {
  return old?.kind === 'file' && old.linkedTo === file.linkedTo && sameChunks(old.chunks, file.chunks);
}

export function sameChunks(some: readonly Chunk[], others: readonly Chunk[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ id, length }, index) => others[index]?.id === id && others[index]?.length === length)
  );
}
