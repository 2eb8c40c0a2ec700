import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import { parseLock } from './image-lock.ts';
import {
  formatOptionLock,
  lockWith,
  OPTION_NAMES,
  optionFile,
  readList,
  readLock,
  readOptions,
} from './image-options.ts';
import { LOCK_FILE } from './sandbox-image.ts';

const base = parseLock(readFileSync(LOCK_FILE, 'utf8'));

describe('the options of the sandbox image', () => {
  for (const name of OPTION_NAMES) {
    it(`${name}: its lock is what the build would write of it, and pins what its list asks for, and nothing of the base`, () => {
      const lock = readLock(name);
      assert.equal(formatOptionLock(lock), readFileSync(optionFile(name, 'lock'), 'utf8'));
      const pinned = new Set(lock.packages.map((one) => one.name));
      const list = readList(name);
      assert.deepEqual(
        list.debian.filter((wanted) => !pinned.has(wanted)),
        [],
      );
      assert.equal(lock.npm?.name ?? null, list.npm);
      assert.ok(list.debian.length > 0 || list.npm !== null);
      assert.deepEqual(
        base.packages.filter((one) => pinned.has(one.name)),
        [],
      );
    });
  }

  it('are chosen by name, each once, in one order, and what is none is named', () => {
    assert.deepEqual(readOptions('vscode,ipython,vscode'), ['ipython', 'vscode']);
    assert.deepEqual(readOptions(''), []);
    assert.throws(() => readOptions('ipython,emacs'), /`emacs` is no option of the image: browser, ipython, vscode/);
  });

  it('leave the base as it is: without one the lock is the base’s own, with some it has each package once', () => {
    assert.deepEqual(lockWith(base, []), base);
    const all = lockWith(base, OPTION_NAMES).packages;
    assert.deepEqual(all.slice(0, base.packages.length), base.packages);
    assert.equal(new Set(all.map((one) => one.name)).size, all.length);
    assert.ok(all.length > base.packages.length + 100);
  });
});
