// One event (and 100 deltas of streamed text) appended to an open conversation of 10,000 events, in Chromium: the
// longest task of the main thread.
import { setTimeout as wait } from 'node:timers/promises';
import type { LoggedEvent } from '@slipway/contracts/events';
import { type Browser, type Page } from 'playwright-core';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type FakeApp, startFakeApp } from './web/fake-app.ts';
import { type Longest, longestTask } from './web/longest-task.ts';
import { type BuiltPages, launchForBench, startBuiltPages } from './web/pages.ts';
import { sampleConversation } from './web/sample-conversation.ts';
import { LogWriter } from './web/sample-log.ts';

const LONG = '01930000-0000-7000-8000-000000010000';
const SHORT = '01930000-0000-7000-8000-000000000050';
const EVENTS = quick(10_000, 300);
const APPENDED = quick(60, 8);
const DELTAS = quick(100, 10);

/** The floor is the same page with 50 events: what is above it is what length costs. */
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
      conversations: [sampleConversation(LONG, EVENTS, began), sampleConversation(SHORT, 50, began)],
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
    await browser.close();
    await fakeApp?.stop();
    await pages?.stop();
  }
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

function renumbered(logged: LoggedEvent, seq: number): LoggedEvent {
  const text = JSON.stringify({ ...logged, seq });
  // Ids are made of a counter: moved up, they stay apart from those of the log and observations still name their
  // actions.
  return JSON.parse(text.replaceAll('00000000-0000-4000-8000-', '00000000-0000-4000-9000-')) as LoggedEvent;
}
