import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { entriesOf, type LayerEntry, writeLayer } from './layer.ts';

const signal = new AbortController().signal;
const EPOCH = 1_700_000_000;
let folder: string;
const at = (...names: string[]): string => path.join(folder, ...names);

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-layer-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A small tree with one of each kind, its files written in the given order at the given time. */
function makeTree(name: string, names: readonly string[], time: number): string {
  const root = at(name);
  mkdirSync(path.join(root, 'folder'), { recursive: true });
  for (const file of names) {
    writeFileSync(path.join(root, 'folder', file), `content of ${file}`);
    chmodSync(path.join(root, 'folder', file), 0o640);
    utimesSync(path.join(root, 'folder', file), time, time);
  }
  linkSync(path.join(root, 'folder/a'), path.join(root, 'folder/second-name-of-a'));
  symlinkSync('/etc', path.join(root, 'outside'));
  utimesSync(path.join(root, 'folder'), time, time);
  return root;
}
const tree = (root: string): Promise<LayerEntry[]> => entriesOf(root, '', { youngest: EPOCH, owner: 0 });

describe('a layer', () => {
  it('is the same to the byte for trees that were written in another order and at another time', async () => {
    const one = await writeLayer(await tree(makeTree('one', ['a', 'b', 'c'], EPOCH + 5)), at('one.blob'), signal);
    const other = await writeLayer(
      (await tree(makeTree('other', ['c', 'a', 'b'], EPOCH + 50_000))).reverse(),
      at('other.blob'),
      signal,
    );
    assert.deepEqual(other, one);
    assert.deepEqual(readFileSync(at('other.blob')), readFileSync(at('one.blob')));
  });

  it('differs when a byte, a mode or a time before the lock differs', async () => {
    const digest = async (name: string, change: (root: string) => void, time = EPOCH - 10): Promise<string> => {
      const root = makeTree(name, ['a', 'b'], time);
      change(root);
      return (await writeLayer(await tree(root), at(`${name}.blob`), signal)).digest;
    };
    const digests = [
      await digest('same', () => {}),
      await digest('byte', (root) => {
        writeFileSync(path.join(root, 'folder/b'), 'content of B');
        utimesSync(path.join(root, 'folder/b'), EPOCH - 10, EPOCH - 10);
      }),
      await digest('mode', (root) => chmodSync(path.join(root, 'folder/b'), 0o600)),
      await digest('time', () => {}, EPOCH - 11),
    ];
    assert.equal(new Set(digests).size, digests.length);
  });

  it('takes up no file that a link in the tree points to', async () => {
    const entries = await tree(makeTree('links', ['a'], EPOCH));
    assert.deepEqual(
      entries.map(({ path: name, kind }) => `${kind} ${name}`),
      ['directory folder', 'file folder/a', 'link folder/second-name-of-a', 'symlink outside'],
    );
  });

  it('is unpacked by tar into the tree that it was made of', async () => {
    await writeLayer(await tree(makeTree('packed', ['a', 'b'], EPOCH)), at('packed.blob'), signal);
    mkdirSync(at('unpacked'));
    execFileSync('tar', ['-x', '-C', at('unpacked')], {
      input: zstdDecompressSync(readFileSync(at('packed.blob'))),
      timeout: 30_000,
    });
    execFileSync('diff', ['-r', '--no-dereference', at('packed'), at('unpacked')], { timeout: 30_000 });
    assert.equal(readFileSync(at('unpacked/folder/second-name-of-a'), 'utf8'), 'content of a');
  });

  it('fails, and does not hang, when a file is gone by the time it is written', async () => {
    const entries = await tree(makeTree('gone', ['a', 'b'], EPOCH));
    rmSync(at('gone/folder/b'));
    await assert.rejects(writeLayer(entries, at('gone.blob'), signal), /ENOENT/);
  }, 120_000);

  it('stops when the build is aborted in the middle of it', async () => {
    const stop = new AbortController();
    const from = Buffer.alloc(4 << 20, 'x');
    const entries = Array.from({ length: 50 }, (_, n): LayerEntry => {
      const entry = {
        kind: 'file',
        path: `file-${n}`,
        mode: 0o644,
        uid: 0,
        gid: 0,
        mtime: 0,
        size: from.length,
      } as const;
      // Asked for its content when ten are written.
      const get = (): Buffer => {
        stop.abort();
        return from;
      };
      return n < 10 ? { ...entry, from } : Object.defineProperty({ ...entry, from }, 'from', { get });
    });
    await assert.rejects(writeLayer(entries, at('aborted.blob'), stop.signal), { name: 'AbortError' });
    assert.ok(stop.signal.aborted);
  }, 120_000);
});
