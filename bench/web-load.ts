// Each page opened with an empty cache, on a desk (D) and on a slow phone (S), in Chromium: largest contentful paint,
// layout shift, blocking time, bytes of script.
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { percentile } from './measure/percentile.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type PagesInBrowser, type Profile, startPagesInBrowser } from './web/pages.ts';
import { sampleLog } from './web/sample-log.ts';

const RUNS = quick(5, 1);
const EVENTS = quick(300, 30);
/** After the last request; what shifts or blocks later than that is not the loading of the page. Milliseconds. */
const SETTLE_MS = quick(1_000, 100);

interface Loaded {
  /** Milliseconds. */
  readonly lcp: number;
  readonly cls: number;
  /** What tasks take beyond 50 ms each, after the first paint. Milliseconds. */
  readonly blocking: number;
  /** Over the wire, compressed: named by the page itself; all that was loaded until it was quiet. Bytes. */
  readonly script: number;
  readonly allScript: number;
}

export default async function run(report: Report): Promise<void> {
  const pages = await startPagesInBrowser();
  if (pages === null) return report.note(NEEDS_CHROMIUM);
  try {
    const conversation = await pages.servers.conversation();
    await conversation.send(sampleLog(conversation.id, EVENTS, Date.now() - 3_600_000).map(({ event }) => event));
    const routes: ReadonlyArray<readonly [string, string]> = [
      ['login', '/login'],
      ['desk', '/bench'],
      ['work', '/bench/conversations'],
      ['conversation', `/bench/conversations/${conversation.id}`],
      ['review', `/bench/conversations/${conversation.id}/review`],
      ['admin', '/bench/admin/usage'],
    ];
    for (const [name, path] of routes)
      for (const profile of ['D', 'S'] as const) await measure(report, pages, { name, path, profile });
  } finally {
    await pages.stop();
  }
}

async function measure(
  report: Report,
  pages: PagesInBrowser,
  { name, path, profile }: { name: string; path: string; profile: Profile },
): Promise<void> {
  const loads: Loaded[] = [];
  for (let index = 0; index < RUNS; index += 1) loads.push(await load(pages, path, profile));
  const median = (of: (loaded: Loaded) => number) => percentile(loads.map(of), 0.5);
  const figure = `${name}-${profile}`;
  report.figure({ figure: `${figure}-lcp`, value: median(({ lcp }) => lcp), unit: 'ms', n: RUNS });
  report.figure({ figure: `${figure}-blocking`, value: median(({ blocking }) => blocking), unit: 'ms', n: RUNS });
  report.figure({ figure: `${figure}-shift`, value: Math.max(...loads.map(({ cls }) => cls)), unit: 'x', n: RUNS });
  if (profile === 'S') return;
  report.figure({ figure: `${name}-script`, value: median(({ script }) => script), unit: 'B', n: RUNS });
  report.figure({ figure: `${name}-script-all`, value: median(({ allScript }) => allScript), unit: 'B', n: RUNS });
}

async function load(pages: PagesInBrowser, path: string, profile: Profile): Promise<Loaded> {
  const opened = await pages.open(profile);
  const { page } = opened;
  await page.addInitScript(observe);
  await page.goto(pages.url + path, { waitUntil: 'networkidle' });
  await wait(SETTLE_MS);
  const loaded = await page.evaluate(read);
  const script = await named(page, loaded.scripts);
  await opened.close();
  return { ...loaded, script, allScript: loaded.scripts.reduce((sum, each) => sum + each.bytes, 0) };
}

interface Script {
  readonly url: string;
  readonly bytes: number;
}

/** Bytes of the scripts that the page itself names: what it cannot start without. */
async function named(page: Page, scripts: readonly Script[]): Promise<number> {
  const html = await (await page.request.get(page.url())).text();
  return scripts.filter(({ url }) => html.includes(new URL(url).pathname)).reduce((sum, { bytes }) => sum + bytes, 0);
}

interface Observed {
  lcp: number;
  cls: number;
  blocking: number;
}

/** An entry of the browser's own timeline; of `layout-shift` only, its last two. */
interface Entry {
  readonly startTime: number;
  readonly duration: number;
  readonly value?: number;
  readonly hadRecentInput?: boolean;
}

/** Runs in the page, before its own scripts. */
function observe(): void {
  const observed: Observed = { lcp: 0, cls: 0, blocking: 0 };
  (globalThis as unknown as { observed: Observed }).observed = observed;
  const on = (type: string, take: (entry: Entry) => void) =>
    new PerformanceObserver((list) => (list.getEntries() as unknown as Entry[]).forEach(take)).observe({
      type: type as 'resource',
      buffered: true,
    });
  on('largest-contentful-paint', (entry) => {
    observed.lcp = entry.startTime;
  });
  on('layout-shift', (entry) => {
    if (entry.hadRecentInput !== true) observed.cls += entry.value ?? 0;
  });
  on('longtask', (entry) => {
    observed.blocking += Math.max(0, entry.duration - 50);
  });
}

/** Runs in the page. */
function read(): Observed & { scripts: Script[] } {
  const scripts = (
    performance.getEntriesByType('resource') as unknown as Array<{ name: string; encodedBodySize: number }>
  )
    .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
    .map(({ name, encodedBodySize }) => ({ url: name, bytes: encodedBodySize }));
  return { ...(globalThis as unknown as { observed: Observed }).observed, scripts };
}
