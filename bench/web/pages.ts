import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from '@slipway/testing';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../tests/e2e/browser.ts';
import { type AppServers, startAppServers } from '../measure/app-server.ts';
import { startProcess, waitForHttp } from '../measure/child-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SERVER = `${ROOT}apps/web/.next/standalone/apps/web/server.js`;

/** The built pages on a port of their own, without app-server before them. */
export interface BuiltPages {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error when they are not built. */
export async function startBuiltPages(): Promise<BuiltPages> {
  if (!existsSync(SERVER)) throw new Error('the pages are not built: npm run build -w @slipway/web');
  const port = await freePort();
  const web = startProcess(
    process.execPath,
    [SERVER],
    { PORT: String(port), METRICS_PORT: '0', HOSTNAME: '127.0.0.1', NODE_ENV: 'production' },
    ROOT,
  );
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitForHttp(`${url}/login`, web);
  } catch (error) {
    await web.stop();
    throw error;
  }
  return { url, stop: () => web.stop() };
}

/** Chromium without a window; `null`: there is none on this computer. */
export async function launchForBench(): Promise<Browser | null> {
  const executablePath = findChromium();
  if (executablePath === null) return null;
  return chromium.launch({
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
      '--enable-precise-memory-info',
    ],
  });
}

/** app-server with its pages, and a browser. */
export interface PagesInBrowser {
  readonly servers: AppServers;
  /** Origin of the pages. */
  readonly url: string;
  readonly browser: Browser;
  /** A signed-in page of a browser that has nothing in its cache. */
  open(profile: Profile): Promise<OpenPage>;
  stop(): Promise<void>;
}

export interface OpenPage {
  readonly page: Page;
  readonly session: CDPSession;
  close(): Promise<void>;
}

/**
 * D: a desk, nothing slowed down. S: a phone with touch, four times slower, on 1.6 Mbit/s with a round trip of 150 ms.
 */
export type Profile = 'D' | 'S';

const SLOW_CPU = 4;
const SLOW_LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };

/** @returns `null` where there is no Chromium. */
export async function startPagesInBrowser(): Promise<PagesInBrowser | null> {
  const browser = await launchForBench();
  if (browser === null) return null;
  const started: Array<() => Promise<unknown>> = [() => browser.close()];
  const stop = async () => {
    for (const each of started.reverse()) await each();
  };
  try {
    const pages = await startBuiltPages();
    started.push(pages.stop);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const servers = await startAppServers(1, {
      WEB_URL: pages.url,
      PUBLIC_URL: url,
      PORT: String(port),
      RATE_READS_PER_MINUTE: '1000000',
      RATE_ORG_MULTIPLE: '1000',
    });
    started.push(servers.stop);
    return {
      servers,
      url,
      browser,
      open: (profile) => openAs(browser, { url, cookie: servers.cookie }, profile),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openAs(
  browser: Browser,
  at: { readonly url: string; readonly cookie: string },
  profile: Profile,
): Promise<OpenPage> {
  const context: BrowserContext = await browser.newContext({
    serviceWorkers: 'block',
    ...(profile === 'D'
      ? { viewport: { width: 1440, height: 900 } }
      : { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }),
  });
  const [name, value] = at.cookie.split('=', 2) as [string, string];
  await context.addCookies([{ name, value, url: at.url }]);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const session = await context.newCDPSession(page);
  if (profile === 'S') {
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU });
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', SLOW_LINE);
  }
  return { page, session, close: () => context.close() };
}
