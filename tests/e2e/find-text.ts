import { expectClean } from './browser.ts';
import type { ReadingDesk } from './reading.test.ts';

/** Finds what is in folded rows and in those that are not loaded, by the page's own bar. */
export async function findAcrossFolds({ page, address, picture }: ReadingDesk): Promise<void> {
  await page.goto(address);
  const timeline = page.getByRole('log', { name: 'Timeline' });
  await timeline.getByRole('article').last().waitFor();
  await page.keyboard.press('Control+f');
  const field = page.getByRole('textbox', { name: 'Find in the conversation' });
  // In an edit that stands folded with two others in the newest turn.
  await field.fill('needle-102-47');
  await page.getByRole('search').getByText('1 found').waitFor();
  await field.press('Enter');
  await page.getByRole('search').getByText('1 of 1').waitFor();
  await timeline.getByText('needle-102-47').first().waitFor();
  // In the second turn of a hundred: only the server can know.
  await field.fill('needle-2-4');
  await page.getByRole('search').getByText('6 found').waitFor({ timeout: 20_000 });
  await field.press('Enter');
  await page.getByRole('search').getByText('6 of 6').waitFor();
  await field.press('Enter');
  await page.getByRole('search').getByText('1 of 6').waitFor();
  await timeline.getByText('needle-2-4', { exact: true }).first().waitFor({ timeout: 30_000 });
  await picture('find');
  await expectClean(page, 'find in a conversation', 'everyTheme');
  await field.fill('stands-nowhere');
  await page.getByRole('search').getByText('No match').waitFor();
  await field.press('Escape');
  await field.waitFor({ state: 'detached' });
}
