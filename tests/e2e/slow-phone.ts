import { stopwatch, until } from '@slipway/testing';
import { expect } from 'expect';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectClean, openPage } from './browser.ts';
import type { ReadingDesk } from './reading.test.ts';

/** The newest row of the long log. */
const NEWEST = './check part-102 49';
const REPLY = 'Typed before anything else has come.';
/** Of a page that is slow. Milliseconds. */
const SLOW_MS = 60_000;
/** Until one can type, on the second visit: many times what an idle machine takes. Milliseconds. */
const SOON_MS = 10_000;
/** Most rows of ten thousand events that are in the page. */
const MOST_ROWS = 120;

/** A long conversation opens at its end on a slow phone, with a line for its newest events alone, and takes a reply. */
export async function openOnASlowPhone({ page, address, complaints }: ReadingDesk): Promise<void> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('the page has no browser');
  const phone = await phoneOf(browser, page.context());
  try {
    const scripts = Promise.withResolvers<void>();
    await phone.route(/\/_next\/static\/.*\.js$/, (route) => scripts.promise.then(() => route.continue()));
    const read: string[] = [];
    const other = await slowPage(phone, complaints);
    other.on('request', (request) => {
      if (/\/events\b/.test(request.url())) read.push(request.url());
    });
    await other.goto(address, { waitUntil: 'commit' });
    // Before any script is there.
    const early = other.getByRole('region', { name: 'End of the conversation' }).getByText(NEWEST);
    await early.waitFor({ timeout: SLOW_MS });
    expect(await isInSight(other, NEWEST)).toBe(true);
    scripts.resolve();
    const box = other.getByRole('textbox', { name: 'Message', exact: true });
    await box.fill(REPLY, { timeout: SLOW_MS });
    // A phone has no room for the word.
    await other.getByText('live', { exact: true }).first().waitFor({ state: 'attached', timeout: SLOW_MS });
    expect(await box.inputValue()).toBe(REPLY);
    await until('the newest row is in sight', () => isInSight(other, NEWEST), SLOW_MS);
    expect(await other.getByRole('article').count()).toBeLessThan(MOST_ROWS);
    expect(read.length).toBeLessThanOrEqual(2);
    await box.fill('');
    await expectClean(other, 'a long conversation on a phone');
  } finally {
    await phone.close();
  }

  // The second visit: what the page is made of is on the phone.
  const again = await phoneOf(browser, page.context());
  try {
    const other = await slowPage(again, complaints);
    await other.goto(address);
    await other.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    const box = other.getByRole('textbox', { name: 'Message', exact: true });
    await box.waitFor({ timeout: SLOW_MS });
    const passed = stopwatch();
    await other.reload({ waitUntil: 'commit' });
    await box.fill(REPLY, { timeout: SLOW_MS });
    const tookMs = passed();
    console.log(`a conversation of 10,000 events takes a letter on a slow phone after ${tookMs.toFixed(0)} ms`);
    expect(tookMs).toBeLessThan(SOON_MS);
    await until('the newest row is in sight', () => isInSight(other, NEWEST), SLOW_MS);
    expect(await box.inputValue()).toBe(REPLY);
    await box.fill('');
  } finally {
    await again.close();
  }
}

async function phoneOf(browser: Browser, desk: BrowserContext): Promise<BrowserContext> {
  return browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    reducedMotion: 'reduce',
    storageState: await desk.storageState(),
  });
}

/** Four times slower, 1.6 Mbit/s down, a round trip of 150 ms. */
async function slowPage(phone: BrowserContext, complaints: string[]): Promise<Page> {
  const page = await openPage(phone, complaints);
  const session = await phone.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: 200_000,
    uploadThroughput: 93_750,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  return page;
}

/** Whether the last place of the text is on the screen. */
function isInSight(page: Page, text: string): Promise<boolean> {
  return page
    .getByText(text)
    .last()
    .evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
}
