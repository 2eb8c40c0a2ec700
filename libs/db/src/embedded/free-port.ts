import { createServer } from 'node:net';

/**
 * Below what systems give to outgoing connections by themselves (32768 and above), above what fetch refuses to speak
 * to.
 */
const FIRST = 11_000;
const LAST = 29_999;

/**
 * A loopback port that is free at this moment, taken at random where the system takes none by itself: until the caller
 * listens on it, only another caller's equal luck can take it.
 * @throws Error after 50 ports that are taken.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if (await isFree(port)) return port;
  }
  throw new Error('no port');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) =>
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
  );
  if (free) await new Promise((resolve) => server.close(resolve));
  return free;
}
