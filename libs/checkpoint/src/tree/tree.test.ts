import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contentIdOf } from '../objects/content-id.js';
import { decodeTree } from './decode-tree.js';
import { encodeTree } from './encode-tree.js';
import type { Tree, TreeEntry } from './tree-entry.js';
import { walkTrees } from './walk-trees.js';

const id = contentIdOf(Buffer.from('content'));
const file: TreeEntry = {
  kind: 'file',
  name: 'a',
  mode: 0o644,
  mtime: 1_700_000_000_123_456,
  size: 7,
  chunks: [{ id, length: 7 }],
  linkedTo: null,
};
const folder: TreeEntry = { kind: 'folder', name: 'a', mode: 0o755, mtime: -1, tree: id, heavy: false, stale: false };

const names = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'))
  .filter((name) => name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0'));
const modes = fc.integer({ min: 0, max: 0o1777 });
const times = fc.integer({ min: -(2 ** 51), max: 2 ** 51 });
const chunks = fc
  .array(fc.record({ hole: fc.boolean(), length: fc.integer({ min: 1, max: 2 ** 22 }) }), { maxLength: 5 })
  .map((list) =>
    list
      .filter(({ hole }, at) => !hole || list[at - 1]?.hole !== true)
      .map(({ hole, length }) => ({ id: hole ? null : id, length })),
  );
const entries = fc.oneof(
  fc.record({ name: names, mode: modes, mtime: times, chunks, linkedTo: fc.option(names) }).map((entry) => ({
    kind: 'file' as const,
    ...entry,
    size: entry.chunks.reduce((sum, { length }) => sum + length, 0),
  })),
  fc
    .record({ name: names, mode: modes, mtime: times, heavy: fc.boolean(), stale: fc.boolean() })
    .map((entry) => ({ kind: 'folder' as const, ...entry, tree: id })),
  fc.record({ name: names, mtime: times, target: names }).map((entry) => ({ kind: 'link' as const, ...entry })),
  names.map((name) => ({ kind: 'uncaptured' as const, name })),
);
const trees = fc
  .uniqueArray(entries, { selector: ({ name }) => name, maxLength: 12 })
  .map((list): Tree => list.sort((one, other) => (one.name < other.name ? -1 : 1)));

describe('a tree', () => {
  it('is read as it was written, whatever the bytes of its names', () => {
    fc.assert(fc.property(trees, (tree) => expect(decodeTree(encodeTree(tree))).toEqual(tree)));
  });

  it('has one form: bytes that are accepted are those that it would be written with', () => {
    fc.assert(
      fc.property(trees, fc.nat(), fc.integer({ min: 0, max: 255 }), (tree, at, value) => {
        const bytes = encodeTree(tree);
        bytes[at % bytes.length] = value;
        let read: Tree;
        try {
          read = decodeTree(bytes);
        } catch (error) {
          expect(error).toMatchObject({ code: 'checkpoint.broken' });
          return;
        }
        expect(encodeTree(read)).toEqual(bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['..', [{ ...file, name: '..' }]],
    ['.', [{ ...file, name: '.' }]],
    ['an empty name', [{ ...file, name: '' }]],
    ['NUL in a name', [{ ...file, name: 'a\0b' }]],
    ['/ in a name', [{ ...file, name: 'a/b' }]],
    ['an absolute name', [{ ...file, name: '/etc' }]],
    ['a duplicate name', [file, file]],
    ['a name twice, of a link and of a folder', [{ kind: 'link', name: 'a', mtime: 0, target: '/' } as const, folder]],
    ['names out of order', [{ ...file, name: 'b' }, file]],
    ['setuid', [{ ...file, mode: 0o4755 }]],
    ['a mode of more bits', [{ ...file, mode: 0o7777 }]],
    ['a hard link to outside', [{ ...file, linkedTo: 'project/../../etc/passwd' }]],
    ['an absolute hard link', [{ ...file, linkedTo: '/etc/passwd' }]],
    ['chunks that are longer than the file', [{ ...file, size: 6 }]],
    ['chunks that are shorter than the file', [{ ...file, size: 8 }]],
    ['a chunk of more than 4 MiB', [{ ...file, size: 2 ** 23, chunks: [{ id, length: 2 ** 23 }] }]],
    ['a name of 256 bytes', [{ ...file, name: 'a'.repeat(256) }]],
    ['a link that leads nowhere', [{ kind: 'link', name: 'a', mtime: 0, target: '' } as const]],
  ])('with %s is refused', (_, tree) => {
    expect(() => decodeTree(encodeTree(tree as Tree))).toThrow(expect.objectContaining({ code: 'checkpoint.broken' }));
  });

  it('with bytes behind its last entry is refused', () => {
    expect(() => decodeTree(Buffer.concat([encodeTree([file]), Buffer.of(0)]))).toThrow(/behind its last/);
  });

  it('that claims more entries or chunks than its bytes can hold is refused before they are allocated', () => {
    expect(() => decodeTree(Buffer.of(1, 0xff, 0xff, 0xff, 0xff, 0x0f))).toThrow(/claims more entries/);
    const claims = Buffer.concat([Buffer.of(1, 1, 1, 0x61, 1, 0, 5, 0xff, 0xff, 0xff, 0xff, 0x0f), Buffer.alloc(8)]);
    expect(() => decodeTree(claims)).toThrow(/claims more chunks/);
  });

  it('over 16 MiB is refused', () => {
    expect(() => decodeTree(Buffer.alloc(16 * 2 ** 20 + 1))).toThrow(
      expect.objectContaining({ code: 'checkpoint.too-large' }),
    );
  });
});

describe('a walk over trees', () => {
  const nested = (depth: number): { root: string; stored: Map<string, Buffer> } => {
    const stored = new Map<string, Buffer>();
    let bytes = encodeTree([]);
    for (let at = 0; at < depth; at += 1) {
      stored.set(contentIdOf(bytes), bytes);
      bytes = encodeTree([{ ...folder, tree: contentIdOf(bytes) }]);
    }
    stored.set(contentIdOf(bytes), bytes);
    return { root: contentIdOf(bytes), stored };
  };
  const walk = async (root: string, load: (id: string) => Buffer): Promise<number> => {
    let count = 0;
    const signal = AbortSignal.timeout(10_000);
    const trees = walkTrees({ root, load: (wanted) => Promise.resolve(load(wanted)), known: () => false, signal });
    for await (const { depth } of trees) count = Math.max(count, depth);
    return count;
  };

  it('reads 256 folders below each other, and refuses one more', async () => {
    const { root, stored } = nested(256);
    expect(await walk(root, (wanted) => stored.get(wanted) as Buffer)).toBe(256);
    const deeper = nested(257);
    await expect(walk(deeper.root, (wanted) => deeper.stored.get(wanted) as Buffer)).rejects.toMatchObject({
      code: 'checkpoint.too-large',
    });
  });

  it('refuses a tree that is not what its id says', async () => {
    const { root } = nested(1);
    await expect(walk(root, () => encodeTree([file]))).rejects.toMatchObject({ code: 'checkpoint.broken' });
  });
});
