import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { expect } from 'expect';

const FROM = (file: string): string => JSON.stringify(path.join(import.meta.dirname, file));

/** `body` finds `again`, which shows whether this file ran before. */
function planted(name: string, body: string): string {
  return `import { existsSync, writeFileSync } from 'node:fs'; import { it } from 'node:test'; import assert from 'node:assert';
    const marker = new URL('${name}.ran', import.meta.url); const again = existsSync(marker); writeFileSync(marker, '');
    it('${name}: always passes', () => {}); ${body}`;
}
const racy = (name: string): string => planted(name, `console.log('printed by ${name}'); it('${name}: races', () => assert.ok(again, 'lost by ${name}'));`);
const broken = (name: string): string => planted(name, `it('${name}: broken', () => assert.ok(false, again ? 'again ${name}' : 'first ${name}'));`);
const green = (name: string): string => planted(name, `it.todo('${name}: to do');`);

describe('a second look at files that failed', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-second-look-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /**
   * One suite a file, each run and repeated in a process of its own (the runner refuses to run inside of a test); what
   * `npm test` would print.
   */
  const run = (files: Record<string, string>, signal = 'AbortSignal.timeout(60_000)'): string[] => {
    for (const [name, source] of Object.entries(files)) writeFileSync(path.join(folder, `${name}.test.mjs`), source);
    const suites = Object.keys(files).map((name) => ({ name: `suite-${name}`, cwd: folder, files: [`${name}.test.mjs`], beside: 'any' as const }));
    const script = path.join(folder, 'main.mjs');
    writeFileSync(
      script,
      `import { runSuite } from ${FROM('run-suite.ts')}; import { secondLook } from ${FROM('second-look.ts')}; import { report } from ${FROM('report.ts')};
      const done = []; for (const suite of ${JSON.stringify(suites)}) done.push(await runSuite(suite, AbortSignal.timeout(60_000)));
      const { results, races } = await secondLook(done, ${signal}, console.log);
      console.log('==== report'); console.log(report(results, races, { failed: 0, stopped: false })); process.exit(0);`,
    );
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return execFileSync(process.execPath, [script], { env, encoding: 'utf8' }).trimEnd().split('\n');
  };
  const ranTwice = (lines: readonly string[]): string[] => lines.filter((line) => line.endsWith('is run once more, alone.'));

  it('counts what passes alone as passed, once, and prints it with its first failure', () => {
    const lines = run({ racy: racy('racy'), green: green('green') });
    expect(lines.at(-1)).toBe('3 passed, 0 failed, 1 skipped');
    expect(ranTwice(lines)).toEqual(['  racy.test.mjs of suite-racy is run once more, alone.']);
    const races = lines.slice(lines.indexOf('Failed once and passed alone (races; each is a defect to mend):')).join('\n');
    expect(races).toContain('──── suite-racy: racy.test.mjs ────');
    expect(races).toContain('✖ racy: races\n');
    expect(races).toContain('lost by racy');
    expect(races).toContain('printed by racy');
  });

  it('leaves failed what fails twice, also beside a race', () => {
    const lines = run({ racy: racy('racy'), broken: broken('broken') });
    expect(lines.at(-1)).toBe('3 passed, 1 failed, 0 skipped');
    const report = lines.slice(lines.indexOf('==== report'));
    expect(report.indexOf('✖ broken: broken')).toBeLessThan(report.indexOf('Failed once and passed alone (races; each is a defect to mend):'));
    expect(report.join('\n')).toContain('again broken');
    expect(report.join('\n')).not.toContain('first broken');
  });

  it('leaves failed what ends without its tests, or skips them, the second time', () => {
    const skips = planted('skips', "it('skips: races', { skip: again && 'not now' }, () => assert.ok(false));");
    const gone = planted('gone', "if (!again) it('gone: races', () => assert.ok(false)); if (!again) it('gone: passes', () => {});");
    const lines = run({ skips, gone });
    expect(lines.at(-1)).toBe('3 passed, 2 failed, 0 skipped');
    expect(lines).not.toContain('Failed once and passed alone (races; each is a defect to mend):');
  });

  it('is not taken when more than eight files failed, or after an interrupt', () => {
    const nine = run(Object.fromEntries([...'abcdefghi'].map((name) => [name, racy(name)])));
    expect(nine.at(-1)).toBe('9 passed, 9 failed, 0 skipped');
    expect(ranTwice(nine)).toEqual([]);
    const interrupted = run({ late: racy('late') }, 'AbortSignal.abort()');
    expect(interrupted.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
    expect(ranTwice(interrupted)).toEqual([]);
    expect(existsSync(path.join(folder, 'late.ran'))).toBe(true);
  });
});
