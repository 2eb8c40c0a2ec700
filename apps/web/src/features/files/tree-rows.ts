import type { TreeEntry } from '@slipway/contracts/live';
import type { Translate } from '../../messages/translate.ts';

/** Entries of one page, as they are asked for. */
export const PAGE = 200;

/** One open directory, as far as it was read: pages of one generation. */
export interface TreeDirectory {
  readonly generation: number;
  readonly total: number;
  readonly pages: ReadonlyMap<number, readonly TreeEntry[]>;
}

/**
 * What is open by path, and what is known of it; a directory that is open and not here is being read. The workspace
 * itself is the empty path.
 */
export interface Tree {
  readonly directories: ReadonlyMap<string, TreeDirectory>;
  readonly expanded: ReadonlySet<string>;
  /** Directories that could not be read, in words. */
  readonly problems: ReadonlyMap<string, string>;
}

export interface TreeRow {
  /** Of a row that is no known entry: its place in its directory, after a sign that no name has. */
  readonly path: string;
  /** From 1. */
  readonly level: number;
  readonly parent: string;
  /** Place among its siblings, from 0, and how many they are. */
  readonly index: number;
  readonly count: number;
  /** `null`: this page has not been read. */
  readonly entry: TreeEntry | null;
  /** `null`: it cannot be opened. */
  readonly expanded: boolean | null;
  /** Instead of an entry. */
  readonly note: string | null;
}

/** Begins what stands for the name of a row that is no known entry. */
const UNKNOWN = '\0';

export function childPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

export function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function nameOfPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** How many rows there are. Costs as much as there are open directories, however many entries they have. */
export function rowCount(tree: Tree): number {
  return rowsBelow(tree, '');
}

/** Row `index` of the whole tree, from 0. */
export function rowAt(t: Translate, tree: Tree, index: number): TreeRow | undefined {
  return index < 0 || index >= rowCount(tree) ? undefined : find(t, tree, { directory: '', level: 1, index });
}

/** Where the row of a path is; -1 when it is not in an open directory, or its page has not been read. */
export function rowOf(tree: Tree, path: string): number {
  const parent = parentPath(path);
  const own = placeIn(tree, parent, nameOfPath(path));
  if (path === '' || own < 0) return -1;
  const before = openChildren(tree, parent)
    .filter(({ place }) => place < own)
    .reduce((sum, child) => sum + rowsBelow(tree, child.path), 0);
  if (parent === '') return own + before;
  const above = rowOf(tree, parent);
  return above < 0 || !tree.expanded.has(parent) ? -1 : above + 1 + own + before;
}

export function entryAt(directory: TreeDirectory | undefined, index: number): TreeEntry | undefined {
  return directory?.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
}

/** The entry of a path, where it has been read. */
export function entryOf(tree: Tree, path: string): TreeEntry | undefined {
  const parent = parentPath(path);
  const place = placeIn(tree, parent, nameOfPath(path));
  return place < 0 ? undefined : entryAt(tree.directories.get(parent), place);
}

/** Directories that are open below one, with where they are in it. */
function openChildren(tree: Tree, directory: string): { path: string; place: number }[] {
  const found: { path: string; place: number }[] = [];
  for (const path of tree.expanded) {
    if (path === '' || parentPath(path) !== directory) continue;
    const place = placeIn(tree, directory, nameOfPath(path));
    if (place >= 0) found.push({ path, place });
  }
  return found.sort((a, b) => a.place - b.place);
}

const places = new WeakMap<TreeDirectory, Map<string, number>>();

function placeIn(tree: Tree, directory: string, name: string): number {
  if (name.startsWith(UNKNOWN)) return Number(name.slice(UNKNOWN.length));
  const known = tree.directories.get(directory);
  if (known === undefined) return -1;
  let index = places.get(known);
  if (index === undefined) {
    index = new Map();
    for (const [page, entries] of known.pages)
      for (const [at, entry] of entries.entries()) index.set(entry.name, page * PAGE + at);
    places.set(known, index);
  }
  return index.get(name) ?? -1;
}

function rowsBelow(tree: Tree, directory: string): number {
  const known = tree.directories.get(directory);
  // One row says that it is being read, that it is empty, or why it cannot be read.
  if (known === undefined || known.total === 0) return 1;
  return openChildren(tree, directory).reduce((sum, child) => sum + rowsBelow(tree, child.path), known.total);
}

function find(
  t: Translate,
  tree: Tree,
  { directory, level, index }: { readonly directory: string; readonly level: number; readonly index: number },
): TreeRow {
  const known = tree.directories.get(directory);
  const problem = tree.problems.get(directory);
  if (known === undefined || known.total === 0) {
    const note = problem ?? (known === undefined ? t('files.reading') : t('files.empty'));
    return {
      path: childPath(directory, `${UNKNOWN}0`),
      level,
      parent: directory,
      index: 0,
      count: 1,
      entry: null,
      expanded: null,
      note,
    };
  }
  let row = 0;
  let place = 0;
  for (const child of openChildren(tree, directory)) {
    const own = row + child.place - place;
    if (index <= own) break;
    const below = rowsBelow(tree, child.path);
    if (index <= own + below) return find(t, tree, { directory: child.path, level: level + 1, index: index - own - 1 });
    row = own + 1 + below;
    place = child.place + 1;
  }
  const at = place + index - row;
  const entry = entryAt(known, at) ?? null;
  const path = entry === null ? childPath(directory, `${UNKNOWN}${at}`) : childPath(directory, entry.name);
  return {
    path,
    level,
    parent: directory,
    index: at,
    count: known.total,
    entry,
    expanded: entry?.kind === 'directory' ? tree.expanded.has(path) : null,
    note: null,
  };
}
