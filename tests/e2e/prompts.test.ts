import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeUnless } from '@slipway/testing/jest';
import type { Page } from 'playwright-core';
import { finish } from '../stack/script-book.ts';
import { findChromium, violations } from './browser.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';

const executable = findChromium();

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('saved prompts, in a browser', () => {
  let all: SignedInStack;
  let page: Page;
  let home: string;

  beforeAll(async () => {
    all = await startSignedInStack({ executable, name: 'prompts', without: ['sandbox-gateway'] });
    page = all.page;
    home = page.url().replace(/#.*$/, '').replace(/\/$/, '');
  });
  afterAll(() => all?.close());

  const task = () => page.getByRole('textbox', { name: 'Task', exact: true });
  const message = () => page.getByRole('textbox', { name: 'Message', exact: true });
  const list = () => page.getByRole('listbox', { name: 'Prompts' });
  const lines = () => list().getByRole('option');
  /** What is offered was found for the letters that are typed: the keys take it. */
  const offered = (name: string) => list().and(page.locator('[aria-busy="false"]')).getByText(name).waitFor();
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  const selected = (box: ReturnType<typeof task>) =>
    box.evaluate((element: HTMLTextAreaElement) => element.value.slice(element.selectionStart, element.selectionEnd));
  const pictures = process.env['SCREENSHOTS'];
  /** Nothing is wider than the screen and axe finds nothing, on a phone and a desk, dark and light. */
  const clean = async (name: string) => {
    for (const width of [390, 1440])
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        if (pictures !== undefined) {
          await mkdir(pictures, { recursive: true });
          await page.screenshot({ path: path.join(pictures, `${name}-${width}-${colorScheme}.png`) });
        }
        const where = { name, width, colorScheme };
        expect({ ...where, found: await violations(page) }).toEqual({ ...where, found: [] });
      }
  };
  const save = async (prompt: { name: string; description: string; text: string; shared?: boolean }) => {
    await page.getByRole('button', { name: 'New prompt' }).click();
    const dialog = page.getByRole('dialog', { name: 'New prompt' });
    await dialog.getByLabel('Name').fill(prompt.name);
    await dialog.getByLabel('Description').fill(prompt.description);
    await dialog.getByLabel('Text').fill(prompt.text);
    if (prompt.shared === true) await dialog.getByLabel('Available to').selectOption('org');
    await dialog.getByRole('button', { name: 'Save prompt' }).click();
    return dialog;
  };

  it('are saved, changed and deleted on a page of their own', async () => {
    await page.goto(`${home}/prompts`);
    await page.getByText('No prompts yet').waitFor();
    await clean('prompts-empty');
    await save({
      name: 'fix-flaky',
      description: 'Finds out why a test is flaky',
      text: 'Find out why {{test}} is flaky.\n\nMend it in {{branch}}, and say what it was.',
      shared: true,
    });
    await row('/fix-flaky').getByText('Organization').waitFor();
    await (await save({ name: 'review', description: '', text: 'Review the last change.' })).waitFor({
      state: 'detached',
    });
    const taken = await save({ name: 'review', description: 'again', text: 'x' });
    await taken.getByText('There is a prompt review already.').waitFor();
    expect(await taken.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await clean('prompts-taken');
    await taken.getByRole('button', { name: 'Cancel' }).click();
    await clean('prompts-list');

    await row('/review').getByRole('button', { name: 'Actions of /review' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit /review' });
    await edit.getByLabel('Description').fill('Of the last change');
    await edit.getByRole('button', { name: 'Save' }).click();
    await row('/review').getByText('Of the last change').waitFor();

    await save({ name: 'passing', description: '', text: 'x' });
    await row('/passing').getByRole('button', { name: 'Actions of /passing' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog', { name: 'Delete /passing?' }).getByRole('button', { name: 'Delete' }).click();
    await row('/passing').waitFor({ state: 'detached' });

    await page.getByRole('searchbox', { name: 'Search prompts' }).fill('flaky');
    await row('/review').waitFor({ state: 'detached' });
    await row('/fix-flaky').waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('flaky');
  });

  it('are put into a task by / and a name, with their fields filled in one after the other', async () => {
    await page.goto(home);
    await task().click();
    await page.keyboard.type('/');
    await offered('/review');
    expect(await lines().allInnerTexts()).toEqual([
      expect.stringContaining('/fix-flaky'),
      expect.stringContaining('/review'),
    ]);
    await clean('picker-task');
    await page.keyboard.type('fix');
    await lines().filter({ hasText: '/review' }).waitFor({ state: 'detached' });
    await offered('/fix-flaky');
    await page.keyboard.press('Enter');
    expect(await task().inputValue()).toBe(
      'Find out why {{test}} is flaky.\n\nMend it in {{branch}}, and say what it was.',
    );
    expect(await selected(task())).toBe('{{test}}');
    await page.keyboard.type('login.test.ts');
    await page.keyboard.press('Tab');
    expect(await selected(task())).toBe('{{branch}}');
    await page.keyboard.type('main');
    expect(await task().inputValue()).toBe(
      'Find out why login.test.ts is flaky.\n\nMend it in main, and say what it was.',
    );
    expect(await task().evaluate((element) => document.activeElement === element)).toBe(true);
    await page.keyboard.press('Tab');
    expect(await task().evaluate((element) => document.activeElement === element)).toBe(false);
  });

  it('leave with one undo of the browser, and leave a path and an unknown word alone', async () => {
    await task().fill('');
    await task().click();
    await page.keyboard.type('/rev');
    await offered('/review');
    await lines().filter({ hasText: '/review' }).click();
    expect(await task().inputValue()).toBe('Review the last change.');
    await page.keyboard.press('Control+z');
    expect(await task().inputValue()).toBe('/rev');
    await task().fill('');
    await page.keyboard.type('/etc/hosts');
    await page.keyboard.press('Enter');
    await page.keyboard.type('/nothing-like-it');
    await list().waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    expect(await task().inputValue()).toBe('/etc/hosts\n/nothing-like-it\n');
  });

  it('are put into a message at the start of any line, and Escape closes the list', async () => {
    await task().fill(all.book.write('start', [finish('Ready.')]));
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    await message().waitFor();
    await message().click();
    await page.keyboard.type('Please:\n/');
    await offered('/review');
    await clean('picker-message');
    await page.keyboard.press('Escape');
    await list().waitFor({ state: 'detached' });
    expect(await message().inputValue()).toBe('Please:\n/');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('/');
    await offered('/review');
    await page.keyboard.press('ArrowDown');
    expect(await lines().nth(1).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Tab');
    expect(await message().inputValue()).toBe('Please:\nReview the last change.');
    expect(all.complaints).toEqual([]);
  });
});
