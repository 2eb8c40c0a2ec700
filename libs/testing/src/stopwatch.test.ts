import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { skipTest } from './jest/index.js';
import { stopwatch } from './stopwatch.js';
import { until } from './until.js';

describe('stopwatch', () => {
  it('counts what passes on a machine that has time, and nothing of what passes while something waits for it, but at least a fifth', () => {
    const machine = { at: 1_000, waited: 500, now: () => machine.at, stalled: () => machine.waited };
    const shown = stopwatch(machine);
    expect(shown()).toBe(0);
    machine.at += 100;
    expect(shown()).toBe(100);
    machine.at += 100;
    machine.waited += 60;
    expect(shown()).toBe(140);
    machine.at += 800;
    machine.waited += 1_000;
    expect(shown()).toBe(200);
  });

  it('never shows more than has passed here, nor less than a fifth of it', async () => {
    if (!existsSync('/proc/pressure/cpu')) return skipTest('no /proc/pressure on this machine');
    const before = performance.now();
    const shown = stopwatch();
    await until('some time has passed', () => performance.now() - before > 100);
    const [ms, passed] = [shown(), performance.now() - before];
    expect(ms).toBeGreaterThanOrEqual(100 / 5 - 1);
    expect(ms).toBeLessThanOrEqual(passed);
  });
});

describe('until', () => {
  it('gives the first answer, and names what it waited for, with the last error, when the time is over', async () => {
    const answers = [null, undefined, 'here', 'there'];
    expect(await until('an answer', () => answers.shift())).toBe('here');
    const failed = until('the moon', () => Promise.reject(new Error('no moon')), 30);
    await expect(failed).rejects.toMatchObject({
      message: 'the moon: not within 30 ms',
      cause: { message: 'no moon' },
    });
  });
});
