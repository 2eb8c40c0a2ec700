import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startActionServer } from '../testing/running-server.js';
import { ShellStarts } from './shell-starts.js';

describe('the starts of shells', () => {
  it('are twelve at once and two a second from then on, whatever the order in which they are asked for', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 80 }),
        async (pauses) => {
          let now = 0;
          const started: number[] = [];
          const starts = new ShellStarts(
            () => now,
            async (ms) => {
              now += ms;
            },
          );
          for (const pause of pauses) {
            now += pause;
            await starts.turn(new AbortController().signal);
            started.push(now);
          }
          for (const [first, from] of started.entries())
            for (const [index, at] of started.slice(first).entries())
              expect(index + 1).toBeLessThanOrEqual(12 + (at - from) / 500 + 1);
        },
      ),
    );
  });

  it('wait for no one who asks seldom', async () => {
    let now = 0;
    const starts = new ShellStarts(
      () => now,
      () => Promise.reject(new Error('nobody should wait')),
    );
    for (let turn = 0; turn < 100; turn += 1, now += 500) await starts.turn(new AbortController().signal);
  });

  it('slow down a command that kills its shell again and again; the wait ends with its action, and the terminal goes on', async () => {
    const server = await startActionServer();
    try {
      const begun = performance.now();
      for (let turn = 0; turn < 16; turn += 1) expect((await server.terminal('kill -9 $$')).exit_code).toBe(137);
      // Four more than start at once: two seconds, less what a timer is early.
      expect(performance.now() - begun).toBeGreaterThan(1_900);
      const given = new AbortController();
      const refused = expect(server.terminal('echo never', {}, given.signal)).rejects.toThrow();
      given.abort();
      await refused;
      expect(await server.terminal('echo on')).toMatchObject({ exit_code: 0, content: [{ text: 'on' }] });
    } finally {
      await server.close();
    }
  });
});
