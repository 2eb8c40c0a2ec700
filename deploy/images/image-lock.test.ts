import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from '@jest/globals';
import { formatLock, parseLock } from './image-lock.ts';
import { LOCK_FILE } from './sandbox-image.ts';

const text = readFileSync(LOCK_FILE, 'utf8');

describe('packages.lock', () => {
  it('is what `npm run image -- lock` would write of it', () => assert.equal(formatLock(parseLock(text)), text));

  it('pins every package that packages.list asks for', () => {
    const pinned = new Set(parseLock(text).packages.map(({ name }) => name));
    const asked = readFileSync(path.join(path.dirname(LOCK_FILE), 'packages.list'), 'utf8')
      .split('\n')
      .filter((line) => /^[a-z]/.test(line));
    assert.ok(asked.length > 10);
    assert.deepEqual(
      asked.filter((name) => !pinned.has(name)),
      [],
    );
  });

  it('is refused by a sentence when a hash is cut or a part is missing', () => {
    assert.throws(() => parseLock(text.replace(/([0-9a-f]{64}) /, 'abc ')), /line \d+: not a package/);
    assert.throws(() => parseLock(text.replace(/^npm .*$/m, '')), /has no entry for `npm`/);
  });
});
