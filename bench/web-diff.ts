// The review page with 5,000 changed files and 200,000 changed lines, in Chromium: until the list is there, scrolling
// through list and file, opening a file, memory.
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type FakeApp, startFakeApp } from './web/fake-app.ts';
import { type Longest, longestTask } from './web/longest-task.ts';
import { type BuiltPages, launchForBench, startBuiltPages } from './web/pages.ts';
import { sampleConversation } from './web/sample-conversation.ts';
import { LONGEST, OPENED, sampleDiff } from './web/sample-diff.ts';

const MANY = '01930000-0000-7000-8000-000000005000';
const FEW = '01930000-0000-7000-8000-000000000005';
const FILES = quick(5_000, 300);
const LINES = quick(200_000, 60_000);
const STEPS = quick(60, 6);
const OPENS = OPENED.length - 2;
const LOADS = quick(5, 1);
const THREADS = 200;

/** The floor is the same page with 5 files: what is above it is what size costs. */
export default async function run(report: Report): Promise<void> {
  const browser = await launchForBench();
  if (browser === null) return report.note(NEEDS_CHROMIUM);
  let pages: BuiltPages | undefined;
  let fakeApp: FakeApp | undefined;
  try {
    pages = await startBuiltPages();
    const began = Date.now() - 3_600_000;
    fakeApp = await startFakeApp({
      webUrl: pages.url,
      conversations: [
        { ...sampleConversation(MANY, 60, began), files: sampleDiff(FILES, LINES), threads: THREADS },
        { ...sampleConversation(FEW, 60, began), files: sampleDiff(OPENED.length, 0), threads: 2 },
      ],
    });
    // Once unmeasured: the first page of a process also pays for what its server reads and compiles.
    await (await review(browser, fakeApp, FEW)).page.close();
    const few = await measure(browser, fakeApp, FEW);
    const many = await measure(browser, fakeApp, MANY);
    report.note(
      `${FILES} files, ${LINES} lines, ${THREADS} threads; ${many.rows} rows of files and ${many.lines} lines in the page`,
    );
    report.figure({ figure: 'list', value: many.list, unit: 'ms', floor: few.list, n: LOADS });
    report.figure({ figure: 'open-file', value: many.open, unit: 'ms', floor: few.open, n: OPENS });
    const tasks = [
      ['longest-task-load', many.load, few.load, 1],
      ['longest-task-list', many.listScroll, few.listScroll, STEPS],
      ['longest-task-open', many.opening, few.opening, OPENS],
      ['longest-task-file', many.fileScroll, few.fileScroll, STEPS],
      ['longest-task-filter', many.filter, few.filter, 5],
      ['longest-task-comment', many.comment, few.comment, 40],
    ] as const;
    for (const [figure, value, floor, n] of tasks) {
      report.figure({ figure, value: value.wall, unit: 'ms', floor: floor.wall, n });
      report.figure({ figure: `${figure}-cpu`, value: value.cpu, unit: 'ms', floor: floor.cpu, n });
    }
    if (many.longest !== null) {
      report.figure({ figure: 'longest-task-20000-lines', value: many.longest.wall, unit: 'ms', n: 1 });
      report.figure({ figure: 'longest-task-20000-lines-cpu', value: many.longest.cpu, unit: 'ms', n: 1 });
    }
    report.figure({ figure: 'heap', value: many.heap, unit: 'MiB', floor: few.heap, n: 1 });
    report.figure({ figure: 'worker', value: many.workers, unit: 'count', n: 1 });
  } finally {
    await browser.close();
    await fakeApp?.stop();
    await pages?.stop();
  }
}

interface Measured {
  readonly list: number;
  readonly load: Longest;
  readonly listScroll: Longest;
  readonly open: number;
  readonly opening: Longest;
  readonly fileScroll: Longest;
  readonly filter: Longest;
  readonly comment: Longest;
  /** Opening the longest file that is shown whole and scrolling through it; `null` where there is none. */
  readonly longest: Longest | null;
  readonly heap: number;
  readonly rows: number;
  readonly lines: number;
  readonly workers: number;
}

async function review(
  browser: Browser,
  fakeApp: FakeApp,
  id: string,
): Promise<{ page: Page; list: number; load: Longest }> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${fakeApp.url}/login`);
  let list = 0;
  const load = await longestTask(browser, page, async () => {
    const start = performance.now();
    await page.goto(`${fakeApp.url}/demo/conversations/${id}/review`);
    await rowsOf(page).first().waitFor();
    list = performance.now() - start;
    await linesOf(page).first().waitFor();
  });
  return { page, list, load };
}

async function measure(browser: Browser, fakeApp: FakeApp, id: string): Promise<Measured> {
  const loads: number[] = [];
  let latest = await review(browser, fakeApp, id);
  for (loads.push(latest.list); loads.length < LOADS; loads.push(latest.list)) {
    await latest.page.close();
    latest = await review(browser, fakeApp, id);
  }
  const { page, load } = latest;
  const list = median(loads);
  const listScroll = await longestTask(browser, page, () => scroll(page, 'nav[aria-label="Changed files"]'));

  const filter = page.getByRole('searchbox');
  await filter.fill('src/api/opened');
  await rowsOf(page).nth(1).waitFor();
  await opened(page, OPENED.at(-1)?.path ?? '');
  const times: number[] = [];
  const opening = await longestTask(browser, page, async () => {
    for (const { path } of OPENED.slice(1, -1)) {
      times.push(await opened(page, path));
      await wait(500);
    }
  });
  const fileScroll = await longestTask(browser, page, () => scroll(page, 'article'));
  const filtering = await longestTask(browser, page, () => filter.pressSequentially('*.sql', { delay: 30 }));
  const path = OPENED[0]?.path ?? '';
  await filter.fill(path);
  await rowsOf(page).getByText(path).waitFor();
  await opened(page, path);
  await page.getByRole('heading', { name: path }).click();
  await page.keyboard.press('m');
  const box = page.locator('article textarea').first();
  await box.waitFor();
  const comment = await longestTask(browser, page, () =>
    box.pressSequentially('a comment typed beside many threads, 40 k', { delay: 20 }),
  );
  const rows = await rowsOf(page).count();
  const lines = await linesOf(page).count();
  let longest: Longest | null = null;
  await filter.fill(LONGEST.path);
  await wait(400);
  if ((await rowsOf(page).count()) > 0)
    longest = await longestTask(browser, page, async () => {
      await opened(page, LONGEST.path);
      await scroll(page, 'article');
    });
  const heap = await heapOf(await page.context().newCDPSession(page));
  const workers = page.workers().length;
  await page.close();
  const open = median(times);
  return {
    list,
    load,
    listScroll,
    open,
    opening,
    fileScroll,
    filter: filtering,
    comment,
    longest,
    heap,
    rows,
    lines,
    workers,
  };
}

/** Presses a file in the list. Milliseconds until its first changed line is there, measured in the page. */
async function opened(page: Page, path: string): Promise<number> {
  const handle = await page.evaluateHandle((wanted) => {
    const row = [...document.querySelectorAll<HTMLButtonElement>('nav li button')].find((each) =>
      each.textContent?.includes(wanted),
    );
    const start = performance.now();
    const shown = new Promise<number>((resolve) => {
      const look = () => {
        const article = document.querySelector('article');
        const isThere =
          article?.getAttribute('aria-label') === wanted &&
          article.querySelector('diffs-container')?.shadowRoot?.querySelector('[data-line-type="change-addition"]');
        if (isThere) resolve(performance.now() - start);
        else requestAnimationFrame(look);
      };
      look();
    });
    row?.click();
    return { shown };
  }, path);
  return handle.evaluate(({ shown }) => shown);
}

async function scroll(page: Page, where: string): Promise<void> {
  await page.locator(where).hover();
  for (let step = 0; step < STEPS; step += 1) {
    await page.mouse.wheel(0, step % 10 === 9 ? 20_000 : 700);
    await wait(40);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const rowsOf = (page: Page) => page.locator('nav li button');
const linesOf = (page: Page) => page.locator('article [data-line-type="change-addition"]');

/** After a collection, MiB. */
async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 2 ** 20;
}
