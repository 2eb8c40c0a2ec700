import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { LayerCache } from './layer-cache.ts';

const DAY = 86_400_000;
const layer = { digest: 'sha256:1', diffId: 'sha256:2', size: 1, unpacked: 2 };

describe('the cache of layers', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-cache-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const make = async (file: string) => {
    writeFileSync(file, 'blob');
    return layer;
  };

  it('makes a layer once, also for two builds at once', async () => {
    const cache = new LayerCache(path.join(folder, 'once'));
    const both = await Promise.all([cache.layer('key', make), cache.layer('key', make)]);
    const third = await cache.layer('key', () => assert.fail('made again'));
    assert.deepEqual({ ...both[0], made: false }, third);
    assert.deepEqual(readdirSync(path.join(folder, 'once')), ['layers']);
  });

  it('holds nothing of a layer that failed', async () => {
    const cache = new LayerCache(path.join(folder, 'failed'));
    await assert.rejects(
      cache.layer('key', async (file) => {
        writeFileSync(file, 'half');
        throw new Error('disk full');
      }),
      /disk full/,
    );
    assert.deepEqual(readdirSync(path.join(folder, 'failed')), []);
    assert.equal((await cache.layer('key', make)).made, true);
  });

  it('drops archives after a day, layers after two weeks, and the leavings of a killed build', async () => {
    const cache = new LayerCache(path.join(folder, 'old'));
    const { file } = await cache.layer('key', make);
    const archive = await cache.archive('key', async (target) => {
      writeFileSync(target, 'tar');
      return 'sha256:3';
    });
    const work = path.join(folder, 'old/work-killed');
    mkdirSync(work);
    const there = () => [archive.file, file, work].map((name) => existsSync(name));
    await cache.prune(Date.now() + DAY / 2);
    assert.deepEqual(there(), [true, true, true]);
    await cache.prune(Date.now() + 2 * DAY);
    assert.deepEqual(there(), [false, true, false]);
    await cache.prune(Date.now() + 15 * DAY);
    assert.deepEqual(there(), [false, false, false]);
  });
});
