import { type BrowserStorage, beginningOf } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import type { BrowserContext } from 'playwright-core';
import type { Said } from './browser-observation.js';
import { ofPage } from './page-text.js';
import type { Tabs } from './tabs.js';
import { within } from './within.js';

/** Longest work on storage: each site's is read in a page of its own. Milliseconds. */
const STORAGE_MS = 20_000;
/** Most that one answer shows. UTF-16 code units. */
const SHOWN_LENGTH = 25_000;

/** Cookies of all sites and what those visited have stored, as JSON. */
export async function storageOf(context: BrowserContext, signal: AbortSignal): Promise<Said> {
  const state = await within(context.storageState(), STORAGE_MS, signal, 'A page keeps its storage busy.');
  const text = JSON.stringify(state, null, 1);
  const cut =
    text.length > SHOWN_LENGTH ? ` Only the first ${SHOWN_LENGTH} of ${text.length} characters are shown.` : '';
  return {
    text: `${state.cookies.length} cookies, and storage of ${state.origins.length} sites.${cut}`,
    ofPage: ofPage(text.slice(0, SHOWN_LENGTH).toWellFormed()),
  };
}

/**
 * Adds cookies, and what sites find stored; what is there under other names stays. @throws SlipwayError
 * `request.invalid`.
 */
export async function putStorage(
  tabs: Tabs,
  { cookies, origins }: BrowserStorage,
  signal: AbortSignal,
): Promise<string> {
  const put = async (): Promise<void> => {
    await tabs.storage.addCookies(cookies).catch((error: unknown) => {
      const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      throw new SlipwayError(
        'request.invalid',
        `The cookies cannot be set: ${beginningOf(first.replace(/^\w+\.\w+: /, ''), 200)}`,
        { cause: error },
      );
    });
    for (const { origin, localStorage } of origins) await store(tabs, origin, localStorage);
  };
  await within(put(), STORAGE_MS, signal, 'A page keeps its storage busy.');
  return `Set ${cookies.length} cookies, and storage of ${origins.length} sites. Open the page again to use them.`;
}

/** In an empty page of that site, for which nothing is asked of the network. */
async function store(
  tabs: Tabs,
  origin: string,
  items: BrowserStorage['origins'][number]['localStorage'],
): Promise<void> {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== origin.replace(/\/$/, ''))
    throw new SlipwayError(
      'request.invalid',
      `${JSON.stringify(origin.slice(0, 200))} is no origin. Write it as https://example.com.`,
    );
  await tabs.hidden(async (page) => {
    await page.route('**/*', (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '' }));
    await page.goto(url.origin);
    const put = 'items => { for (const { name, value } of items) localStorage.setItem(name, value); }';
    await page.evaluate(`(${put})(${JSON.stringify(items)})`);
  });
}
