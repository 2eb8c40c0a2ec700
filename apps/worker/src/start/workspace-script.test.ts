import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { until } from '@slipway/testing';
import { itUnless } from '@slipway/testing/jest';
import { parseReport, prepareScript, quote } from './workspace-script.js';

const where = (program: string): string =>
  execFileSync('sh', ['-c', `command -v ${program} || :`], { encoding: 'utf8' }).trim();

describe('the script that makes a workspace', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'slipway-script-'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  /** Runs it with a program of `PATH` that does `first` before what it does otherwise. */
  async function run(program: 'git' | 'flock', first: string): Promise<string> {
    const bin = await mkdtemp(path.join(root, 'bin-'));
    await writeFile(path.join(bin, program), `#!/bin/sh\n${first}\nexec ${where(program)} "$@"\n`);
    await chmod(path.join(bin, program), 0o755);
    const plan = { directory: path.join(root, 'all', 'project'), repository: null, branch: null };
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
    return (await promisify(execFile)('bash', ['-c', prepareScript(plan)], { env })).stdout;
  }

  itUnless(where('flock') === '' ? 'there is no flock' : false)(
    'waits for one that is still at work in the same place, and takes what that has made',
    async () => {
      const at = (name: string): string => path.join(root, name);
      execFileSync('mkfifo', [at('go-on')]);
      const holdsStill = `[ "$1" != init ] || { : > ${quote(at('begun'))}; cat ${quote(at('go-on'))}; }`;
      const earlier = run('git', holdsStill);
      await until('the earlier one makes it', () => existsSync(at('begun')));
      let ended = false;
      const later = run('flock', `: > ${quote(at('asked'))}`).finally(() => {
        ended = true;
      });
      await until('the later one is at its turn', () => ended || existsSync(at('asked')));
      await writeFile(at('go-on'), '');
      const [made, found] = (await Promise.all([earlier, later])).map(parseReport);
      expect([made?.fresh, made?.complete, found?.fresh, found?.complete]).toEqual([true, true, false, true]);
      expect(found?.base).toBe(made?.base);
      expect(await readdir(at('all'))).toEqual(['project']);
      expect(await readdir(at('all/project'))).toEqual(['.git']);
    },
  );
});
