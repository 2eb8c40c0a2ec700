// Load on replicas, forked: argv JSON of their ports. For each order of its parent it makes claims, and answers with
// their latencies and slots.
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export type Order =
  /** So many at once until `claims` were answered. */
  | { readonly kind: 'closed'; readonly prefix: string; readonly claims: number; readonly atOnce: number }
  /** By a schedule of its own, whether or not the ones before were answered. */
  | { readonly kind: 'open'; readonly prefix: string; readonly claims: number; readonly perSecond: number };

export interface Loaded {
  /** Milliseconds, from the time at which a claim was due. */
  readonly latencies: number[];
  readonly slots: string[];
  readonly failed: number;
}

const ports = JSON.parse(process.argv[2] ?? '[]') as number[];
const waiting = new Map<string, (slot: string) => void>();

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true);
    socket.once('error', reject);
    let rest = '';
    socket.on('data', (part) => {
      const lines = (rest + part.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [id = '', slot = '-'] = line.split(' ');
        waiting.get(id)?.(slot);
        waiting.delete(id);
      }
    });
  });
}

const sockets = await Promise.all(ports.map(open));

async function perform(order: Order): Promise<Loaded> {
  const latencies: number[] = [];
  const slots: string[] = [];
  let failed = 0;
  const one = async (index: number, due: number): Promise<void> => {
    const id = `${order.prefix}-${index}`;
    const slot = await new Promise<string>((resolve) => {
      waiting.set(id, resolve);
      (sockets[index % sockets.length] as Socket).write(`${id}\n`);
    });
    latencies.push(performance.now() - due);
    if (slot === '-') failed += 1;
    else slots.push(slot);
  };
  if (order.kind === 'closed') {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < order.claims; index = next++) await one(index, performance.now());
    };
    await Promise.all(Array.from({ length: order.atOnce }, worker));
  } else {
    const began = performance.now();
    const all: Promise<void>[] = [];
    for (let index = 0; index < order.claims; index += 1) {
      const due = began + (index * 1_000) / order.perSecond;
      const early = due - performance.now();
      if (early > 1) await wait(early);
      all.push(one(index, due));
    }
    await Promise.all(all);
  }
  return { latencies, slots, failed };
}

process.on('message', (order: Order) => void perform(order).then((loaded) => process.send?.(loaded)));
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
