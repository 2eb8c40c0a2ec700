import { setTimeout as delay } from 'node:timers/promises';
import { SlipwayError } from '@slipway/errors';
import type { Response } from 'playwright-core';
import { line } from './page-text.js';
import type { Tab } from './tab.js';
import { within } from './within.js';

/** Longest way to a page's first words. Milliseconds. */
const NAVIGATE_MS = 30_000;
/** How long its pictures and scripts are waited for after that. Milliseconds. */
const LOAD_MS = 3_000;
/** From a click to what it begins. Milliseconds. */
const BEGIN_MS = 100;
/** Longest wait for a page that an action has begun to go to, in times of the tab's patience. */
const FOLLOW_PATIENCE = 2;

/** Said of an address that is no page. */
export const DOWNLOADED = 'It is a file, which is downloaded.';

const HANGS = 'The page does not answer: its script keeps it busy.';

/**
 * Opens the address. @returns notes for the agent. @throws SlipwayError `browser.page-failed`, `browser.page-hangs`.
 */
export async function goTo(tab: Tab, url: string, signal: AbortSignal): Promise<string> {
  const go = (): Promise<Response | null> =>
    tab.page.goto(url, { waitUntil: 'domcontentloaded', timeout: NAVIGATE_MS });
  return travel(tab, go().catch(again(go)).catch(again(go)), signal);
}

/**
 * Chromium shows its error page a moment after a navigation has failed, and the next one is taken for interrupted by
 * it.
 */
function again(go: () => Promise<Response | null>): (error: unknown) => Promise<Response | null> {
  return (error) => {
    if (error instanceof Error && error.message.includes('is interrupted by another navigation')) return go();
    throw error;
  };
}

/** @returns `null` when there is no earlier page. */
export async function goBack(tab: Tab, signal: AbortSignal): Promise<string | null> {
  const before = tab.page.url();
  const result = await travel(tab, tab.page.goBack({ waitUntil: 'domcontentloaded', timeout: NAVIGATE_MS }), signal);
  return tab.page.url() === before && result === '' ? null : result;
}

async function travel(tab: Tab, way: Promise<Response | null>, signal: AbortSignal): Promise<string> {
  let response: Response | null;
  try {
    response = await whileItAnswers(tab, way, signal);
  } catch (error) {
    if (signal.aborted) {
      void tab
        .session()
        .then((session) => session.send('Page.stopLoading'))
        .catch(() => {});
      throw error;
    }
    const said = error instanceof Error ? error.message : '';
    if (/Download is starting/.test(said)) return DOWNLOADED;
    if (!/Timeout \d+ms exceeded/.test(said))
      throw error instanceof SlipwayError
        ? error
        : new SlipwayError('browser.page-failed', reasonOf(said), { cause: error });
    if (tab.awaitsServer) {
      const session = await tab.session();
      await session.send('Page.stopLoading').catch(() => {});
      throw new SlipwayError(
        'browser.page-failed',
        `The page could not be opened: its server has not answered within ${NAVIGATE_MS / 1000} seconds.`,
      );
    }
    await answers(tab, signal);
    return `It has not come whole within ${NAVIGATE_MS / 1000} seconds; what is there can be read.`;
  }
  await arrived(tab, signal);
  return response === null || response.ok()
    ? ''
    : `The server answered ${response.status()} ${line(response.statusText(), 60)}.`;
}

/**
 * Waits until the page that an action may have begun to go to is there, and has had a moment for its scripts. @throws
 * SlipwayError `browser.page-hangs` when it does not answer then.
 */
export async function settled(tab: Tab, signal: AbortSignal): Promise<void> {
  await delay(BEGIN_MS, undefined, { signal });
  const end = performance.now() + FOLLOW_PATIENCE * tab.patienceMs;
  while (tab.isNavigating && performance.now() < end) await delay(25, undefined, { signal });
  await arrived(tab, signal);
}

async function arrived(tab: Tab, signal: AbortSignal): Promise<void> {
  const loaded = tab.page.waitForLoadState('load', { timeout: LOAD_MS }).catch(() => {});
  await within(loaded, LOAD_MS + 5_000, signal, HANGS);
  if (!tab.page.isClosed()) await answers(tab, signal);
}

/** A page whose script never ends would be waited for in vain: it is asked now and then. */
async function whileItAnswers<T>(tab: Tab, way: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const watch = async (): Promise<never> => {
    for (;;) {
      await delay(tab.patienceMs / 8, undefined, { signal: over.signal });
      await answers(tab, over.signal);
    }
  };
  const hangs = watch();
  hangs.catch(() => {});
  try {
    return await within(Promise.race([way, hangs]), NAVIGATE_MS + 5_000, signal, HANGS);
  } finally {
    over.abort();
    way.catch(() => {});
  }
}

/** @throws SlipwayError `browser.page-hangs`. */
async function answers(tab: Tab, signal: AbortSignal): Promise<void> {
  if (tab.awaitsServer) return;
  const session = await tab.session();
  const asked = session.send('Runtime.evaluate', { expression: '1' }).catch(() => {});
  await within(asked, tab.patienceMs, signal, HANGS).catch((error: unknown) => {
    // It has gone on meanwhile.
    if (signal.aborted || !tab.awaitsServer) throw error;
  });
}

const REASONS: ReadonlyArray<readonly [RegExp, string]> = [
  [/ERR_NAME_NOT_RESOLVED/, 'there is no such host'],
  [/ERR_CONNECTION_REFUSED/, 'nothing listens there'],
  [/ERR_TUNNEL_CONNECTION_FAILED/, 'the host cannot be reached from this sandbox, or not be found'],
  [
    /ERR_INVALID_AUTH_CREDENTIALS|ERR_UNEXPECTED_AUTH/,
    'it asks for a name and a password (HTTP authentication), and takes what is in the address (https://name:password@host) only if that is right',
  ],
  [/ERR_TOO_MANY_REDIRECTS/, 'it redirects without an end'],
  [/ERR_CERT_|ERR_SSL_/, 'its certificate or encryption is not in order'],
  [/ERR_EMPTY_RESPONSE|ERR_CONNECTION_(?:CLOSED|RESET)/, 'the server broke the connection off'],
  [/crashed/i, 'the page crashed'],
];

function reasonOf(said: string): string {
  const [first = ''] = said.split('\n');
  const code = /net::(ERR_\w+)/.exec(said)?.[1];
  const reason = REASONS.find(([test]) => test.test(said))?.[1];
  return `The page could not be opened: ${reason ?? line(first.replace(/^\w+\.\w+: /, ''), 200)}${code === undefined ? '' : ` (${code})`}.`;
}
