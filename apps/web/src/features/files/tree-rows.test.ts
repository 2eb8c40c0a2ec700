import { describe, expect, it } from '@jest/globals';
import type { TreeEntry } from '@slipway/contracts/live';
import fc from 'fast-check';
import { t } from '../../messages/testing.ts';
import { rowThatBegins, stepOf } from './tree-keys.ts';
import { childPath, PAGE, rowAt, rowCount, rowOf, type Tree, type TreeDirectory } from './tree-rows.ts';

type Shape = { readonly [name: string]: Shape | null };
const entry = (name: string, kind: TreeEntry['kind']): TreeEntry => ({ name, kind, link: false, ignored: false });

/** Every directory open and read. */
function treeOf(shape: Shape): Tree {
  const directories = new Map<string, TreeDirectory>();
  const walk = (path: string, below: Shape): void => {
    const entries = Object.entries(below).map(([name, inside]) => entry(name, inside === null ? 'file' : 'directory'));
    const pages = new Map<number, TreeEntry[]>();
    for (const [index, one] of entries.entries())
      pages.set(Math.floor(index / PAGE), [...(pages.get(Math.floor(index / PAGE)) ?? []), one]);
    directories.set(path, { generation: 0, total: entries.length, pages });
    for (const [name, inside] of Object.entries(below)) if (inside !== null) walk(childPath(path, name), inside);
  };
  walk('', shape);
  return { directories, expanded: new Set(directories.keys()), problems: new Map() };
}

/** The same, by going through all of it. */
function pathsOf(shape: Shape, path = ''): string[] {
  const own = Object.entries(shape).flatMap(([name, inside]) => [
    childPath(path, name),
    ...(inside === null ? [] : pathsOf(inside, childPath(path, name))),
  ]);
  return own.length === 0 ? [childPath(path, '\0' + '0')] : own;
}

const shapes = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.dictionary(
    fc.stringMatching(/^[a-z]{1,6}$/),
    fc.option(tie('shape') as fc.Arbitrary<Shape>, { depthSize: 'small' }),
    { maxKeys: 6 },
  ),
})).shape;

describe('the rows of a tree', () => {
  it('are those of going through all of it, and each is found where it is', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const tree = treeOf(shape);
        const rows = Array.from({ length: rowCount(tree) }, (_, index) => rowAt(t, tree, index));
        expect(rows.map((row) => row?.path)).toEqual(pathsOf(shape));
        for (const [index, row] of rows.entries()) expect(rowOf(tree, row?.path ?? '')).toBe(index);
        expect(rowAt(t, tree, rows.length)).toBeUndefined();
      }),
    );
  });

  it('are there for a directory of 100,000 of which only the last page was read', () => {
    const pages = new Map([[499, Array.from({ length: PAGE }, (_, index) => entry(`f${index}`, 'file'))]]);
    const tree: Tree = {
      directories: new Map([['', { generation: 3, total: 100_000, pages }]]),
      expanded: new Set(['']),
      problems: new Map(),
    };
    expect([rowCount(tree), rowAt(t, tree, 5)?.entry, rowAt(t, tree, 99_999)?.path, rowOf(tree, 'f7')]).toEqual([
      100_000,
      null,
      'f199',
      99_807,
    ]);
    expect(stepOf(t, tree, { active: rowAt(t, tree, 5)?.path ?? null, key: 'ArrowDown', page: 10 })).toEqual({ to: 6 });
  });

  it('say what is being read, empty, or could not be read', () => {
    const known = treeOf({ away: {}, empty: {}, reading: {} });
    const directories = new Map([...known.directories].filter(([path]) => path === '' || path === 'empty'));
    const tree: Tree = { ...known, directories, problems: new Map([['away', 'It is gone.']]) };
    expect([1, 3, 5].map((index) => rowAt(t, tree, index)?.note)).toEqual(['It is gone.', 'Empty', 'Reading…']);
  });
});

describe('keys in a tree', () => {
  const tree = treeOf({ lib: { 'a.ts': null, 'b.ts': null }, test: {}, 'README.md': null, 'read.me': null });
  it('move, open and close as in any tree', () => {
    expect(stepOf(t, tree, { active: 'lib', key: 'ArrowDown', page: 10 })).toEqual({ to: 1 });
    expect(stepOf(t, tree, { active: 'lib/b.ts', key: 'ArrowLeft', page: 10 })).toEqual({ to: 0 });
    expect(stepOf(t, tree, { active: 'lib', key: 'ArrowLeft', page: 10 })).toMatchObject({ press: { path: 'lib' } });
    expect(stepOf(t, tree, { active: 'lib', key: 'ArrowRight', page: 10 })).toEqual({ to: 1 });
    expect(
      stepOf(t, { ...tree, expanded: new Set(['']) }, { active: 'lib', key: 'ArrowRight', page: 10 }),
    ).toMatchObject({
      press: { path: 'lib', expanded: false },
    });
    expect(stepOf(t, tree, { active: 'lib/a.ts', key: 'Enter', page: 10 })).toMatchObject({
      press: { path: 'lib/a.ts' },
    });
    expect([
      stepOf(t, tree, { active: 'lib', key: 'End', page: 10 }),
      stepOf(t, tree, { active: null, key: 'ArrowDown', page: 10 }),
      stepOf(t, tree, { active: 'lib', key: 'F5', page: 10 }),
    ]).toEqual([{ to: 6 }, { to: 0 }, null]);
  });
  it('find by the letters of a name, around the end', () => {
    expect(rowThatBegins(tree, 'lib', 'r')).toBe('README.md');
    expect(rowThatBegins(tree, 'README.md', 'r')).toBe('read.me');
    expect(rowThatBegins(tree, 'read.me', 'read')).toBe('read.me');
    expect(rowThatBegins(tree, 'read.me', 'l')).toBe('lib');
    expect(rowThatBegins(tree, 'lib/a.ts', 'b')).toBe('lib/b.ts');
    expect(rowThatBegins(tree, 'lib', 'z')).toBeNull();
  });
});
