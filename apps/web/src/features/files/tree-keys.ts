import type { Translate } from '../../messages/translate.ts';
import {
  childPath,
  entryAt,
  nameOfPath,
  parentPath,
  rowAt,
  rowCount,
  rowOf,
  type Tree,
  type TreeRow,
} from './tree-rows.ts';

/** Where a key leads, or the row that it presses. */
type TreeStep = { readonly to: number } | { readonly press: TreeRow };

/**
 * What a key does in the tree, as the ARIA practices have it. `null`: nothing. @param page rows that are seen at once.
 */
export function stepOf(
  t: Translate,
  tree: Tree,
  { active, key, page }: { readonly active: string | null; readonly key: string; readonly page: number },
): TreeStep | null {
  const at = active === null ? -1 : rowOf(tree, active);
  const row = rowAt(t, tree, at);
  switch (key) {
    case 'ArrowDown':
      return { to: at + 1 };
    case 'ArrowUp':
      return { to: Math.max(0, at - 1) };
    case 'PageDown':
      return { to: at + page };
    case 'PageUp':
      return { to: Math.max(0, at - page) };
    case 'Home':
      return { to: 0 };
    case 'End':
      return { to: rowCount(tree) - 1 };
    case 'ArrowRight':
      if (row === undefined || row.expanded === null) return null;
      return row.expanded ? { to: at + 1 } : { press: row };
    case 'ArrowLeft':
      if (row === undefined) return null;
      if (row.expanded === true) return { press: row };
      return row.parent === '' ? null : { to: rowOf(tree, row.parent) };
    case 'Enter':
    case ' ':
      return row === undefined ? null : { press: row };
    default:
      return null;
  }
}

/**
 * The next of the same directory whose name begins so, around the end; `null` for none. What has not been read is
 * passed over.
 */
export function rowThatBegins(tree: Tree, path: string, begin: string): string | null {
  const parent = parentPath(path);
  const directory = tree.directories.get(parent);
  const names = Array.from({ length: directory?.total ?? 0 }, (_, index) => entryAt(directory, index)?.name).filter(
    (name) => name !== undefined,
  );
  const from = names.indexOf(nameOfPath(path));
  // A longer beginning may still be that of the row itself.
  const start = begin.length > 1 ? Math.max(from, 0) : from + 1;
  const found = [...names.slice(start), ...names.slice(0, start)].find((name) =>
    name.toLowerCase().startsWith(begin.toLowerCase()),
  );
  return found === undefined ? null : childPath(parent, found);
}

/** The directory that something new is put into when this row is active. */
export function directoryOf(tree: Tree, active: string | null): string {
  if (active === null) return '';
  return tree.expanded.has(active) ? active : parentPath(active);
}
