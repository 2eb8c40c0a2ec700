import { broken, tooLarge } from '../objects/broken.js';
import type { TreeLoader } from '../objects/checkpoint-object.js';
import { type ContentId, contentIdOf } from '../objects/content-id.js';
import { MAX_DEPTH } from '../objects/limits.js';
import { decodeTree } from '../tree/decode-tree.js';
import type { FileEntry, FolderEntry, LinkEntry, Tree, TreeEntry } from '../tree/tree-entry.js';
import type { Difference } from './diff-types.js';

/** Files that are looked at for renames, on each side. With more, additions and deletions stay what they are. */
const MAX_RENAMES = 10_000;

export interface DiffTrees {
  readonly from: ContentId;
  readonly to: ContentId;
  readonly load: TreeLoader;
  readonly signal: AbortSignal;
}

/**
 * What differs between two state hashes, without `meta`. Folders with equal ids are not entered, so that the cost is
 * that of what changed. Changes come first, in the order of paths; then renames, additions and deletions. Times alone
 * are no difference.
 */
export async function* diffTrees(request: DiffTrees): AsyncGenerator<Difference, void> {
  const diff = new Diff(request);
  yield* diff.folders({ path: '', depth: 0, from: request.from, to: request.to });
  yield* diff.moved();
}

interface Pair {
  readonly path: string;
  readonly depth: number;
  readonly from: ContentId | null;
  readonly to: ContentId | null;
}

interface Single {
  readonly path: string;
  readonly entry: FileEntry | LinkEntry | FolderEntry;
}

class Diff {
  private readonly added: Single[] = [];
  private readonly deleted: Single[] = [];

  constructor(private readonly request: DiffTrees) {}

  async *folders({ path, depth, from, to }: Pair): AsyncGenerator<Difference, void> {
    this.request.signal.throwIfAborted();
    if (from === to) return;
    if (depth > MAX_DEPTH) throw tooLarge(`folders are more than ${MAX_DEPTH} deep`);
    const [olds, news] = await Promise.all([this.tree(from), this.tree(to)]);
    const before = new Map(olds.map((entry) => [entry.name, entry]));
    const names = [...new Set([...before.keys(), ...news.map(({ name }) => name)])].sort();
    const after = new Map(news.map((entry) => [entry.name, entry]));
    for (const name of names) {
      if (depth === 0 && name === 'meta') continue;
      const below = path === '' ? name : `${path}/${name}`;
      yield* this.entries(below, depth, before.get(name), after.get(name));
    }
  }

  private async *entries(
    path: string,
    depth: number,
    old: TreeEntry | undefined,
    now: TreeEntry | undefined,
  ): AsyncGenerator<Difference, void> {
    // What one of both did not capture is not known to differ.
    if (old?.kind === 'uncaptured' || now?.kind === 'uncaptured') return;
    if (old !== undefined && now !== undefined && old.kind === now.kind) {
      if (old.kind === 'folder' && now.kind === 'folder') {
        if (old.mode !== now.mode) yield { kind: 'mode', path, from: old.mode, to: now.mode };
        yield* this.folders({ path, depth: depth + 1, from: old.tree, to: now.tree });
      } else if (contentKey(old) !== contentKey(now)) {
        yield { kind: 'changed', path, what: now.kind === 'link' ? 'link' : 'file', size: sizeOf(now) };
      } else if (old.kind === 'file' && now.kind === 'file' && old.mode !== now.mode)
        yield { kind: 'mode', path, from: old.mode, to: now.mode };
      return;
    }
    if (old !== undefined) this.deleted.push({ path, entry: old });
    if (now !== undefined) this.added.push({ path, entry: now });
  }

  /** Of what is on one side only: equal content under another name is a rename. */
  async *moved(): AsyncGenerator<Difference, void> {
    const renamed = new Set<Single>();
    const folders = byKey(this.deleted.filter(({ entry }) => entry.kind === 'folder'));
    for (const single of this.added) {
      const from = single.entry.kind === 'folder' ? folders.get(single.entry.tree)?.pop() : undefined;
      if (from === undefined) continue;
      renamed.add(single).add(from);
      yield { kind: 'renamed', path: single.path, from: from.path, what: 'folder' };
    }
    const left = (list: readonly Single[]): Promise<Single[]> =>
      this.flat(list.filter((single) => !renamed.has(single)));
    const [deleted, added] = [await left(this.deleted), await left(this.added)];
    const isFew = deleted.length <= MAX_RENAMES && added.length <= MAX_RENAMES;
    const files = byKey(isFew ? deleted.filter(({ entry }) => entry.kind === 'file' && entry.size > 0) : []);
    const gone = new Set<Single>();
    for (const single of added) {
      const from = single.entry.kind === 'file' ? files.get(contentKey(single.entry))?.pop() : undefined;
      if (from === undefined)
        yield { kind: 'added', path: single.path, what: whatOf(single), size: sizeOf(single.entry) };
      else {
        gone.add(from);
        yield { kind: 'renamed', path: single.path, from: from.path, what: 'file' };
      }
    }
    for (const single of deleted)
      if (!gone.has(single))
        yield { kind: 'deleted', path: single.path, what: whatOf(single), size: sizeOf(single.entry) };
  }

  /** Folders with all that lies below them. */
  private async flat(list: readonly Single[]): Promise<Single[]> {
    const found: Single[] = [];
    const open = [...list].reverse().map((single) => ({ ...single, depth: 0 }));
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      found.push({ path: next.path, entry: next.entry });
      if (next.entry.kind !== 'folder') continue;
      this.request.signal.throwIfAborted();
      if (next.depth > MAX_DEPTH) throw tooLarge(`folders are more than ${MAX_DEPTH} deep`);
      for (const entry of [...(await this.tree(next.entry.tree))].reverse())
        if (entry.kind !== 'uncaptured')
          open.push({ path: `${next.path}/${entry.name}`, entry, depth: next.depth + 1 });
    }
    return found;
  }

  private async tree(id: ContentId | null): Promise<Tree> {
    if (id === null) return [];
    const bytes = await this.request.load(id);
    if (contentIdOf(bytes) !== id) throw broken('a folder is not what its id says');
    return decodeTree(bytes);
  }
}

function byKey(list: readonly Single[]): Map<string, Single[]> {
  const found = new Map<string, Single[]>();
  for (const single of [...list].reverse()) {
    const key = contentKey(single.entry);
    const same = found.get(key);
    if (same === undefined) found.set(key, [single]);
    else same.push(single);
  }
  return found;
}

function contentKey(entry: TreeEntry): string {
  switch (entry.kind) {
    case 'file':
      return entry.chunks.map(({ id, length }) => id ?? `hole ${length}`).join(' ');
    case 'link':
      return entry.target;
    case 'folder':
      return entry.tree;
    case 'uncaptured':
      return '';
  }
}

function whatOf({ entry }: Single): 'file' | 'link' | 'folder' {
  return entry.kind;
}

function sizeOf(entry: TreeEntry): number {
  return entry.kind === 'file' ? entry.size : 0;
}
