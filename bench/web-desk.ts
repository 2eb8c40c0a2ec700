// The Desk of 500 viewers while 20 conversations a second change: from the change being committed until each viewer has
// it; and in Chromium, with as many rows as it shows, the longest task meanwhile.
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Producer } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { longestTask } from './web/longest-task.ts';
import { type PagesInBrowser, startPagesInBrowser } from './web/pages.ts';

const VIEWERS = quick(500, 20);
const ROWS = quick(500, 30);
const CHANGES_PER_SECOND = 20;
const SECONDS = quick(20, 2);
/** Nobody waits for longer; what has not come by then is lost. Milliseconds. */
const PATIENCE_MS = 30_000;

export default async function run(report: Report): Promise<void> {
  const pages = await startPagesInBrowser();
  if (pages === null) return report.note(NEEDS_CHROMIUM);
  try {
    const producers: Producer[] = [];
    while (producers.length < ROWS) {
      const producer = await pages.servers.conversation();
      // What an agent asks stands on the Desk.
      await producer.send([question('Which of the two readers should keep the last line?'), execution('idle')]);
      producers.push(producer);
    }
    await viewers(report, pages, producers);
    await oneBrowser(report, pages, producers);
  } finally {
    await pages.stop();
  }
}

/** 500 sockets of one organization. */
async function viewers(report: Report, pages: PagesInBrowser, producers: readonly Producer[]): Promise<void> {
  /** Changes that are on their way: when they were acknowledged, and who has not had them. */
  const pending = new Map<string, { committed: number; left: number }>();
  const latencies: number[] = [];
  let known = { text: '', changed: changesOf('42["desk",{"changed":[]}]') };
  const received = (text: string) => {
    const at = performance.now();
    // All viewers get the same text, which is read once: they share this process with what measures them.
    if (text !== known.text) known = { text, changed: changesOf(text) };
    for (const { id, status } of known.changed) {
      const change = pending.get(`${id} ${status}`);
      if (change === undefined) continue;
      change.left -= 1;
      latencies.push(Math.max(0, at - change.committed));
      if (change.left === 0) pending.delete(`${id} ${status}`);
    }
  };
  const sockets = await Promise.all(Array.from({ length: VIEWERS }, () => viewer(pages, received)));
  const changes = CHANGES_PER_SECOND * SECONDS;
  for (let index = 0; index < changes; index += 1) {
    const next = wait(1_000 / CHANGES_PER_SECOND);
    const producer = producers[index % producers.length] as Producer;
    const isOdd = Math.floor(index / producers.length) % 2 === 1;
    const change = { committed: Number.POSITIVE_INFINITY, left: VIEWERS };
    pending.set(`${producer.id} ${isOdd ? 'waiting' : 'working'}`, change);
    // A frame may be there before the answer to the batch that caused it: then it was there at once.
    void producer.send([execution(isOdd ? 'idle' : 'running')]).then(() => {
      change.committed = Math.min(change.committed, performance.now());
    });
    await next;
  }
  const end = performance.now() + PATIENCE_MS;
  while (pending.size > 0 && performance.now() < end) await wait(50);
  const lost = [...pending.values()].reduce((sum, { left }) => sum + left, 0);
  for (const socket of sockets) socket.terminate();
  const n = latencies.length;
  report.figure({ figure: 'committed-to-desk-p50', value: percentile(latencies, 0.5), unit: 'ms', n });
  report.figure({ figure: 'committed-to-desk-p99', value: percentile(latencies, 0.99), unit: 'ms', n });
  report.figure({ figure: 'lost', value: lost, unit: 'count', n: changes * VIEWERS });
}

function changesOf(text: string): ReadonlyArray<{ readonly id: string; readonly status: string }> {
  const [, { changed }] = JSON.parse(text.slice(2)) as [string, { changed: Array<{ id: string; status: string }> }];
  return changed;
}

/** socket.io's frames by hand: whole clients in this process would be slower than the server. */
async function viewer(pages: PagesInBrowser, received: (text: string) => void): Promise<WebSocket> {
  const url = pages.url.replace('http', 'ws');
  const socket = new WebSocket(`${url}/socket.io/?EIO=4&transport=websocket`, {
    headers: { cookie: pages.servers.cookie },
  });
  socket.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once('close', () => reject(new Error('the socket was closed')));
    socket.on('message', (data) => {
      const text = String(data);
      if (text.startsWith('0')) socket.send('40');
      else if (text === '2') socket.send('3');
      else if (text.startsWith('40'))
        socket.send(`420["subscribe_org",${JSON.stringify({ orgId: pages.servers.orgId })}]`);
      else if (text.startsWith('430')) {
        if (!text.includes('"ok":true')) reject(new Error(text));
        resolve();
      } else if (text.startsWith('42["desk"')) received(text);
    });
  });
  return socket;
}

async function oneBrowser(report: Report, pages: PagesInBrowser, producers: readonly Producer[]): Promise<void> {
  const { page, close } = await pages.open('D');
  await page.goto(`${pages.url}/bench`);
  await page.locator('[data-desk-line]').first().waitFor();
  const rows = await page.locator('[data-desk-line]').count();
  const longest = await longestTask(pages.browser, page, async () => {
    for (let index = 0; index < CHANGES_PER_SECOND * SECONDS; index += 1) {
      const next = wait(1_000 / CHANGES_PER_SECOND);
      const isOdd = Math.floor(index / producers.length) % 2 === 1;
      await (producers[index % producers.length] as Producer).send([execution(isOdd ? 'running' : 'idle')]);
      await next;
    }
  });
  const n = CHANGES_PER_SECOND * SECONDS;
  report.figure({ figure: 'longest-task', value: longest.wall, unit: 'ms', n });
  report.figure({ figure: 'longest-task-cpu', value: longest.cpu, unit: 'ms', n });
  report.figure({ figure: 'rows', value: rows, unit: 'count', n: 1 });
  await close();
}

function question(text: string): Parameters<Producer['send']>[0][number] {
  return {
    id: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    source: 'agent',
    kind: 'MessageEvent',
    llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
  };
}

function execution(value: 'running' | 'idle'): Parameters<Producer['send']>[0][number] {
  return {
    id: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    source: 'environment',
    kind: 'ConversationStateUpdateEvent',
    key: 'execution_status',
    value,
  };
}
