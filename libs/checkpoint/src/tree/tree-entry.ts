import type { ContentId } from '../objects/content-id.js';

/** A part of a file. `id` is `null` for a hole: so many zeros that no pack has. `length` in bytes. */
export interface Chunk {
  readonly id: ContentId | null;
  readonly length: number;
}

/**
 * Names, paths and targets are bytes, one a character (latin1), since Linux knows no other names: `textOf` makes them
 * readable. `mtime` in microseconds since 1970: Node cannot set a finer one (`mtimeOf`).
 */
export interface FileEntry {
  readonly kind: 'file';
  readonly name: string;
  /** & 0o1777. */
  readonly mode: number;
  readonly mtime: number;
  /** Bytes, holes included: the sum of the chunks' lengths. */
  readonly size: number;
  readonly chunks: readonly Chunk[];
  /**
   * Path of the first name of this file in the order of the trees, root name included, where it has several (hard
   * links); `null` for that first one. Content is named here again, so that a reader may ignore it.
   */
  readonly linkedTo: string | null;
}

export interface FolderEntry {
  readonly kind: 'folder';
  readonly name: string;
  /** & 0o1777. */
  readonly mode: number;
  readonly mtime: number;
  readonly tree: ContentId;
  /** Made anew by tools, as `node_modules` is: captured by generation. */
  readonly heavy: boolean;
  /** Older than the checkpoint: captured earlier, and not looked at again. A restore in place leaves it alone. */
  readonly stale: boolean;
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly name: string;
  readonly mtime: number;
  readonly target: string;
}

/** Something is there that this checkpoint does not have. A restore leaves what it finds under this name. */
export interface UncapturedEntry {
  readonly kind: 'uncaptured';
  readonly name: string;
}

export type TreeEntry = FileEntry | FolderEntry | LinkEntry | UncapturedEntry;

/** The entries of one folder, sorted by the bytes of their names. */
export type Tree = readonly TreeEntry[];

/** Names of the roots. `meta` is no folder on disk: it has what the caller keeps beside the files. */
export type RootName = 'home' | 'meta' | 'project';

/** Bytes of a name or path as text; what is no UTF-8 becomes U+FFFD. */
export function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}
