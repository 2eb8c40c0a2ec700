// A conversation's page on a line of 50 kB/s, in Chromium with an empty cache: until the first text of the
// conversation, until one can write and it is live, until nothing more comes.
import { SlowLine } from '@slipway/testing';
import type { Browser } from 'playwright-core';
import { startAppServers } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type BuiltPages, launchForBench, startBuiltPages } from './web/pages.ts';
import { LogWriter, sampleLog } from './web/sample-log.ts';

/** Bytes a second, each way. */
const SPEED = 50_000;
const EVENTS = 300;
const RUNS = quick(7, 1);
/** Longest wait for any of it. Milliseconds. */
const PATIENCE_MS = 60_000;
const LAST_WORDS = 'The importer keeps the last row now, and a test says so.';
/** Quiet for so long is what Playwright takes for done. Milliseconds. */
const QUIET_MS = 500;

interface Opened {
  readonly text: number;
  readonly usable: number;
  readonly complete: number;
  readonly bytes: number;
}

export default async function run(report: Report): Promise<void> {
  const browser = await launchForBench();
  if (browser === null) return report.note(NEEDS_CHROMIUM);
  const line = await SlowLine.open(null, SPEED);
  let servers: Awaited<ReturnType<typeof startAppServers>> | undefined;
  let pages: BuiltPages | undefined;
  try {
    pages = await startBuiltPages();
    servers = await startAppServers(1, { WEB_URL: pages.url, PUBLIC_URL: line.url });
    line.pointTo(servers.replicas[0]?.url ?? '');
    const conversation = await servers.conversation();
    const log = sampleLog(conversation.id, EVENTS, Date.now() - 3_600_000);
    new LogWriter(conversation.id, Date.now(), log).message('assistant', LAST_WORDS);
    await conversation.send(log.map(({ event }) => event));
    const address = `${line.url}/bench/conversations/${conversation.id}`;
    const [name, value] = servers.cookie.split('=', 2) as [string, string];
    const opened: Opened[] = [];
    for (let index = 0; index < RUNS; index += 1) opened.push(await open(browser, line, address, { name, value }));
    for (const figure of ['text', 'usable', 'complete'] as const)
      report.figure({
        figure,
        value:
          percentile(
            opened.map((each) => each[figure]),
            0.5,
          ) / 1_000,
        unit: 's',
        n: RUNS,
      });
    report.figure({
      figure: 'bytes',
      value: percentile(
        opened.map(({ bytes }) => bytes),
        0.5,
      ),
      unit: 'B',
      n: RUNS,
    });
  } finally {
    await browser.close();
    await servers?.stop();
    await line.close();
    await pages?.stop();
  }
}

/** Milliseconds from the click on the link. */
async function open(
  browser: Browser,
  line: SlowLine,
  address: string,
  cookie: { name: string; value: string },
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'block' });
  await context.addCookies([{ ...cookie, url: line.url }]);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const before = line.carried;
  const began = performance.now();
  const until = async (there: Promise<unknown>): Promise<number> => {
    await there;
    return performance.now() - began;
  };
  await page.goto(address, { waitUntil: 'commit' });
  const [text, usable, idle] = await Promise.all([
    until(page.getByText(LAST_WORDS).first().waitFor()),
    until(
      Promise.all([
        page.getByLabel('Message', { exact: true }).waitFor(),
        page.getByText('live', { exact: true }).waitFor(),
      ]),
    ),
    until(page.waitForLoadState('networkidle', { timeout: PATIENCE_MS })),
  ]);
  const bytes = line.carried - before;
  await context.close();
  return { text, usable, complete: Math.max(usable, idle - QUIET_MS), bytes };
}
