// 10,000 events on agent-server's direct socket: from opening it to having the last.
import { Pool } from 'undici';
import { startAgentServer } from './measure/agent-server.ts';
import { subscribe } from './measure/event-subscriber.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const EVENTS = quick(10_000, 400);
/** The peer's 10,000 events were 5.45 MB. */
const TEXT = 'x'.repeat(300);
const RUNS = quick(11, 2);
/** OpenHands agent-server 1.58.0 (facts/peers-measured.md 2). */
const PEER = 640;

export default async function run(report: Report): Promise<void> {
  const server = await startAgentServer();
  try {
    await server.activate();
    const id = await server.createConversation();
    const pool = new Pool(server.url, { connections: 32 });
    const body = JSON.stringify({ role: 'user', content: [{ type: 'text', text: TEXT }], run: false });
    let left = EVENTS;
    const write = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const response = await pool.request({
          method: 'POST',
          path: `/api/conversations/${id}/events`,
          headers: { 'x-session-api-key': server.sessionKey },
          body,
        });
        await response.body.dump();
      }
    };
    await Promise.all(Array.from({ length: 32 }, write));
    await pool.close();
    const samples: number[] = [];
    for (let index = 0; index < RUNS + 2; index += 1) {
      const began = performance.now();
      let received = 0;
      const last = await new Promise<number>((resolve, reject) => {
        subscribe(server.url, id, server.sessionKey, '?resend_mode=all', (at) => {
          received += 1;
          if (received === EVENTS) resolve(at);
        }).then((subscriber) => setTimeout(() => subscriber.close(), 1_000).unref(), reject);
      });
      if (index >= 2) samples.push(last - began);
    }
    report.figure({ figure: 'total', value: percentile(samples, 0.5), unit: 'ms', peer: PEER, n: RUNS });
    report.figure({ figure: 'total-max', value: percentile(samples, 1), unit: 'ms', n: RUNS });
  } finally {
    await server.stop();
  }
}
