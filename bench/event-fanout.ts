// agent-server's own socket: POST of a message → 1, 10, 48, 500 subscribers have it, beside a bare server that only appends and writes; and events a second, sustained.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@slipway/testing';
import { Pool } from 'undici';
import { startAgentServer } from './measure/agent-server.ts';
import { type EventSubscriber, subscribe } from './measure/event-subscriber.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startScript } from './measure/service-process.ts';

const MESSAGES = quick(150, 10);
const EVERY_MS = quick(100, 20);
const WRITERS = 8;
const SUSTAINED_MS = quick(10_000, 500);
/** OpenHands agent-server 1.58.0: POST → receive p50 at 10 messages a second, and events a second with 8 writers (facts/peers-measured.md 2). */
const PEER: Readonly<Record<number, number>> = { 1: 10.2, 10: 11.5, 48: 15.2 };
const PEER_SUSTAINED = 60.5;

const BODY = JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'x'.repeat(200) }], run: false });

/** Where messages are posted to and listened for. */
interface Place {
  readonly url: string;
  readonly sessionKey: string;
  createConversation(): Promise<string>;
}

export default async function run(report: Report): Promise<void> {
  const server = await startAgentServer();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-bench-'));
  // The same with nothing but an append and a write to each socket: what this machine needs for it.
  const bare = await startScript('./bare-fan-out.ts', folder);
  const floorPlace: Place = { url: bare.url, sessionKey: 'none', createConversation: async () => 'any' };
  const [pool, barePool] = [server, bare].map(({ url }) => new Pool(url, { connections: WRITERS })) as [Pool, Pool];
  try {
    await server.activate();
    for (const count of quick([1, 10, 48, 500], [1, 10])) {
      const { samples, lost } = await fanOut(server, pool, count);
      if (lost > 0) throw new Error(`${lost} deliveries of ${count * MESSAGES} are missing`);
      const floor = await fanOut(floorPlace, barePool, count);
      const peer = PEER[count];
      for (const p of [0.5, 0.99])
        report.figure({
          figure: `p${p * 100}-${count}`,
          value: percentile(samples, p),
          unit: 'ms',
          floor: percentile(floor.samples, p),
          ...(peer === undefined || p !== 0.5 ? {} : { peer }),
          n: samples.length,
        });
    }
    const { perSecond, total } = await sustained(server, pool);
    report.figure({ figure: 'sustained', value: perSecond, unit: '1/s', peer: PEER_SUSTAINED, n: total });
  } finally {
    await Promise.all([pool.close(), barePool.close()]);
    await Promise.all([server.stop(), bare.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function post(pool: Pool, server: Place, id: string): Promise<void> {
  const response = await pool.request({
    method: 'POST',
    path: `/api/conversations/${id}/events`,
    headers: { 'x-session-api-key': server.sessionKey, 'content-type': 'application/json' },
    body: BODY,
  });
  await response.body.dump();
  if (response.statusCode !== 200) throw new Error(`POST events: ${response.statusCode}`);
}

/** Milliseconds from the call of POST to each subscriber's receipt. */
async function fanOut(server: Place, pool: Pool, count: number): Promise<{ samples: number[]; lost: number }> {
  const id = await server.createConversation();
  let sentAt = 0;
  let measuring = false;
  const samples: number[] = [];
  const subscribers: EventSubscriber[] = [];
  for (let index = 0; index < count; index += 1) {
    subscribers.push(
      await subscribe(server.url, id, server.sessionKey, '', (at) => {
        if (measuring) samples.push(at - sentAt);
      }),
    );
  }
  const WARM_UP = 20;
  for (let index = 0; index < WARM_UP + MESSAGES; index += 1) {
    const next = wait(EVERY_MS);
    measuring = index >= WARM_UP;
    sentAt = performance.now();
    await post(pool, server, id);
    await next;
  }
  await until('the last delivery', () => samples.length >= count * MESSAGES, 5_000).catch(() => undefined);
  for (const subscriber of subscribers) subscriber.close();
  return { samples, lost: count * MESSAGES - samples.length };
}

/** Writers that post one after the other as fast as they are answered, one subscriber that must get them all. */
async function sustained(server: Place, pool: Pool): Promise<{ perSecond: number; total: number }> {
  const id = await server.createConversation();
  let received = 0;
  const subscriber = await subscribe(server.url, id, server.sessionKey, '', () => {
    received += 1;
  });
  const began = performance.now();
  let sent = 0;
  const write = async (): Promise<void> => {
    while (performance.now() - began < SUSTAINED_MS) {
      await post(pool, server, id);
      sent += 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  await until('every event', () => received === sent, 10_000);
  const seconds = (performance.now() - began) / 1_000;
  subscriber.close();
  return { perSecond: sent / seconds, total: sent };
}
