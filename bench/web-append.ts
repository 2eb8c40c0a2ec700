// One event (and 100 deltas of streamed text) appended to an open conversation of 10,000 events, in Chromium: the
// longest task of the main thread.
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LoggedEvent } from '@slipway/contracts/events';
import { freePort } from '@slipway/testing';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../tests/e2e/browser.ts';
import { startProcess, waitForHttp } from './measure/child-process.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type FakeApp, type FakeConversation, startFakeApp } from './web/fake-app.ts';
import { LogWriter, sampleLog } from './web/sample-log.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SERVER = `${ROOT}apps/web/.next/standalone/apps/web/server.js`;
const LONG = '01930000-0000-7000-8000-000000010000';
const SHORT = '01930000-0000-7000-8000-000000000050';
const EVENTS = quick(10_000, 300);
const APPENDED = quick(60, 8);
const DELTAS = quick(100, 10);

/** The floor is the same page with 50 events: what is above it is what length costs. */
export default async function run(report: Report): Promise<void> {
  if (!existsSync(SERVER)) throw new Error('the pages are not built: npm run build -w @slipway/web');
  const executablePath = findChromium();
  if (executablePath === null) return report.note(NEEDS_CHROMIUM);
  const port = await freePort();
  const web = startProcess(
    process.execPath,
    [SERVER],
    { PORT: String(port), METRICS_PORT: '0', HOSTNAME: '127.0.0.1', NODE_ENV: 'production' },
    ROOT,
  );
  const webUrl = `http://127.0.0.1:${port}`;
  let fakeApp: FakeApp | undefined;
  let browser: Browser | undefined;
  try {
    await waitForHttp(`${webUrl}/login`, web);
    const began = Date.now() - 3_600_000;
    fakeApp = await startFakeApp({
      webUrl,
      conversations: [conversation(LONG, EVENTS, began), conversation(SHORT, 50, began)],
    });
    browser = await chromium.launch({
      executablePath,
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    const short = await measure(browser, fakeApp, SHORT);
    const long = await measure(browser, fakeApp, LONG);
    report.note(`all ${EVENTS} events loaded, ${long.mounted} rows in the page`);
    report.figure({ figure: 'open', value: long.open, unit: 'ms', floor: short.open, n: 1 });
    const figures = [
      ['longest-task', long.append, short.append, APPENDED],
      ['longest-task-deltas', long.deltas, short.deltas, DELTAS],
      ['longest-task-typing', long.typing, short.typing, 40],
    ] as const;
    for (const [figure, value, floor, n] of figures) {
      report.figure({ figure, value: value.wall, unit: 'ms', floor: floor.wall, n });
      report.figure({ figure: `${figure}-cpu`, value: value.cpu, unit: 'ms', floor: floor.cpu, n });
    }
    report.figure({ figure: 'rows-mounted', value: long.mounted, unit: 'count', n: 1 });
  } finally {
    await browser?.close();
    await fakeApp?.stop();
    await web.stop();
  }
}

/** Milliseconds. */
interface Longest {
  readonly wall: number;
  readonly cpu: number;
}

interface Measured {
  readonly open: number;
  readonly append: Longest;
  readonly deltas: Longest;
  readonly typing: Longest;
  readonly mounted: number;
}

async function measure(browser: Browser, fakeApp: FakeApp, id: string): Promise<Measured> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${fakeApp.url}/login`);
  const start = performance.now();
  await page.goto(`${fakeApp.url}/demo/conversations/${id}`);
  const rows = page.locator('[role=log] [data-index]');
  await rows.nth(5).waitFor();
  const open = performance.now() - start;
  await loadAll(page);

  const log: LoggedEvent[] = [];
  const writer = new LogWriter(id, Date.now(), log);
  while (log.length < APPENDED) writer.turn();
  const head = id === LONG ? EVENTS : 50;
  const more = log.slice(0, APPENDED).map((logged, index) => renumbered(logged, head + 1 + index));
  const append = await longestTask(browser, page, async () => {
    for (const logged of more) {
      fakeApp.append(id, [logged]);
      await wait(40);
    }
    await page.getByText(`git diff --stat`).last().waitFor();
  });

  const text = `The reader drops the **last line**. First a test:\n\n\`\`\`ts\n${'expect(readRows("a\\nb")).toHaveLength(2);\n'.repeat(30)}\`\`\`\n\nThen the fix. `;
  const deltas = await longestTask(browser, page, async () => {
    for (let index = 0, offset = 0; index < DELTAS; index += 1) {
      const piece = text.slice(offset, offset + Math.ceil(text.length / DELTAS));
      fakeApp.delta(id, { responseId: 'live', channel: 'content', offset, text: piece });
      offset += piece.length;
      await wait(15);
    }
    await page.getByText('Then the fix.').waitFor();
  });

  const typing = await longestTask(browser, page, async () => {
    await page
      .getByLabel('Message', { exact: true })
      .pressSequentially('a message typed while it works, 40 keys', { delay: 20 });
  });
  const mounted = await rows.count();
  await page.close();
  return { open, append, deltas, typing, mounted };
}

/** Scrolls up until the first event is there, then back to the live edge. */
async function loadAll(page: Page): Promise<void> {
  const scroller = page.getByRole('log');
  const first = page.getByText('Started: 7 steps');
  for (let round = 0; round < 200 && !(await first.isVisible()); round += 1) {
    await scroller.evaluate((element) => element.scrollTo({ top: 0 }));
    await wait(100);
  }
  if (!(await first.isVisible())) throw new Error('the first event never came');
  await page.getByRole('button', { name: /Newest|new$/ }).click();
  await wait(500);
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly dur?: number;
  /** Microseconds of CPU: what is left of `dur` when nothing else uses the machine. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Runs `work` and gives the longest task of a renderer's main thread meanwhile, from the browser's own trace.
 * Milliseconds.
 */
async function longestTask(browser: Browser, page: Page, work: () => Promise<void>): Promise<Longest> {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
  await work();
  await wait(300);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const main = new Set(
    traceEvents
      .filter((event) => event.name === 'thread_name' && event.args?.name === 'CrRendererMain')
      .map((event) => `${event.pid}:${event.tid}`),
  );
  const tasks = traceEvents.filter(
    (event) => /RunTask$/.test(event.name) && event.ph === 'X' && main.has(`${event.pid}:${event.tid}`),
  );
  if (tasks.length === 0) throw new Error('the trace has no task');
  return {
    wall: Math.max(...tasks.map((task) => (task.dur ?? 0) / 1_000)),
    cpu: Math.max(...tasks.map((task) => (task.tdur ?? 0) / 1_000)),
  };
}

function renumbered(logged: LoggedEvent, seq: number): LoggedEvent {
  const text = JSON.stringify({ ...logged, seq });
  // Ids are made of a counter: moved up, they stay apart from those of the log and observations still name their
  // actions.
  return JSON.parse(text.replaceAll('00000000-0000-4000-8000-', '00000000-0000-4000-9000-')) as LoggedEvent;
}

function conversation(id: string, events: number, began: number): FakeConversation {
  return {
    summary: {
      id,
      orgId: 'org_stand_in',
      title: `${events} events`,
      status: 'working',
      executionStatus: 'running',
      sandboxStatus: 'RUNNING',
      repository: 'https://git.example/importer.git',
      branch: 'main',
      model: 'slipway-demo',
      createdBy: { id: 'usr_stand_in', label: 'Demo Person' },
      createdAt: new Date(began).toISOString(),
      updatedAt: new Date(began).toISOString(),
      head: events,
      costUsd: '1.0000',
      promptTokens: 1,
      completionTokens: 1,
      pullRequest: null,
      stopReason: null,
      pinned: false,
      tags: [],
      archivedAt: null,
      deletedAt: null,
      readSeq: 0,
    },
    start: { status: 'READY', steps: [] },
    log: sampleLog(id, events, began),
    files: [],
    queued: [],
  };
}
