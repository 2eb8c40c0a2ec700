import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeUnless } from '@slipway/testing/jest';
import type { Page } from 'playwright-core';
import type { Stack } from '../../deploy/local/stack.ts';
import { finish, type Harness, type ScriptBook } from '../stack/script-book.ts';
import { findChromium, violations } from './browser.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';

const executable = findChromium();

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('messages that wait for the agent, in a browser', () => {
  let book: ScriptBook;
  let complaints: string[];
  let stack: Stack;
  let page: Page;
  let own: SignedInStack;

  beforeAll(async () => {
    own = await startSignedInStack({ executable, name: 'queue', without: ['sandbox-gateway'] });
    ({ book, complaints, stack, page } = own);
  });

  afterAll(() => own?.close());

  const give = async (name: string, harness: Harness) => {
    await page.goto(stack.url);
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(book.write(name, harness));
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
  };
  const box = (of: Page = page) => of.getByRole('textbox', { name: 'Message', exact: true });
  const queued = () => page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem');
  const line = (name: string) => queued().filter({ hasText: `[${name}]` });
  const say = async (name: string, harness: Harness) => {
    await box().fill(book.write(name, harness));
    await page.getByRole('button', { name: /^Send/ }).click();
    await line(name).getByText('queued', { exact: true }).waitFor();
  };
  const status = (name: string) => page.locator('header').getByText(name, { exact: true });
  const timeline = () => page.getByRole('log', { name: 'Timeline' });
  /** Works until it is let go. */
  const gated = (message: string) => {
    const gate = Promise.withResolvers<void>();
    return { harness: () => gate.promise.then(() => finish(message)), open: gate.resolve };
  };
  const pictures = process.env['SCREENSHOTS'];
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
        const found = await violations(page, colorScheme === 'light' && 'colours');
        expect({ name, width, colorScheme, found }).toEqual({
          name,
          width,
          colorScheme,
          found: [],
        });
      }
  };

  it('takes in two of three, in the order and words that they have by then', async () => {
    const first = gated('First done.');
    await give('first', first.harness);
    await status('Working').waitFor({ timeout: 60_000 });
    await say('alpha', [finish('Heard alpha.')]);
    await say('beta', [finish('Heard beta.')]);
    await say('gamma', [finish('Heard gamma.')]);
    await line('gamma').getByRole('button', { name: 'Move up' }).click();
    await queued().nth(1).getByText('[gamma]').waitFor();
    await line('gamma').getByRole('button', { name: 'Move up' }).click();
    await queued().nth(0).getByText('[gamma]').waitFor();
    await clean('queue');
    await line('beta').getByRole('button', { name: 'Edit message' }).click();
    await page.getByRole('textbox', { name: 'Queued message' }).fill('[beta] In other words.');
    await clean('queue-edit');
    await page.getByRole('textbox', { name: 'Queued message' }).press('Control+Enter');
    await line('beta').getByText('In other words.').waitFor();
    await line('alpha').getByRole('button', { name: 'Withdraw message' }).click();
    await line('alpha').waitFor({ state: 'detached' });
    first.open();
    await timeline().getByText('Heard beta.').waitFor({ timeout: 60_000 });
    await status('Finished').waitFor();
    const said = await timeline()
      .getByText(/^\[\w+\] /)
      .allInnerTexts();
    expect(said).toEqual(['[first] Please do it.', '[gamma] Please do it.', '[beta] In other words.']);
    expect(await queued().count()).toBe(0);
  });

  it('interrupts the agent for a message that is sent now', async () => {
    const long = gated('Never said.');
    await give('long', long.harness);
    await status('Working').waitFor({ timeout: 60_000 });
    await say('waits', [finish('Heard the other.')]);
    await say('urgent', [finish('Heard the urgent one.')]);
    await line('urgent').getByRole('button', { name: 'Interrupt the agent and send now' }).click();
    await timeline().getByText('Heard the urgent one.').waitFor({ timeout: 60_000 });
    await timeline().getByText('Heard the other.').waitFor({ timeout: 60_000 });
    long.open();
    expect(await timeline().getByText('Never said.').count()).toBe(0);
  });

  it('is written on one device and sent on another', async () => {
    const phone = await own.signIn();
    await phone.goto(page.url());
    const kept = phone.waitForResponse(
      (answer) => answer.url().includes('/drafts/') && answer.request().method() === 'PUT',
    );
    await box(phone).fill(book.write('draft', [finish('Heard the draft.')]));
    expect((await kept).status()).toBe(200);
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value.startsWith('[draft]'));
    await clean('draft');
    const dropped = page.waitForResponse(
      (answer) => answer.url().includes('/drafts/') && answer.request().method() === 'DELETE',
    );
    await page.getByRole('button', { name: /^Send/ }).click();
    expect((await dropped).status()).toBe(204);
    await timeline().getByText('Heard the draft.').waitFor({ timeout: 60_000 });
    await phone.reload();
    await phone.getByText('Heard the draft.').first().waitFor();
    await phone.waitForFunction(() => document.querySelector('textarea')?.value === '');
  });

  it('reads at once why 50 MB cannot be pasted, and keeps what is in the box', async () => {
    await box().fill('kept');
    await box().evaluate((element) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'x'.repeat(50_000_000));
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    await page.getByText('The pasted text is too long').waitFor();
    expect(await box().inputValue()).toBe('kept');
  });

  it('has seen no error of the page', () => {
    expect(complaints).toEqual([]);
  });
});
