import { describe, expect, it } from '@jest/globals';
import type { InitState } from '@slipway/contracts/agent';
import { until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { KeepWarm } from './keep-warm.js';

const RAN = { exitCode: 0, timedOut: false, stdout: '', stderr: '', elapsedMs: 1 };

describe('a blank sandbox', () => {
  it('is warmed again and again, says since when, what failed, and that it is well again; not once it is claimed', async () => {
    const sandbox = await TestSandbox.create();
    const state = async (): Promise<InitState> => (await (await fetch(`${sandbox.url}/api/init`)).json()) as InitState;
    try {
      sandbox.env = { WARM_EVERY_SECONDS: '0.2' };
      await sandbox.startActionServer();
      await sandbox.startAgentServer();
      const first = await until('the first', async () => (await state()).warmed_at);
      const next = await until('the next', async () => {
        const { warmed_at: at, healthy } = await state();
        return healthy && at !== first && at;
      });
      expect(Date.parse(String(next))).toBeGreaterThan(Date.parse(String(first)));
      await sandbox.kill('actionServer');
      const ill = await until('the failure', async () => ((await state()).healthy ? undefined : state()), 20_000);
      expect(ill).toMatchObject({
        state: 'dormant',
        healthy: false,
        unhealthy_reason: 'The warm-up took longer than 10 s.',
      });
      await sandbox.startActionServer();
      await until('it is well', async () => (await state()).healthy, 20_000);
      await sandbox.activate({});
      const { warmed_at: last } = await state();
      const began = performance.now();
      await until('some intervals have passed', () => performance.now() - began > 1_000);
      expect(await state()).toMatchObject({ state: 'ready', healthy: true, warmed_at: last });
    } finally {
      await sandbox.close();
    }
  });

  it('is not well when the command fails or hangs, until it works; and is left alone after the stop', async () => {
    const answers = [
      { ...RAN, exitCode: 254 },
      new Error('no process can be started'),
      'hang',
      { ...RAN, exitCode: -1, timedOut: true },
      RAN,
    ] as const;
    const problems: Array<string | null> = [];
    let run = 0;
    const warm = new KeepWarm({
      run: async (_request, signal) => {
        problems.push(warm.problem);
        const answer = answers[Math.min(run++, answers.length - 1)];
        if (answer === 'hang')
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        if (answer instanceof Error) throw answer;
        return answer ?? RAN;
      },
      everyMs: 1,
      limitMs: 20,
      random: () => 0.5,
    });
    warm.start();
    try {
      await until('it is well', () => warm.warmedAt !== null && warm.problem === null);
      const slow = 'The warm-up took longer than 0.02 s.';
      expect(problems.slice(0, 5)).toEqual([
        null,
        'The warm-up ended with exit code 254.',
        'The warm-up failed: no process can be started',
        slow,
        slow,
      ]);
    } finally {
      warm.stop();
    }
    const runs = run;
    warm.start();
    expect(run).toBe(runs);
  });
});
