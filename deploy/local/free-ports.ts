import { createServer } from 'node:net';
import { METRICS_OFFSET, PORT_OFFSETS } from './settings.ts';

/** The first of as many free ports in a row as the stack needs. For starts beside each other: tests, smoke, benches. */
export async function freePortRange(random: () => number = Math.random): Promise<number> {
  const count = METRICS_OFFSET + Math.max(...Object.values(PORT_OFFSETS)) + 1;
  for (let attempt = 0; attempt < 50; attempt += 1) {
    // Below the range from which the system hands out ports by itself.
    const first = 10_000 + Math.floor(random() * 20_000);
    const free = await Promise.all(Array.from({ length: count }, (_, offset) => isFree(first + offset)));
    if (free.every(Boolean)) return first;
  }
  throw new Error('no free range of ports was found');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) =>
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
  );
  if (free) await new Promise((resolve) => server.close(resolve));
  return free;
}
