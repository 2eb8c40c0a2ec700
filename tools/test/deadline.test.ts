import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Deadline } from './deadline.ts';

const tool = (file: string): string => JSON.stringify(path.join(import.meta.dirname, file));

describe('the end of a run', () => {
  it('takes seconds since 1970, nothing, and no other text', () => {
    expect(Deadline.of(undefined)).toBeNull();
    expect(Deadline.of('')).toBeNull();
    expect(Deadline.of('9999999999')?.fits(60)).toBe(true);
    expect(Deadline.of('1000000000')?.fits(0)).toBe(false);
    for (const wrong of ['soon', '-1', '1e9', '12 minutes'])
      expect(() => Deadline.of(wrong)).toThrow(`TEST_UNTIL is ${wrong}, and has to be seconds since 1970.`);
  });

  it('learns how slow the machine is, and is not misled by a fast beginning', () => {
    const deadline = new Deadline(1_000_000, () => 0);
    expect(deadline.fits(999)).toBe(true);
    deadline.ended(100, 50, false);
    expect(deadline.fits(999)).toBe(true);
    deadline.ended(100, 350, false);
    expect(deadline.fits(499)).toBe(true);
    expect(deadline.fits(501)).toBe(false);
  });

  it('keeps time for the second look at what failed, ten minutes at most, until that begins', () => {
    const deadline = new Deadline(1_000_000, () => 0);
    deadline.ended(300, 300, true);
    expect(deadline.fits(699)).toBe(true);
    expect(deadline.fits(701)).toBe(false);
    deadline.ended(900, 900, true);
    expect(deadline.fits(399)).toBe(true);
    expect(deadline.fits(401)).toBe(false);
    deadline.beginSecondLook();
    expect(deadline.fits(999)).toBe(true);
  });

  it('fails a run of which more than a third was left out', () => {
    const deadline = new Deadline(1_000_000, () => 0);
    deadline.ended(200, 300, false);
    deadline.leftOut(100);
    expect(deadline.complaint()).toBeNull();
    deadline.leftOut(1);
    expect(deadline.complaint()).toMatch(/^34 % of the tests, .* more than a third/);
  });
});

describe('test files at the end of a run', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'slipway-deadline-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** What `npm test` would report of these files, when the run ends `ms` after it begins. */
  const run = (ms: number, files: Record<string, string>): string => {
    for (const [name, source] of Object.entries(files)) writeFileSync(path.join(folder, `${name}.test.mjs`), source);
    writeFileSync(
      path.join(folder, 'jest.config.json'),
      JSON.stringify({
        rootDir: folder,
        displayName: 'planted',
        runner: path.join(import.meta.dirname, 'runner.ts'),
        transform: {},
        testMatch: ['**/*.test.mjs'],
        watchman: false,
        cacheDirectory: path.join(folder, 'cache'),
      }),
    );
    const script = path.join(folder, 'main.mjs');
    writeFileSync(
      script,
      `import { jest } from ${tool('jest.ts')}; import { report } from ${tool('report.ts')};
      import { run } from ${tool('run.ts')}; import { Deadline } from ${tool('deadline.ts')};
      run.deadline = new Deadline(Date.now() + ${ms});
      const folder = ${JSON.stringify(folder)};
      const done = await jest(folder, folder + '/jest.config.json', {});
      console.log(report(done, [], { failed: 0, stopped: false })); process.exit(0);`,
    );
    return execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], { encoding: 'utf8' });
  };
  const head = "import { it } from '@jest/globals';";

  it('are not begun when none of the time is left, and say so', () => {
    const printed = run(0, { never: `${head} it('would fail', () => { throw new Error('begun'); });` });
    expect(printed).toMatch(/never\.test\.mjs: no time was left in this run \(TEST_UNTIL\): not begun\n/);
    expect(printed.trimEnd()).toMatch(/0 passed, 0 failed, 1 skipped$/);
  });

  it('are ended at the end, with the results that they had, a failure among them', () => {
    const printed = run(8_000, {
      long: `${head} it('passes', () => {}); it('fails', () => { throw new Error('early'); });
        it('never ends', () => new Promise((resolve) => setTimeout(resolve, 100_000)), 200_000);`,
    });
    expect(printed).toMatch(/no time was left in this run \(TEST_UNTIL\): ended before its last test\n/);
    expect(printed).toContain('✖ fails\nError: early');
    expect(printed.trimEnd()).toMatch(/1 passed, 1 failed, 1 skipped$/);
  });
});
