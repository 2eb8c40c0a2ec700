// A conversation's page on a line of 50 kB/s, in Chromium with an empty cache: until the first text of the
// conversation, until one can write and it is live, until nothing more comes.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort, SlowLine } from '@slipway/testing';
import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../tests/e2e/browser.ts';
import { startAppServers } from './measure/app-server.ts';
import { startProcess, waitForHttp } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { LogWriter, sampleLog } from './web/sample-log.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SERVER = `${ROOT}apps/web/.next/standalone/apps/web/server.js`;
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
  const line = await SlowLine.open(null, SPEED);
  let servers: Awaited<ReturnType<typeof startAppServers>> | undefined;
  let browser: Browser | undefined;
  try {
    await waitForHttp(`http://127.0.0.1:${port}/login`, web);
    servers = await startAppServers(1, { WEB_URL: `http://127.0.0.1:${port}`, PUBLIC_URL: line.url });
    line.pointTo(servers.replicas[0]?.url ?? '');
    const conversation = await servers.conversation();
    const log = sampleLog(conversation.id, EVENTS, Date.now() - 3_600_000);
    new LogWriter(conversation.id, Date.now(), log).message('assistant', LAST_WORDS);
    await conversation.send(log.map(({ event }) => event));
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
    await browser?.close();
    await servers?.stop();
    await line.close();
    await web.stop();
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
