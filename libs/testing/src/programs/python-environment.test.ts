import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { expect } from 'expect';
import { pythonEnvironment } from './python-environment.js';
import { run } from './run.js';

describe('an environment of Python packages', { timeout: 240_000 }, () => {
  it('is made once, and whole, for all that want it at the same time', async (test) => {
    const cache = await mkdtemp(path.join(os.tmpdir(), 'slipway-python-'));
    const before = process.env['XDG_CACHE_HOME'];
    process.env['XDG_CACHE_HOME'] = cache;
    try {
      // `pip` is there already: nothing is fetched.
      const options = { name: 'nothing/1', packages: ['--no-index', 'pip'] };
      const made = await Promise.all([1, 2, 3].map(() => pythonEnvironment(options)));
      for (const environment of made) {
        if ('missing' in environment) return test.skip(environment.missing);
        expect((await run(environment.program('pip'), ['--version'], { timeoutMs: 60_000 })).code).toBe(0);
      }
    } finally {
      if (before === undefined) delete process.env['XDG_CACHE_HOME'];
      else process.env['XDG_CACHE_HOME'] = before;
      await rm(cache, { recursive: true, force: true });
    }
  });
});
