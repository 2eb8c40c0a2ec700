import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const tool = (file: string): string => JSON.stringify(path.join(import.meta.dirname, file));

/** `body` finds `again`, which is whether this file ran before. */
function planted(name: string, body: string): string {
  return `import { existsSync, writeFileSync } from 'node:fs'; import { expect, it } from '@jest/globals';
    const marker = new URL('${name}.ran', import.meta.url); const again = existsSync(marker); writeFileSync(marker, '');
    it('${name}: always passes', () => {}); ${body}`;
}
const racy = (name: string): string =>
  planted(
    name,
    `console.log('printed by ${name}'); it('${name}: races', () => { if (!again) throw new Error('lost by ${name}'); });`,
  );
const broken = (name: string): string =>
  planted(name, `it('${name}: broken', () => { throw new Error(again ? 'again ${name}' : 'first ${name}'); });`);
const green = (name: string): string => planted(name, `it.todo('${name}: to do');`);

describe('a second look at files that failed', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'slipway-second-look-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** What `npm test` would print, with Jest and our runner on these files. */
  const run = (files: Record<string, string>, signal = 'AbortSignal.timeout(60_000)'): string[] => {
    for (const [name, source] of Object.entries(files)) writeFileSync(path.join(folder, `${name}.test.mjs`), source);
    const config = {
      rootDir: folder,
      displayName: 'planted',
      runner: path.join(import.meta.dirname, 'runner.ts'),
      transform: {},
      testMatch: ['**/*.test.mjs'],
    };
    writeFileSync(
      path.join(folder, 'jest.config.json'),
      JSON.stringify({ ...config, watchman: false, cacheDirectory: path.join(folder, 'cache') }),
    );
    const script = path.join(folder, 'main.mjs');
    writeFileSync(
      script,
      `import { jest } from ${tool('jest.ts')}; import { secondLook } from ${tool('second-look.ts')}; import { report } from ${tool('report.ts')};
      const folder = ${JSON.stringify(folder)}; const config = folder + '/jest.config.json';
      const done = await jest(folder, config, {});
      const again = async ({ file }) => (await jest(folder, config, { _: [folder + '/' + file], runTestsByPath: true }))[0];
      const { results, races } = await secondLook(done, again, ${signal}, console.log);
      console.log('==== report'); console.log(report(results, races, { failed: 0, stopped: false })); process.exit(0);`,
    );
    return execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], { encoding: 'utf8' })
      .trimEnd()
      .split('\n');
  };
  const ranTwice = (lines: readonly string[]): string[] =>
    lines.filter((line) => line.endsWith('is run once more, alone.'));

  it('counts what passes alone as passed, once, and prints it with its first failure', () => {
    const lines = run({ racy: racy('racy'), green: green('green') });
    expect(lines.at(-1)).toBe('3 passed, 0 failed, 1 skipped');
    expect(ranTwice(lines)).toEqual(['  racy.test.mjs is run once more, alone.']);
    const races = lines
      .slice(lines.indexOf('Failed once and passed alone (races; each is a defect to mend):'))
      .join('\n');
    expect(races).toContain('──── planted: racy.test.mjs ────');
    expect(races).toContain('✖ racy: races\n');
    expect(races).toContain('lost by racy');
    expect(races).toContain('printed by racy');
  });

  it('leaves failed what fails twice, also beside a race', () => {
    const lines = run({ racy: racy('racy'), broken: broken('broken') });
    expect(lines.at(-1)).toBe('3 passed, 1 failed, 0 skipped');
    const report = lines.slice(lines.indexOf('==== report'));
    expect(report.indexOf('✖ broken: broken')).toBeLessThan(
      report.indexOf('Failed once and passed alone (races; each is a defect to mend):'),
    );
    expect(report.join('\n')).toContain('again broken');
    expect(report.join('\n')).not.toContain('first broken');
  });

  it('leaves failed what ends without its tests, or skips them, the second time', () => {
    const skips = planted('skips', "(again ? it.skip : it)('skips: races', () => expect(again).toBe(true));");
    const gone = planted(
      'gone',
      "if (!again) it('gone: races', () => expect(again).toBe(true)); if (!again) it('gone: passes', () => {});",
    );
    const lines = run({ skips, gone });
    expect(lines.at(-1)).toBe('3 passed, 2 failed, 0 skipped');
    expect(lines).not.toContain('Failed once and passed alone (races; each is a defect to mend):');
  });

  it('is not taken when more than fifteen files failed, or after an interrupt', () => {
    const many = run(Object.fromEntries([...'abcdefghijklmnop'].map((name) => [name, racy(name)])));
    expect(many.at(-1)).toBe('16 passed, 16 failed, 0 skipped');
    expect(ranTwice(many)).toEqual([]);
    const interrupted = run({ late: racy('late') }, 'AbortSignal.abort()');
    expect(interrupted.at(-1)).toMatch(/ 1 failed, 0 skipped$/);
    expect(ranTwice(interrupted)).toEqual([]);
    expect(existsSync(path.join(folder, 'late.ran'))).toBe(true);
  });
});
