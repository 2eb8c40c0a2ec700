// 200 subscribers of one conversation, 200 events a second: the others' latency with 5 % of the sockets at 1 KB a
// second and without them, and the memory of a slow one.
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@slipway/testing';
import { WebSocket } from 'ws';
import { type AppServers, observation, type Producer, startAppServers } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { rssMiB } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const SUBSCRIBERS = quick(200, 20);
const SLOW = SUBSCRIBERS / 20;
const SLOW_RATE = 1_000;
/** Ten batches of twenty a second. */
const BATCH = 20;
const EVERY_MS = 100;
/** Bytes of text of one event. */
const TEXT = 400;
const ROUND_MS = quick(12_000, 1500);
const ROUNDS = quick(2, 1);

/** The same sockets in both kinds of round, taking turns: in one the slow ones read like all others. */
export default async function run(report: Report): Promise<void> {
  const servers = await startAppServers(1);
  try {
    const pid = servers.replicas[0]?.pid as number;
    const latency = { without: [] as number[], slow: [] as number[] };
    const grown: number[] = [];
    let unsent = 0;
    let closed = 0;
    await round(servers, 0, []);
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      const before = await round(servers, 0, latency.without, pid);
      const after = await round(servers, SLOW, latency.slow, pid);
      grown.push((after.rss - before.rss) / SLOW);
      unsent = Math.max(unsent, after.unsent / SLOW / 1024 / 1024);
      closed = after.closed;
    }
    for (const [name, samples] of Object.entries(latency)) {
      report.figure({ figure: `p50-${name}`, value: percentile(samples, 0.5), unit: 'ms', n: samples.length });
      report.figure({ figure: `p99-${name}`, value: percentile(samples, 0.99), unit: 'ms', n: samples.length });
    }
    report.figure({ figure: 'unsent-per-slow-socket', value: unsent, unit: 'MiB', n: SLOW });
    report.figure({ figure: 'rss-per-slow-socket', value: Math.max(...grown), unit: 'MiB', n: SLOW });
    report.note(`${closed} of ${SLOW * ROUNDS} slow sockets got their resume point and were closed`);
  } finally {
    await servers.stop();
  }
}

async function round(
  servers: AppServers,
  slow: number,
  samples: number[],
  pid?: number,
): Promise<{ rss: number; unsent: number; closed: number }> {
  const producer = await servers.conversation();
  let sentAt = 0;
  let last = 0;
  let arrived = 0;
  let measuring = false;
  const sockets = await Promise.all(
    Array.from({ length: SUBSCRIBERS }, (_, index) =>
      subscribe(servers, producer, (text) => {
        if (index < slow || !text.includes(`"seq":${last},`)) return;
        if (measuring) samples.push(performance.now() - sentAt);
        arrived += 1;
      }),
    ),
  );
  const restore = sockets.slice(0, slow).map((socket) => throttle(socket));
  const quick = SUBSCRIBERS - slow;
  // What the kernel's buffers take for a reader that does not read is several MiB: they are filled first (in both kinds
  // of round, for the memory), so that sockets are behind while it is measured.
  for (let index = 0; index < 6; index += 1) {
    arrived = 0;
    await send(100, 10_000);
    await until('the others have it', () => arrived === quick, 30_000);
  }
  measuring = true;
  let unsent = 0;
  const end = performance.now() + ROUND_MS;
  while (performance.now() < end) {
    const next = wait(EVERY_MS);
    arrived = 0;
    await send(BATCH, TEXT);
    await until('the others have it', () => arrived === quick, 10_000);
    unsent = Math.max(unsent, await metric(servers, 'realtime_unsent_bytes'));
    await next;
  }
  const rss = pid === undefined ? 0 : await rssMiB(pid);
  // A slow one reads the word only long after.
  const closed = await metric(servers, 'realtime_slow_sockets_total');
  for (const each of restore) each();
  for (const socket of sockets) socket.terminate();
  return { rss, unsent, closed };

  async function send(count: number, text: number): Promise<void> {
    const from = last;
    last += count;
    sentAt = performance.now();
    await producer.send(
      Array.from({ length: count }, (_, index) => observation(`${from + index + 1} ${'x'.repeat(text)}`)),
    );
  }
}

/**
 * socket.io's frames by hand: what is measured is the server, and two hundred whole clients in one process would be
 * slower than it.
 */
async function subscribe(
  servers: AppServers,
  producer: Producer,
  received: (text: string) => void,
): Promise<WebSocket> {
  const url = (servers.replicas[0]?.url ?? '').replace('http', 'ws');
  const socket = new WebSocket(`${url}/socket.io/?EIO=4&transport=websocket`, { headers: { cookie: servers.cookie } });
  socket.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once('close', () => reject(new Error('the socket was closed')));
    socket.on('message', (data) => {
      const text = String(data);
      if (text.startsWith('0')) socket.send('40');
      else if (text === '2') socket.send('3');
      else if (text.startsWith('40'))
        socket.send(
          `420["subscribe",${JSON.stringify({ orgId: servers.orgId, conversationId: producer.id, afterSeq: 0 })}]`,
        );
      else if (text.startsWith('430')) {
        if (!text.includes('"ok":true')) reject(new Error(text));
        resolve();
      } else if (text.startsWith('42["events"')) received(text);
    });
  });
  return socket;
}

/** Reads this socket at `SLOW_RATE` from now on. */
function throttle(socket: WebSocket): () => void {
  const wire = (socket as unknown as { readonly _socket: Socket })._socket;
  let due = performance.now();
  const read = (chunk: Buffer): void => {
    wire.pause();
    due = Math.max(due, performance.now()) + (chunk.length / SLOW_RATE) * 1_000;
  };
  wire.pause();
  wire.on('data', read);
  const timer = setInterval(() => {
    if (performance.now() >= due) wire.resume();
  }, 50);
  return () => {
    clearInterval(timer);
    wire.off('data', read);
  };
}

async function metric(servers: AppServers, name: string): Promise<number> {
  const text = await (
    await fetch(`${servers.replicas[0]?.metricsUrl}/metrics`, { signal: AbortSignal.timeout(5_000) })
  ).text();
  return Number(new RegExp(`^${name}(?:{.*})? (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
