// agent-server's own socket: POST of a message → 1, 10, 48, 500 subscribers have it, beside a bare server that only
// appends and writes and beside OpenHands' agent server; the 48 again while every core is busy with something else; and
// events a second, sustained.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@slipway/testing';
import { Pool } from 'undici';
import { startAgentServer } from './measure/agent-server.ts';
import { busyCores } from './measure/busy-cores.ts';
import { type EventSubscriber, subscribe } from './measure/event-subscriber.ts';
import { type OpenHandsServer, openhandsServerEnvironment, startOpenHandsServer } from './measure/openhands-server.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startScript } from './measure/service-process.ts';

const MESSAGES = quick(150, 10);
const EVERY_MS = quick(100, 20);
const WRITERS = 8;
const SUSTAINED_MS = quick(10_000, 500);
/** Subscribers of the peer, which is also measured while the machine is busy. */
const PEER_COUNTS = [1, 10, 48];
const BUSY_COUNT = quick(48, 10);
/**
 * OpenHands agent-server 1.58.0 on such a machine, where it cannot be installed: POST → receive p50 at 10 messages a
 * second, and events a second with 8 writers.
 */
const RECORDED: Readonly<Record<string, number>> = { 'p50-1': 10.2, 'p50-10': 11.5, 'p50-48': 15.2 };
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
  const environment = await openhandsServerEnvironment();
  if ('missing' in environment)
    report.note(`The peer's figures are those that were recorded elsewhere. ${environment.missing}`);
  const peer = 'missing' in environment ? null : await startOpenHandsServer(environment);
  const [pool, barePool] = [server, bare].map(({ url }) => new Pool(url, { connections: WRITERS })) as [Pool, Pool];
  const measure = async (count: number, suffix: string): Promise<void> => {
    const { samples, lost } = await fanOut(server, pool, count);
    if (lost > 0) throw new Error(`${lost} deliveries of ${count * MESSAGES} are missing`);
    const floor = await fanOut(floorPlace, barePool, count);
    const heard = peer === null || !PEER_COUNTS.includes(count) ? [] : await fanOutOfPeer(peer, count);
    if (peer !== null && PEER_COUNTS.includes(count) && heard.length === 0)
      report.note(`${count} subscribers of the peer heard nothing: its recorded figure stands`);
    for (const p of [0.5, 0.99]) {
      const figure = `p${p * 100}-${count}${suffix}`;
      const beside = heard.length === 0 ? RECORDED[figure] : percentile(heard, p);
      const value = percentile(samples, p);
      report.figure({
        figure,
        value,
        unit: 'ms',
        floor: percentile(floor.samples, p),
        ...(beside === undefined ? {} : { peer: beside }),
        n: samples.length,
      });
    }
  };
  try {
    await server.activate();
    for (const count of quick([...PEER_COUNTS, 500], [1, 10])) await measure(count, '');
    const busy = busyCores();
    try {
      await measure(BUSY_COUNT, '-busy');
    } finally {
      await busy.stop();
    }
    const { perSecond, total } = await sustained(server, pool);
    report.figure({ figure: 'sustained', value: perSecond, unit: '1/s', peer: PEER_SUSTAINED, n: total });
  } finally {
    await Promise.all([pool.close(), barePool.close()]);
    await Promise.all([server.stop(), bare.stop(), peer?.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function fanOutOfPeer(peer: OpenHandsServer, count: number): Promise<number[]> {
  const pool = new Pool(peer.url, { connections: WRITERS });
  try {
    return (await fanOut(peer, pool, count)).samples;
  } finally {
    await pool.close();
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

/** Milliseconds from the call of POST to each subscriber's first frame after it: the peer sends more than one. */
async function fanOut(server: Place, pool: Pool, count: number): Promise<{ samples: number[]; lost: number }> {
  const id = await server.createConversation();
  let sentAt = 0;
  let measuring = false;
  let current = 0;
  const samples: number[] = [];
  const subscribers: EventSubscriber[] = [];
  for (let index = 0; index < count; index += 1) {
    let heard = -1;
    const query = `?session_api_key=${server.sessionKey}`;
    subscribers.push(
      await subscribe(server.url, id, server.sessionKey, query, (at) => {
        if (!measuring || heard === current) return;
        heard = current;
        samples.push(at - sentAt);
      }),
    );
  }
  const WARM_UP = 20;
  for (let index = 0; index < WARM_UP + MESSAGES; index += 1) {
    const next = wait(EVERY_MS);
    measuring = index >= WARM_UP;
    current = index;
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
