import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { stopwatch, until } from '@slipway/testing';
import fc from 'fast-check';
import { type RunningServer, startActionServer, textOf } from '../testing/running-server.js';
import { OutputAllowance } from './output-allowance.js';

describe('the allowance of output', () => {
  it('lets terminals that keep their pauses take no more than is allowed, however many there are and whatever they print', () => {
    const chunk = fc.integer({ min: 1, max: 4_096 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(chunk, fc.integer({ min: 0, max: 3 })), { minLength: 50, maxLength: 2_000 }),
        fc.integer({ min: 1, max: 8 }),
        (chunks, terminals) => {
          let now = 0;
          const [atOnce, perMs] = [64_000, 1_000];
          const allowance = new OutputAllowance(() => now, atOnce, perMs);
          const free = Array.from({ length: terminals }, () => 0);
          let taken = 0;
          for (const [bytes, pause] of chunks) {
            now = Math.max(now + pause, Math.min(...free));
            const terminal = free.findIndex((until) => until <= now);
            const wait = allowance.take(bytes);
            free[terminal] = now + wait;
            taken += bytes;
            // Each terminal's pause comes after its output, and no pause is shorter than two milliseconds.
            expect(taken).toBeLessThanOrEqual(atOnce + now * perMs + terminals * 4_096 + 2 * perMs);
          }
        },
      ),
    );
  });

  it('delays no terminal that prints less than is allowed', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 200 }), (pauses) => {
        let now = 0;
        const allowance = new OutputAllowance(() => now, 10_000, 1_000);
        for (const pause of pauses) {
          now += pause;
          expect(allowance.take(pause * 1_000)).toBe(0);
        }
      }),
    );
  });
});

describe('output without an end', () => {
  let server: RunningServer;
  const run = async (command: string, more?: Record<string, unknown>): Promise<string> =>
    textOf(await server.terminal(command, more));

  it('is slowed down, loses nothing, keeps no other terminal waiting and is ended at once', async () => {
    server = await startActionServer();
    try {
      const lines = 1_600_000;
      const observation = await server.terminal(`seq 1 ${lines}`, { timeout: 60 });
      expect(observation.exit_code).toBe(0);
      const kept = readFileSync(observation.full_output_save_dir as string, 'utf8');
      expect(kept.length).toBe(
        Array.from({ length: 7 }, (_, power) => lines - 10 ** power + 1).reduce((sum, length) => sum + length) + lines,
      );
      expect(kept.endsWith(`\n${lines}\n`)).toBe(true);

      expect((await server.terminal('while :; do seq 1 1000000; done', { session: 'flood', timeout: 1 })).timeout).toBe(
        true,
      );
      const asked = stopwatch();
      expect(await run('echo free')).toBe('free');
      // Whoever had to wait for the flood would wait for ever; a busy machine takes its time to start a shell.
      expect(asked()).toBeLessThan(10_000);
      const ended = stopwatch();
      await server.terminal('C-c', { session: 'flood', is_input: true, timeout: 10 });
      await until(
        'the flood has ended',
        async () => (await server.terminal('echo over', { session: 'flood' })).exit_code === 0,
      );
      expect(ended()).toBeLessThan(10_000);
    } finally {
      await server.close();
    }
  });

  it('leaves the processor to others: what is taken of it in a second is little', async () => {
    server = await startActionServer();
    try {
      // Uses up what is allowed at once, however long this machine takes for it.
      await server.terminal('seq 1 1600000', { timeout: 120 });
      await server.terminal('while :; do seq 1 1000000; done', { timeout: 0.5 });
      const begun = ticks(server.process.pid);
      await server.terminal('', { timeout: 3 });
      // Without the pace it is most of these three seconds; with it, a tenth of them.
      expect(ticks(server.process.pid) - begun).toBeLessThan(120);
    } finally {
      await server.close();
    }
  });

  it('of a command outside of the terminal, and of what that left behind, is slowed down too, and its end is reported whole', async () => {
    server = await startActionServer();
    const bash = async (command: string): Promise<{ exitCode: number; stdout: string }> =>
      (await (await server.send('POST', '/bash/execute', JSON.stringify({ command, timeout: 60 }))).json()) as {
        exitCode: number;
        stdout: string;
      };
    try {
      const { exitCode, stdout } = await bash('seq 1 1500000');
      expect([exitCode, stdout.endsWith('\n1499999\n1500000\n')]).toEqual([0, true]);
      expect((await bash('yes & echo left')).exitCode).toBe(0);
      const begun = ticks(server.process.pid);
      await bash('sleep 1.5');
      // Of 150 that it has without the pace; how much work a byte is depends on the machine.
      expect(ticks(server.process.pid) - begun).toBeLessThan(110);
    } finally {
      await server.close();
    }
  });
});

/** Of a process' own processor time. Hundredths of a second. */
function ticks(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
