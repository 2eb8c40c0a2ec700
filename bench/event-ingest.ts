// 1,000 events a second into one conversation, 100 subscribers: lines lost or doubled, and how late they come.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type EventsFrame, MAX_INGEST_EVENTS, type SubscribeAnswer, textOfContent } from '@slipway/contracts/events';
import { io } from 'socket.io-client';
import { observation, startAppServers } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const SUBSCRIBERS = quick(100, 5);
const RATE = quick(1_000, 200);
const SECONDS = quick(15, 1);
/**
 * How often something new happens in the sandbox. Milliseconds. What has come together since the last answer goes as
 * one batch, as agent-server's outbox sends it.
 */
const TICK_MS = 20;
/** Longest that subscribers may take after the last event was acknowledged. Milliseconds. */
const PATIENCE_MS = 20_000;

interface Task {
  readonly url: string;
  readonly cookie: string;
  readonly orgId: string;
  readonly conversationId: string;
  readonly total: number;
}
type Message = { kind: 'ready' } | { kind: 'done'; lost: number; disordered: number; latencies: Float64Array };

const now = (): number => performance.timeOrigin + performance.now();

/** In a thread of its own, so that reading does not hold up writing. */
async function subscribe(task: Task): Promise<void> {
  const last = new Array<number>(SUBSCRIBERS).fill(0);
  const latencies: number[] = [];
  let disordered = 0;
  let complete = 0;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const sockets = await Promise.all(
    last.map(async (_, index) => {
      const socket = io(task.url, { transports: ['websocket'], forceNew: true, extraHeaders: { cookie: task.cookie } });
      socket.on('events', ({ events }: EventsFrame) => {
        const arrived = now();
        for (const { seq, event } of events) {
          if (seq !== (last[index] ?? 0) + 1) disordered += 1;
          last[index] = seq;
          if (index % 10 === 0 && event.kind === 'ObservationEvent')
            latencies.push(arrived - Number.parseFloat(textOfContent(event.observation.content)));
        }
        if (last[index] === task.total) complete += 1;
        if (complete === SUBSCRIBERS) finish();
      });
      const answer = (await socket.timeout(10_000).emitWithAck('subscribe', {
        orgId: task.orgId,
        conversationId: task.conversationId,
        afterSeq: 0,
      })) as SubscribeAnswer;
      if (!answer.ok) throw new Error(`${answer.code}: ${answer.detail}`);
      return socket;
    }),
  );
  parentPort?.postMessage({ kind: 'ready' } satisfies Message);
  parentPort?.once('message', () => setTimeout(finish, PATIENCE_MS));
  await finished;
  const lost = last.reduce((sum, seq) => sum + task.total - seq, 0);
  parentPort?.postMessage({
    kind: 'done',
    lost,
    disordered,
    latencies: Float64Array.from(latencies),
  } satisfies Message);
  for (const socket of sockets) socket.disconnect();
}

if (!isMainThread && (workerData as Task | null)?.conversationId !== undefined) await subscribe(workerData as Task);

export default async function run(report: Report): Promise<void> {
  const servers = await startAppServers(1);
  const total = RATE * SECONDS;
  try {
    const producer = await servers.conversation();
    const task: Task = {
      url: servers.replicas[0]?.url ?? '',
      cookie: servers.cookie,
      orgId: servers.orgId,
      conversationId: producer.id,
      total,
    };
    const worker = new Worker(new URL(import.meta.url), { workerData: task });
    const messages = {
      ready: Promise.withResolvers<void>(),
      done: Promise.withResolvers<Extract<Message, { kind: 'done' }>>(),
    };
    worker.on('message', (message: Message) =>
      message.kind === 'ready' ? messages.ready.resolve() : messages.done.resolve(message),
    );
    worker.on('error', (error) => {
      messages.ready.reject(error);
      messages.done.reject(error);
    });
    await messages.ready.promise;
    const began = performance.now();
    let behind = 0;
    for (let sent = 0; sent < total; ) {
      const due = Math.min(total, Math.floor((performance.now() - began) * (RATE / 1_000)));
      behind = Math.max(behind, ((due - sent) / RATE) * 1_000);
      const size = Math.min(due - sent, MAX_INGEST_EVENTS);
      if (size > 0) await producer.send(Array.from({ length: size }, () => observation(String(now()))));
      sent += size;
      const next = began + Math.ceil((performance.now() - began) / TICK_MS) * TICK_MS;
      await new Promise((resolve) => setTimeout(resolve, next - performance.now()));
    }
    const seconds = (performance.now() - began) / 1_000;
    worker.postMessage('sent');
    const { lost, disordered, latencies } = await messages.done.promise;
    await worker.terminate();
    report.note(`the sandbox was at most ${Math.round(behind)} ms behind its rate`);
    report.figure({ figure: 'sustained', value: total / seconds, unit: '1/s', floor: RATE, n: total });
    report.figure({ figure: 'lost', value: lost, unit: 'count', n: total * SUBSCRIBERS });
    report.figure({ figure: 'disordered', value: disordered, unit: 'count', n: total * SUBSCRIBERS });
    const samples = [...latencies];
    report.figure({ figure: 'p50', value: percentile(samples, 0.5), unit: 'ms', n: samples.length });
    report.figure({ figure: 'p99', value: percentile(samples, 0.99), unit: 'ms', n: samples.length });
  } finally {
    await servers.stop();
  }
}
