import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FileRun, type Limits, runInProcess } from './test-process.ts';

describe('the process of a test file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-process-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (
    name: string,
    source: string,
    limits: Limits = {},
    testNamePattern: string | null = null,
  ): Promise<FileRun> => {
    const file = path.join(folder, `${name}.test.mjs`);
    writeFileSync(file, `import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'; ${source}`);
    const order = {
      file,
      cache: path.join(folder, 'cache'),
      testTimeoutMs: 20_000,
      maxConcurrency: 4,
      testNamePattern,
      locations: true,
      coverage: false,
    };
    return runInProcess(order, folder, AbortSignal.timeout(60_000), limits);
  };
  const statuses = ({ tests }: FileRun): string[] =>
    tests.map(({ ancestorTitles, title, status }) => `${[...ancestorTitles, title].join(' › ')}: ${status}`);

  it('reports each test once, a failure with its message and place, a skip with its reason', async () => {
    const ran = await run(
      'mixed',
      `describe('outer', () => { it('passes', () => {}); describe('inner', () => { it('fails', () => expect(1).toBe(2)); });
        it('skips', () => { throw Object.assign(new Error('no moon'), { name: 'SkippedTest' }); }); it.todo('waits'); });
        it('at the top', async () => {});`,
    );
    expect(statuses(ran)).toEqual([
      'outer › passes: passed',
      'outer › inner › fails: failed',
      'outer › skips: pending',
      'outer › waits: todo',
      'at the top: passed',
    ]);
    const [, failed, skipped] = ran.tests;
    expect(failed?.failureMessages[0]).toMatch(/Expected: .*2[\s\S]*Received: .*1[\s\S]*mixed\.test\.mjs:1:\d+/);
    expect(failed?.location?.line).toBe(1);
    expect(skipped?.skipReason).toBe('no moon');
    expect(ran.errors).toEqual([]);
  });

  it('fails a test for what nobody waits for, for its own time, and for assertions that were not made', async () => {
    const ran = await run(
      'stray',
      `it('rejects', async () => { void Promise.reject(new Error('stray one')); await new Promise((resolve) => setTimeout(resolve, 50)); });
        it('is late', () => new Promise(() => {}), 100); it('asserts nothing', () => { expect.hasAssertions(); });
        it('is given time', async () => { jest.useFakeTimers({ now: 0, doNotFake: ['setTimeout'] }); expect(Date.now()).toBe(0); jest.useRealTimers(); });`,
    );
    expect(statuses(ran)).toEqual([
      'rejects: failed',
      'is late: failed',
      'asserts nothing: failed',
      'is given time: passed',
    ]);
    expect(ran.tests[0]?.failureMessages.join()).toContain('stray one');
    expect(ran.tests[1]?.failureMessages.join()).toMatch(/Exceeded timeout of 100 ms[\s\S]*stray\.test\.mjs/);
  });

  it('runs what a pattern chooses', async () => {
    const ran = await run(
      'chosen',
      "describe('a', () => { it('one', () => {}); it('two', () => { throw new Error('no'); }); });",
      {},
      'a one',
    );
    expect(statuses(ran)).toEqual(['a › one: passed', 'a › two: pending']);
  });

  it('counts as failures a file that cannot be loaded, one that ends its process, and hooks that throw', async () => {
    expect((await run('broken', "import './nowhere.mjs';")).errors.join()).toContain('nowhere.mjs');
    expect((await run('exits', "it('ends', () => process.exit(3));")).errors).toEqual([
      'The process of the file ended in "ends" by itself (code 3).',
    ]);
    const hooked = await run(
      'hooked',
      "describe('b', () => { beforeAll(() => { throw new Error('in the first'); }); it('never', () => {}); afterAll(() => { throw new Error('in the last'); }); });",
    );
    expect(statuses(hooked)).toEqual(['b › never: failed']);
    expect(hooked.tests[0]?.failureMessages.join()).toContain('in the first');
    expect(hooked.errors.join()).toContain('in the last');
  });

  const open = "it('leaves a timer', () => { setInterval(() => {}, 1_000); });";
  it('ends what does not end, and counts that beside its tests', async () => {
    const late = await run('late', `${open} it('hangs', () => new Promise(() => {}));`, { fileTimeoutMs: 3_000 });
    expect(statuses(late)).toEqual(['leaves a timer: passed']);
    expect(late.errors).toEqual([expect.stringContaining('had not ended after 3 s in "hangs"')]);
    const stays = await run('stays', open, { endMs: 500 });
    expect(stays.errors).toEqual([expect.stringContaining('had not ended 0.5 s after its last test')]);
  });

  it('ends a file with a failure that says nothing any more long before the time of a file', async () => {
    const stuck = await run(
      'stuck',
      "it('fails', () => { throw new Error('no'); }); it('hangs', () => new Promise(() => {}));",
      { failedSilenceMs: 500 },
    );
    expect(statuses(stuck)).toEqual(['fails: failed']);
    expect(stuck.errors).toEqual([expect.stringContaining('had not ended 0.5 s after a failure in "hangs"')]);
  });

  it('does not wait for a process that the file has left behind with its output', async () => {
    const orphan = 'process.stdout.write(String(process.pid)); setInterval(() => {}, 1_000);';
    const left = await run(
      'leaves',
      `import { spawn } from 'node:child_process';
        it('starts one', async () => {
          const child = spawn(process.execPath, ['-e', ${JSON.stringify(orphan)}], { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
          await new Promise((resolve) => child.once('spawn', resolve));
          child.unref();
        });`,
      { outputMs: 1_000 },
    );
    try {
      expect([statuses(left), left.errors]).toEqual([['starts one: passed'], []]);
    } finally {
      process.kill(Number(/\d+/.exec(left.output)?.[0]), 'SIGKILL');
    }
  });
});
