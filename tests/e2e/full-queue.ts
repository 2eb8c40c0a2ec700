import type { Page } from 'playwright-core';
import { expectClean } from './browser.ts';

/** A machine that is busy with other tests. Milliseconds. */
const SLOW = { timeout: 60_000 };

/**
 * Who waits for a sandbox reads at which place of how many, and what is full, in the start and in the line that says
 * why nothing moves; and can wait no longer.
 */
export async function waitInAFullQueue(page: Page, address: string): Promise<void> {
  await page.goto(address);
  const full = 'The organization runs 1 of 1 sandbox, which is its limit.';
  const timeline = page.getByRole('log', { name: 'Timeline' });
  await timeline.getByText(`Number 2 of 2 in the queue for a sandbox. ${full}`).waitFor(SLOW);
  await page.getByText(/^Waits for a sandbox, place 2 of 2 in the queue\. Nothing new for /).waitFor(SLOW);
  await timeline.getByRole('link', { name: 'View sandbox usage' }).waitFor();
  await expectClean(page, 'a place in a full queue', 'everyTheme');
  await timeline.getByRole('button', { name: 'Stop waiting' }).press('Enter');
  await page.locator('header').getByText('Paused', { exact: true }).waitFor(SLOW);
}
