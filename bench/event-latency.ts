// An event leaves the pod → a subscriber of app-server has it: ingest, commit and socket, on the replica that took it
// and on another one.
import type { EventsFrame, SubscribeAnswer } from '@slipway/contracts/events';
import { io } from 'socket.io-client';
import { observation, startAppServers } from './measure/app-server.ts';
import { commitFloor, loopbackFloor } from './measure/floor.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const WARMUP = quick(300, 10);
const N = quick(2_000, 50);

export default async function run(report: Report): Promise<void> {
  const servers = await startAppServers(2);
  try {
    const producer = await servers.conversation();
    /** When line `seq` arrived, by replica. */
    const arrived = servers.replicas.map(() => new Map<number, number>());
    let wake = (): void => {};
    const sockets = await Promise.all(
      servers.replicas.map(async ({ url }, index) => {
        const socket = io(url, { transports: ['websocket'], extraHeaders: { cookie: servers.cookie } });
        socket.on('events', ({ events }: EventsFrame) => {
          const now = performance.now();
          for (const { seq } of events) arrived[index]?.set(seq, now);
          wake();
        });
        const answer = (await socket.timeout(10_000).emitWithAck('subscribe', {
          orgId: servers.orgId,
          conversationId: producer.id,
          afterSeq: 0,
        })) as SubscribeAnswer;
        if (!answer.ok) throw new Error(`${answer.code}: ${answer.detail}`);
        return socket;
      }),
    );
    const own: number[] = [];
    const other: number[] = [];
    for (let seq = 1; seq <= WARMUP + N; seq += 1) {
      const event = observation(`line ${seq}`);
      const left = performance.now();
      const stored = producer.send([event]);
      while (!arrived.every((replica) => replica.has(seq)))
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      await stored;
      if (seq <= WARMUP) continue;
      own.push((arrived[0]?.get(seq) ?? Number.NaN) - left);
      other.push((arrived[1]?.get(seq) ?? Number.NaN) - left);
    }
    for (const socket of sockets) socket.disconnect();
    const floor = (await commitFloor(servers.ownerUrl)) + (await loopbackFloor());
    report.figure({ figure: 'p50', value: percentile(own, 0.5), unit: 'ms', floor, n: N });
    report.figure({ figure: 'p99', value: percentile(own, 0.99), unit: 'ms', floor, n: N });
    report.figure({ figure: 'other-replica-p50', value: percentile(other, 0.5), unit: 'ms', floor, n: N });
    report.figure({ figure: 'other-replica-p99', value: percentile(other, 0.99), unit: 'ms', floor, n: N });
  } finally {
    await servers.stop();
  }
}
