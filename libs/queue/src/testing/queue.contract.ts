import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { stopwatch, until } from '@slipway/testing';
import { createQueue } from '../create.js';
import { type Queue, TAKEOVER_MS } from '../queue.js';
import type { Scenario } from './scenario.js';

const payloadOf = (conversationId: string) => ({ orgId: 'org_test', conversationId });

/** The contract of `Queue`, for one backend. */
export function describeQueue(backend: string, open: () => Promise<Scenario>): void {
  describe(`Queue on ${backend}`, () => {
    let scenario: Scenario;
    let queue: Queue;
    const runs: Array<{ id: string; at: number }> = [];
    let work: (id: string, signal: AbortSignal) => Promise<void> = async () => {};
    const runsOf = (id: string): number => runs.filter((run) => run.id === id).length;

    beforeAll(async () => {
      scenario = await open();
      queue = await createQueue(scenario.options);
      queue.handle(
        'conversation-deliver',
        async ({ conversationId }, signal) => {
          runs.push({ id: conversationId, at: performance.now() });
          await work(conversationId, signal);
        },
        { concurrency: 4 },
      );
    });
    afterAll(async () => {
      await queue.close();
      await scenario.close();
    });

    it('runs a job within a second of add', async () => {
      const id = randomUUID();
      await queue.add('conversation-deliver', payloadOf(id), { key: id });
      await until('the job', () => runsOf(id) === 1, 1_000);
    });

    it('keeps one job of a key while it waits, and runs it sooner when it is asked for sooner', async () => {
      const id = randomUUID();
      await queue.add('conversation-deliver', payloadOf(id), { key: id, delayMs: 60_000 });
      await queue.add('conversation-deliver', payloadOf(id), { key: id, delayMs: 60_000 });
      await queue.add('conversation-deliver', payloadOf(id), { key: id });
      await until('the job', () => runsOf(id) === 1, 3_000);
      const other = randomUUID();
      await queue.add('conversation-deliver', payloadOf(other), { key: other });
      await until('the next', () => runsOf(other) === 1, 3_000);
      expect(runsOf(id)).toBe(1);
    });

    it('runs once more, and only once, after any number of adds while the job runs', async () => {
      const id = randomUUID();
      const gate = Promise.withResolvers<void>();
      let atOnce = 0;
      let most = 0;
      work = async (which) => {
        if (which !== id) return;
        atOnce += 1;
        most = Math.max(most, atOnce);
        if (runsOf(id) === 1) await gate.promise;
        atOnce -= 1;
      };
      await queue.add('conversation-deliver', payloadOf(id), { key: id });
      await until('the job runs', () => runsOf(id) === 1);
      await Promise.all(Array.from({ length: 5 }, () => queue.add('conversation-deliver', payloadOf(id), { key: id })));
      gate.resolve();
      await until('the run after', () => runsOf(id) === 2);
      const other = randomUUID();
      await queue.add('conversation-deliver', payloadOf(other), { key: other });
      await until('the next', () => runsOf(other) === 1);
      expect({ runs: runsOf(id), most }).toEqual({ runs: 2, most: 1 });
      work = async () => {};
    });

    it('loses no outbox job in a race of adds against runs: after the last add a run begins', async () => {
      const id = randomUUID();
      for (let round = 0; round < 60; round += 1) {
        const added = performance.now();
        await queue.add('conversation-deliver', payloadOf(id), { key: id });
        if (round % 3 === 0)
          await until('a run after the add', () => runs.some((run) => run.id === id && run.at >= added), 4_000);
      }
    });

    it('repeats a job that fails, and still takes an add while it waits for its next attempt', async () => {
      const id = randomUUID();
      work = async (which) => {
        if (which === id && runsOf(id) < 3) throw new Error('not yet');
      };
      await queue.add('conversation-deliver', payloadOf(id), { key: id });
      await until('three attempts', () => runsOf(id) === 3, 8_000);
      work = async () => {};
      await until('a new job of the key', async () => {
        await queue.add('conversation-deliver', payloadOf(id), { key: id });
        return runsOf(id) > 3;
      });
    });

    it('gives the job of a killed process to another within TAKEOVER_MS', async () => {
      const id = randomUUID();
      const child = fork(
        fileURLToPath(new URL('./hold-job.js', import.meta.url)),
        [scenario.options.redisUrl ?? '', scenario.options.databaseUrl],
        {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        },
      );
      const began = new Promise((resolve) => child.once('message', resolve));
      await queue.add('conversation-start', payloadOf(id), { key: id });
      await began;
      const taken: string[] = [];
      queue.handle('conversation-start', async ({ conversationId }) => void taken.push(conversationId), {
        concurrency: 1,
      });
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      const killed = performance.now();
      await until('the job runs here', () => taken.includes(id), TAKEOVER_MS + 3_000);
      process.stderr.write(
        `${backend}: job of a killed process taken over after ${Math.round(performance.now() - killed)} ms\n`,
      );
    });

    it('goes on after every connection was cut, and add never waits longer than its limit', async () => {
      await scenario.cutConnections();
      const id = randomUUID();
      await until(
        'a job after the cut',
        async () => {
          const passed = stopwatch();
          const answer = await queue
            .add('conversation-deliver', payloadOf(id), { key: id })
            .catch((error: unknown) => error);
          expect(passed()).toBeLessThan(3_000);
          if (answer !== undefined) expect(answer).toBeInstanceOf(SlipwayError);
          return runsOf(id) > 0;
        },
        15_000,
      );
    });

    it('aborts a handler that does not end at close', async () => {
      const own = await createQueue(scenario.options);
      const id = randomUUID();
      const state = { began: false, aborted: false };
      own.handle(
        'conversation-snapshot',
        async (_payload, signal) => {
          state.began = true;
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
          state.aborted = true;
        },
        { concurrency: 1 },
      );
      await own.add('conversation-snapshot', payloadOf(id), { key: id });
      await until('the job', () => state.began);
      await own.close();
      expect(state.aborted).toBe(true);
    }, 60_000);

    it('reports how long add to handled takes', async () => {
      const times: number[] = [];
      for (let round = 0; round < 100; round += 1) {
        const id = randomUUID();
        const began = performance.now();
        const handled = new Promise<void>((resolve) => {
          work = async (which) => {
            if (which === id) resolve();
          };
        });
        await queue.add('conversation-deliver', payloadOf(id), { key: id });
        await handled;
        times.push(performance.now() - began);
      }
      work = async () => {};
      times.sort((a, b) => a - b);
      process.stderr.write(
        `${backend}: add → handled p50 ${times[50]?.toFixed(1)} ms, p99 ${times[98]?.toFixed(1)} ms\n`,
      );
      expect(times[50]).toBeLessThan(500);
    });
  });
}
