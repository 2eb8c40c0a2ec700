import { expect } from 'expect';
import { finish } from '../stack/script-book.ts';
import { expectClean, violations } from './browser.ts';
import type { Watching } from './watching.test.ts';

const WORDS = 'These words are read before any script is there.';

/** The page before any script is there, as on a slow line, and then without any line at all. */
export async function useASlowLine({ page, picture, say, timeline }: Watching): Promise<void> {
  await say('early', [finish(WORDS)]);
  await timeline().getByText(WORDS).waitFor({ timeout: 60_000 });
  const title = await page.getByRole('heading', { level: 1 }).textContent();
  const address = page.url();
  const browser = page.context().browser();
  const context = await browser?.newContext({
    storageState: await page.context().storageState(),
    reducedMotion: 'reduce',
  });
  if (context === undefined) throw new Error('the browser is gone');
  try {
    await context.route(/\/_next\/static\/.*\.js$/, (route) => route.abort());
    const early = await context.newPage();
    await early.goto(address);
    await early.getByText('Conversations', { exact: true }).first().waitFor();
    await early.getByText('Loading…').waitFor();
    await early.getByText(WORDS).waitFor();
    await early.getByRole('heading', { level: 1, name: title ?? '' }).waitFor();
    expect(await early.title()).toBe(`${title} · Slipway`);
    await expectClean(early, 'a conversation before its scripts', 'everyTheme');
    const paint = await early.evaluate(() => performance.getEntriesByName('first-contentful-paint').length);
    expect(paint).toBe(1);
  } finally {
    await context.close();
  }
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.context().setOffline(true);
  const own = await page.context().newPage();
  try {
    await own.goto(new URL('/settings/profile', address).href);
    await own.getByRole('heading', { name: 'Slipway cannot be reached' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await own.emulateMedia({ colorScheme });
      expect(await violations(own, colorScheme === 'dark' && 'colours')).toEqual([]);
    }
    await page.context().setOffline(false);
    await own
      .getByRole('link', { name: 'Try again' })
      .click({ timeout: 3_000 })
      .catch(() => {});
    await own.getByRole('heading', { name: 'Profile' }).first().waitFor({ timeout: 20_000 });
  } finally {
    await page.context().setOffline(false);
    await own.close();
  }
  await picture('after-the-line-came-back');
}
