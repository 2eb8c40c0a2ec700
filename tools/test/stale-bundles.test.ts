import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { staleBundles } from './stale-bundles.ts';

describe('bundles that are older than what they are made of', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'slipway-bundles-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const write = (file: string, seconds: number): void => {
    const at = path.join(root, file);
    mkdirSync(path.dirname(at), { recursive: true });
    writeFileSync(at, '');
    utimesSync(at, seconds, seconds);
  };

  it('are those of a changed app, those of all apps after a change of a library, and none otherwise', () => {
    for (const app of ['one', 'two']) {
      write(`apps/${app}/dist/main.js`, 100);
      write(`apps/${app}/bundle/main.js`, 200);
    }
    write('libs/shared/dist/deep/index.js', 100);
    write('apps/sandboxed/bundle/agent-server.cjs', 1);
    expect(staleBundles(root)).toEqual([]);
    write('apps/two/dist/main.js', 300);
    expect(staleBundles(root)).toEqual(['apps/two']);
    write('libs/shared/dist/deep/index.js', 300);
    expect(staleBundles(root)).toEqual(['apps/one', 'apps/two']);
  });
});
