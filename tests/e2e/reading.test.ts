import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Page } from 'playwright-core';
import type { Stack } from '../../deploy/local/stack.ts';
import { finish, type Harness, type ScriptBook, terminal } from '../stack/script-book.ts';
import { findChromium } from './browser.ts';
import { findAcrossFolds } from './find-text.ts';
import { lengthenLog } from './long-log.ts';
import { followLinks, goThroughRows, jumpToTurn } from './read-rows.ts';
import { comeBack } from './recap.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';
import { openOnASlowPhone } from './slow-phone.ts';

const executable = findChromium();

/** What the steps of this file share. */
export interface ReadingDesk {
  readonly page: Page;
  /** The address of the conversation with the long log. */
  readonly address: string;
  /** A screenshot for review: `SCREENSHOTS` names the folder. */
  readonly picture: (name: string) => Promise<void>;
  /** The database of the stack, as its owner. */
  readonly database: string;
  /** Errors of the pages so far. */
  readonly complaints: string[];
}

/** Events that the long log has beside those of its start and its task. */
const LONG = 10_098;

jest.setTimeout(400_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a user who reads a long conversation, in a browser', () => {
  let book: ScriptBook;
  let complaints: string[];
  let stack: Stack;
  let page: Page;
  let own: SignedInStack;
  let address = '';
  let broken = false;

  beforeAll(async () => {
    own = await startSignedInStack({
      executable,
      name: 'reading',
      without: ['sandbox-gateway'],
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    ({ book, complaints, stack, page } = own);
  });

  afterAll(() => own?.close());

  const give = async (name: string, harness: Harness): Promise<void> => {
    await page.goto(stack.url);
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(book.write(name, harness));
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
  };

  const pictures = process.env['SCREENSHOTS'];
  const picture = async (name: string): Promise<void> => {
    if (pictures === undefined) return;
    await mkdir(pictures, { recursive: true });
    for (const width of [1440, 390])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: path.join(pictures, `${name}-${width}-${colorScheme}.png`) });
      }
    await page.setViewportSize({ width: 1440, height: 900 });
  };

  const step = (name: string, work: (desk: ReadingDesk) => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work({ page, address, picture, database: stack.ownerUrl, complaints });
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/reading-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };

  step('has a conversation of more than ten thousand events', async () => {
    await give('long', [terminal('echo at-the-very-start'), finish('Ready.')]);
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: 60_000 });
    address = page.url();
    await lengthenLog(stack.ownerUrl, address.split('/').at(-1) ?? '', LONG);
  });

  step('goes from row to row by keys, and hears each by its name', goThroughRows);

  step('jumps to a turn of the whole log by words of its message', jumpToTurn);

  step('opens the link to an event, and reads when there is none', followLinks);

  step('finds text in rows that are folded, and in those that are not loaded', findAcrossFolds);

  step('opens at its end on a slow phone, before its scripts are there, and takes a reply', openOnASlowPhone);

  step('tells who comes back what happened, on whichever device', comeBack);

  step('has seen no error of the page', async () => {
    expect(complaints).toEqual([]);
  });
});
