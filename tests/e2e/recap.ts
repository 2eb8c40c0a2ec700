import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Page } from 'playwright-core';
import { expectClean, openPage } from './browser.ts';
import { lengthenLog } from './long-log.ts';
import type { ReadingDesk } from './reading.test.ts';

/** Events that came meanwhile: a turn of 49 calls. */
const CAME = 99;

/** Key of the row that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.closest('article')?.getAttribute('data-row') ?? '');

/** Waits until the mark of the user is at the end of the log. */
async function waitUntilSeen(page: Page, address: string): Promise<void> {
  const [, org, , conversation] = new URL(address).pathname.split('/');
  await until(
    'the mark is at the end of the log',
    () =>
      page.evaluate(async (path) => {
        const { head, readSeq } = (await (await fetch(path)).json()) as { head: number; readSeq: number };
        return head === readSeq;
      }, `/api/v1/orgs/${org}/conversations/${conversation}`),
    20_000,
  );
}

/**
 * Who looked, went and comes back reads in one line what came meanwhile, and walks over exactly those rows; what was
 * seen on one device is not new on another.
 */
export async function comeBack({ page, address, picture, database, complaints }: ReadingDesk): Promise<void> {
  const recap = page.getByRole('region', { name: 'Since you looked' });
  await page.goto(address);
  await waitUntilSeen(page, address);
  await page.goto('about:blank');
  await lengthenLog(database, address.split('/').at(-1) ?? '', CAME);
  await page.goto(address);
  await recap.getByText(/^Since you looked, .*: 49 steps, 1 file edited, 1 failure\.$/).waitFor();
  await picture('recap');
  await expectClean(page, 'a recap', 'everyTheme');

  await recap.getByRole('button', { name: 'Catch up' }).click();
  await recap.getByText('1 of 49').waitFor();
  const rows = [await until('a row has the focus', async () => (await focused(page)) || undefined)];
  // Seven runs of edits are one row each, 28 commands another one each.
  for (;;) {
    await page.keyboard.press('n');
    const at = await until('another row has the focus, or there is none', async () => {
      if ((await recap.count()) === 0) return 'end';
      const key = await focused(page);
      return key !== '' && key !== rows.at(-1) ? key : undefined;
    });
    if (at === 'end') break;
    rows.push(at);
  }
  expect(rows).toHaveLength(28 + 7);
  expect(new Set(rows).size).toBe(rows.length);
  // The last steps of the walk scroll nothing, and the list is at its end all the same.
  await page.getByRole('button', { name: /^(Newest|\d+ new)$/ }).waitFor({ state: 'detached' });
  await waitUntilSeen(page, address);

  // On another device of the same user nothing is new any more.
  const storageState = await page.context().storageState();
  const browser = page.context().browser();
  if (browser === null) throw new Error('the page has no browser');
  const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, storageState });
  try {
    const other = await openPage(phone, complaints);
    await other.goto(address);
    await other.getByRole('log', { name: 'Timeline' }).getByRole('article').last().waitFor();
    await waitUntilSeen(other, address);
    expect(await other.getByRole('region', { name: 'Since you looked' }).count()).toBe(0);
  } finally {
    await phone.close();
  }
}
