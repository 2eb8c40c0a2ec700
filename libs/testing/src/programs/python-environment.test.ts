import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { skipTest } from '../jest/index.js';
import { pythonEnvironment } from './python-environment.js';
import { run } from './run.js';

jest.setTimeout(240_000);

describe('an environment of Python packages', () => {
  it('is made once, and whole, for all that want it at the same time', async () => {
    const cache = await mkdtemp(path.join(os.tmpdir(), 'slipway-python-'));
    const before = process.env['XDG_CACHE_HOME'];
    process.env['XDG_CACHE_HOME'] = cache;
    try {
      // `pip` is there already: nothing is fetched.
      const options = { name: 'nothing/1', packages: ['--no-index', 'pip'] };
      const made = await Promise.all([1, 2, 3].map(() => pythonEnvironment(options)));
      for (const environment of made) {
        if ('missing' in environment) return skipTest(environment.missing);
        expect((await run(environment.program('pip'), ['--version'], { timeoutMs: 60_000 })).code).toBe(0);
      }
    } finally {
      if (before === undefined) delete process.env['XDG_CACHE_HOME'];
      else process.env['XDG_CACHE_HOME'] = before;
      await rm(cache, { recursive: true, force: true });
    }
  });
});
