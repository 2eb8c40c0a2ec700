import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { PACE_BYTES, PACE_WINDOW_MS, ReadingPace, takenBytes } from './reading-pace.js';

/**
 * Checks a reader of this rate every 100 ms (bytes a second); the time until it was found too slow, in milliseconds, or
 * `null` within two minutes.
 */
function foundSlow(rate: (ms: number) => number): number | null {
  const pace = new ReadingPace(0, 0);
  for (let now = 0, taken = 0; now < 120_000; now += 100, taken += rate(now) / 10)
    if (pace.tooSlow(taken, now)) return now;
  return null;
}

describe('ReadingPace', () => {
  it('finds who takes nothing, and who takes 1 KB a second, at the end of the first window', () => {
    expect(foundSlow(() => 0)).toBe(PACE_WINDOW_MS);
    expect(foundSlow(() => 1_000)).toBe(PACE_WINDOW_MS);
  });

  it('leaves who takes just enough, evenly or once a window', () => {
    const enough = (PACE_BYTES / PACE_WINDOW_MS) * 1_000;
    expect(foundSlow(() => enough + 100)).toBeNull();
    expect(foundSlow((ms) => (ms % PACE_WINDOW_MS === 0 ? PACE_BYTES * 10 + 100 : 0))).toBeNull();
  });

  it('finds who was quick and stopped within two windows', () => {
    const at = foundSlow((ms) => (ms < 15_000 ? 100_000 : 0));
    expect(at).toBeGreaterThan(15_000);
    expect(at).toBeLessThanOrEqual(15_000 + 2 * PACE_WINDOW_MS);
  });

  it('counts no time in which this process stood still', () => {
    const pace = new ReadingPace(0, 0);
    expect(pace.tooSlow(0, 60_000)).toBe(false);
    expect(pace.tooSlow(0, 65_000)).toBe(false);
    expect(pace.tooSlow(0, 70_000)).toBe(true);
  });
});

jest.setTimeout(120_000);

describe('takenBytes', () => {
  it('moves within one large write, as the reader takes it, and is all of it in the end', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = await accepted;
    try {
      reader.pause();
      const size = 64 * 1024 * 1024;
      const flushed = new Promise<void>((resolve) => socket.write(Buffer.alloc(size), () => resolve()));
      const seen = new Set([takenBytes(socket)]);
      reader.on('data', () => seen.add(takenBytes(socket)));
      reader.resume();
      await flushed;
      expect(seen.size).toBeGreaterThan(3);
      expect(takenBytes(socket)).toBe(size);
    } finally {
      reader.destroy();
      socket.destroy();
      server.close();
    }
  });
});
