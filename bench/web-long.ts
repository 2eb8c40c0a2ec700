// A conversation of 50,000 events opened at its end on a slow phone (S), jumps to turns, rows and memory; and what
// eight hours of an agent's work add to the memory of a page that stays open.
import { setTimeout as wait } from 'node:timers/promises';
import type { ConversationEvent } from '@slipway/contracts/events';
import type { CDPSession, Page } from 'playwright-core';
import { percentile } from './measure/percentile.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type PagesInBrowser, type Profile, startPagesInBrowser } from './web/pages.ts';
import { LogWriter, sampleLog } from './web/sample-log.ts';

const EVENTS = quick(50_000, 600);
const SHORT = 50;
const OPENS = quick(5, 1);
const JUMPS = quick(9, 3);
/** Eight hours of an agent that never rests: about twenty events a minute. */
const WORKDAY_EVENTS = quick(9_600, 200);
const BATCH = 500;
/** A batch of the working day is on the screen before the next. Milliseconds. */
const BATCH_MS = 250;
const LAST_WORDS = 'The importer keeps the last row now, and a test says so.';

/** The floor is the same page with 50 events: what is above it is what length costs. */
export default async function run(report: Report): Promise<void> {
  const pages = await startPagesInBrowser();
  if (pages === null) return report.note(NEEDS_CHROMIUM);
  try {
    const short = await opened(pages, await written(pages, SHORT), 'S');
    const long = await written(pages, EVENTS);
    const { text, usable } = await opened(pages, long, 'S');
    report.figure({ figure: 'S-text', value: text, unit: 'ms', floor: short.text, n: OPENS });
    report.figure({ figure: 'S-usable', value: usable, unit: 'ms', floor: short.usable, n: OPENS });
    await jumps(report, pages, long);
    await workday(report, pages);
  } finally {
    await pages.stop();
  }
}

/** @returns the id of a conversation with so many events, the last of which has `LAST_WORDS`. */
async function written(pages: PagesInBrowser, count: number): Promise<string> {
  const producer = await pages.servers.conversation();
  const log = sampleLog(producer.id, count - 1, Date.now() - 3_600_000);
  new LogWriter(producer.id, Date.now(), log).message('assistant', LAST_WORDS);
  const events = log.map(({ event }) => event);
  for (let from = 0; from < events.length; from += BATCH) await producer.send(events.slice(from, from + BATCH));
  return producer.id;
}

/** Milliseconds from the click on the link until its newest text stands there, and until a message can be written. */
async function opened(
  pages: PagesInBrowser,
  id: string,
  profile: Profile,
): Promise<{ readonly text: number; readonly usable: number }> {
  const texts: number[] = [];
  const usables: number[] = [];
  for (let index = 0; index < OPENS; index += 1) {
    const { page, close } = await pages.open(profile);
    // Its scripts are in the cache, as they are of someone who comes from the list.
    await page.goto(`${pages.url}/bench/conversations`, { waitUntil: 'networkidle' });
    const began = performance.now();
    await page.goto(`${pages.url}/bench/conversations/${id}`, { waitUntil: 'commit' });
    await page.getByText(LAST_WORDS).first().waitFor();
    texts.push(performance.now() - began);
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    usables.push(performance.now() - began);
    await close();
  }
  return { text: percentile(texts, 0.5), usable: percentile(usables, 0.5) };
}

/** From the press in the list of turns until the row of that turn is on the screen. */
async function jumps(report: Report, pages: PagesInBrowser, id: string): Promise<void> {
  const { page, session, close } = await pages.open('D');
  await page.goto(`${pages.url}/bench/conversations/${id}`, { waitUntil: 'networkidle' });
  await page.getByText(LAST_WORDS).first().waitFor();
  const times: number[] = [];
  for (let jump = 0; jump < JUMPS; jump += 1) {
    // Far and near by turns, none twice.
    const seq = 100 + Math.floor(((EVENTS - 200) * ((jump * 4) % JUMPS)) / JUMPS);
    times.push(await jumpTo(page, seq));
  }
  const rows = await page.locator('[role=log] [data-index]').count();
  report.figure({ figure: 'jump-p50', value: percentile(times, 0.5), unit: 'ms', n: JUMPS });
  report.figure({ figure: 'jump-worst', value: Math.max(...times), unit: 'ms', n: JUMPS });
  report.figure({ figure: 'rows', value: rows, unit: 'count', n: 1 });
  report.figure({ figure: 'heap', value: (await heap(session)).mib, unit: 'MiB', n: 1 });
  await close();
}

/** By the address of an event, as a link in the page is followed, until its row has the focus and is in sight. */
async function jumpTo(page: Page, seq: number): Promise<number> {
  await page.evaluate(() => (document.activeElement as unknown as { blur(): void } | null)?.blur());
  const began = performance.now();
  await page.evaluate((to) => {
    const url = new URL(location.href);
    url.searchParams.set('event', String(to));
    history.pushState(null, '', url);
  }, seq);
  const isInSight = () => {
    const row = document.activeElement?.closest('article')?.getBoundingClientRect();
    const list = document.querySelector('[role="log"]')?.getBoundingClientRect();
    return row !== undefined && list !== undefined && row.bottom > list.top && row.top < list.bottom;
  };
  await page.waitForFunction(isInSight);
  return performance.now() - began;
}

async function workday(report: Report, pages: PagesInBrowser): Promise<void> {
  const producer = await pages.servers.conversation();
  const all = sampleLog(producer.id, 300 + WORKDAY_EVENTS, Date.now() - 3_600_000).map(({ event }) => event);
  await producer.send(all.slice(0, 300));
  const { page, session, close } = await pages.open('D');
  await page.goto(`${pages.url}/bench/conversations/${producer.id}`, { waitUntil: 'networkidle' });
  await page.getByText('live', { exact: true }).waitFor();
  const before = await heap(session);
  for (let from = 300; from < all.length; from += 50) {
    await producer.send(all.slice(from, from + 50) as ConversationEvent[]);
    await wait(BATCH_MS / 5);
  }
  await wait(BATCH_MS * 8);
  const after = await heap(session);
  report.figure({ figure: 'workday-heap', value: after.mib - before.mib, unit: 'MiB', n: WORKDAY_EVENTS });
  report.figure({
    figure: 'heap-per-1000-events',
    value: ((after.mib - before.mib) * 1_000) / WORKDAY_EVENTS,
    unit: 'MiB',
    n: WORKDAY_EVENTS,
  });
  report.figure({ figure: 'workday-listeners', value: after.listeners - before.listeners, unit: 'count', n: 1 });
  await close();
}

/** What is left after a collection of garbage. */
async function heap(session: CDPSession): Promise<{ readonly mib: number; readonly listeners: number }> {
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { mib: of('JSHeapUsedSize') / 1024 / 1024, listeners: of('JSEventListeners') };
}
