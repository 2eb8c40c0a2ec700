import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Timing } from './timing.js';
import { TokenBucket } from './token-bucket.js';

/** A clock that advances only while a caller waits. */
class SteppedTiming implements Timing {
  time = 0;
  private waiting: Array<{ at: number; resolve: () => void; reject: (reason: unknown) => void; signal: AbortSignal }> =
    [];
  now = (): number => this.time;
  random = (): number => 0;
  wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      this.waiting.push({ at: this.time + milliseconds, resolve, reject, signal });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  async pass(milliseconds: number): Promise<void> {
    this.time += milliseconds;
    for (const waiter of this.waiting) if (waiter.at <= this.time) waiter.resolve();
    this.waiting = this.waiting.filter((waiter) => waiter.at > this.time);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const never = new AbortController().signal;

describe('the pace of one kind of requests', () => {
  it('lets no more through than a burst and its rate, and all in the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ callers: fc.nat(8), pass: fc.nat(400) }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 6 }),
        async (rounds, burst) => {
          const timing = new SteppedTiming();
          const rate = 10;
          const bucket = new TokenBucket({ rate, burst }, timing);
          const taken: number[] = [];
          for (const { callers, pass } of rounds) {
            for (let caller = 0; caller < callers; caller += 1)
              void bucket.take(never).then(() => taken.push(timing.time));
            await timing.pass(0);
            await timing.pass(pass);
          }
          const total = rounds.reduce((sum, { callers }) => sum + callers, 0);
          expect(taken.length).toBeLessThanOrEqual(Math.min(total, burst + (timing.time / 1_000) * rate));
          await timing.pass(60_000);
          expect(taken.length).toBe(total);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gives the turn of a caller who gave up to the next one', async () => {
    const timing = new SteppedTiming();
    const bucket = new TokenBucket({ rate: 1, burst: 1 }, timing);
    await bucket.take(never);
    const impatient = new AbortController();
    const given = bucket.take(impatient.signal);
    impatient.abort(new Error('too late'));
    await expect(given).rejects.toThrow('too late');
    let taken = false;
    void bucket.take(never).then(() => (taken = true));
    await timing.pass(999);
    expect(taken).toBe(false);
    await timing.pass(1);
    expect(taken).toBe(true);
  });

  it('lets no call through before the time that the server asked for', async () => {
    const timing = new SteppedTiming();
    const bucket = new TokenBucket({ rate: 100, burst: 10 }, timing);
    bucket.pause(3_000);
    let taken = 0;
    for (let caller = 0; caller < 3; caller += 1) void bucket.take(never).then(() => (taken += 1));
    await timing.pass(2_990);
    expect(taken).toBe(0);
    await timing.pass(40);
    expect(taken).toBe(3);
  });
});
