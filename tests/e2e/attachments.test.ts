import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type ModelServer, startModelServer } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import type { Browser, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, type Harness, ScriptBook, terminal } from '../stack/script-book.ts';
import { downloadOf, findChromium, launchChromium, openPage, violations } from './browser.ts';

const executable = findChromium();

jest.setTimeout(300_000);

/** A picture of one red dot, as a screenshot on the clipboard. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const LOG = Array.from({ length: 4_000 }, (_, line) => `line ${line} of the log`).join('\n');

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('files of messages, in a browser', () => {
  const book = new ScriptBook();
  const complaints: string[] = [];
  let folder: string;
  let stack: Stack;
  let model: ModelServer;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-attachments-'));
    model = await startModelServer({ script: book.script, apiKey: 'sk-of-the-script' });
    const deployment = {
      id: 'scripted/1',
      provider: 'openai',
      baseUrl: model.url,
      apiKeyEnv: 'SCRIPT_KEY',
      model: 'm',
    };
    await writeFile(
      path.join(folder, 'models.json'),
      JSON.stringify({ models: [{ name: 'gpt-5', deployments: [deployment] }] }),
    );
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_MODELS_FILE: path.join(folder, 'models.json'),
        SCRIPT_KEY: 'sk-of-the-script',
      },
      log: () => {},
      signal: AbortSignal.timeout(120_000),
      without: ['sandbox-gateway'],
    });
    browser = await launchChromium(executable ?? '');
    page = await signIn();
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** A device of the same user. */
  const signIn = async (): Promise<Page> => {
    const device = await openPage(
      await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' }),
      complaints,
    );
    await device.goto(stack.url);
    await device.getByRole('link', { name: /^Sign in/ }).click();
    await device.getByLabel('User name or e-mail').fill('demo');
    await device.getByLabel('Password').fill('demo');
    await device.getByRole('button', { name: 'Sign in' }).click();
    await device.getByRole('textbox', { name: 'Task', exact: true }).waitFor();
    return device;
  };
  const give = async (name: string, harness: Harness) => {
    await page.goto(stack.url);
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(book.write(name, harness));
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
  };
  const box = (of: Page = page) => of.getByRole('textbox', { name: 'Message', exact: true });
  const status = (name: string) => page.locator('header').getByText(name, { exact: true });
  const timeline = () => page.getByRole('log', { name: 'Timeline' });
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

  const chips = () => page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');
  const send = () => page.getByRole('button', { name: /^Send/ });
  const paste = (given: { readonly text?: string; readonly picture?: string }, into = box()) =>
    into.evaluate((element, { text, picture }) => {
      const clipboardData = new DataTransfer();
      if (text !== undefined) clipboardData.setData('text/plain', text);
      if (picture !== undefined) {
        const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
        clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
      }
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, given);
  /** Its upload is over, and the message can be sent. */
  const attached = async (name: string) => {
    const chip = chips().filter({ hasText: name });
    await chip.waitFor();
    await chip.getByRole('progressbar').waitFor({ state: 'detached' });
  };

  it('takes a pasted screenshot and a pasted log to the agent, and shows both with the message', async () => {
    await give('start', [finish('Ready.')]);
    await status('Finished').waitFor({ timeout: 60_000 });
    const seen: string[] = [];
    const message = book.write('look', (request, number) => {
      const text = JSON.stringify(request.body.messages);
      if (number > 1) return finish(`Counted. ${/4000 \d+/.exec(text)?.[0] ?? 'nothing'}`);
      seen.push(text);
      const place = /- (\/\S+\/pasted-text\.txt) /.exec(text)?.[1] ?? '/nowhere';
      return terminal(
        `echo "$(grep -c '' '${place}') $(stat -c %s '${place}')"; cd "$(dirname '${place}')"; git status --short`,
      );
    });
    await box().fill(message);
    await paste({ picture: PNG });
    await attached('image.png');
    await paste({ text: LOG });
    await attached('pasted-text.txt');
    await chips().filter({ hasText: 'pasted-text.txt' }).getByRole('button', { name: 'Paste as text' }).waitFor();
    expect(await box().inputValue()).toBe(message);
    await clean('chips');
    await page.reload();
    await attached('image.png');
    await attached('pasted-text.txt');
    await send().click();
    await timeline().getByText(`Counted. 4000 ${LOG.length}`).waitFor({ timeout: 60_000 });
    expect(seen[0]).toContain(`data:image/png;base64,${PNG}`);
    const files = timeline().getByRole('list', { name: 'Files of this message' });
    await files.getByRole('img', { name: 'Picture image.png' }).waitFor();
    expect(await timeline().getByText('Attached files:').count()).toBe(0);
    expect(await chips().count()).toBe(0);
    await clean('sent-files');
    const log = await downloadOf(page, () => files.getByText('pasted-text.txt').click());
    expect(log).toEqual({ name: 'pasted-text.txt', text: LOG });
  });

  it('takes files with the first message: pasted, dropped and picked, kept over a reload', async () => {
    await page.goto(stack.url);
    const task = page.getByRole('textbox', { name: 'Task', exact: true });
    const start = page.getByRole('button', { name: /^Start/ });
    const seen: string[] = [];
    await task.fill(
      book.write('first', (request, number) => {
        const text = JSON.stringify(request.body.messages);
        if (number > 1) return finish(`Read. ${/dropped and read/.exec(text)?.[0] ?? 'nothing'}`);
        seen.push(text);
        return terminal(`cat '${/- (\/\S+\/dropped\.md) /.exec(text)?.[1] ?? '/nowhere'}'`);
      }),
    );
    await paste({ picture: PNG }, task);
    await attached('image.png');
    await task.evaluate((element) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['dropped and read'], 'dropped.md'));
      element.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    await attached('dropped.md');
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'picked.txt', mimeType: 'text/plain', buffer: Buffer.from('picked') }]);
    await attached('picked.txt');
    await page.getByRole('button', { name: 'Remove picked.txt', exact: true }).click();
    await clean('task-files');
    await page.reload();
    await attached('image.png');
    expect(await chips().count()).toBe(2);
    await start.click();
    await page.waitForURL('**/conversations/**');
    await timeline().getByText('Read. dropped and read').waitFor({ timeout: 60_000 });
    expect(seen[0]).toContain(`data:image/png;base64,${PNG}`);
    const files = timeline().getByRole('list', { name: 'Files of this message' });
    await files.getByRole('img', { name: 'Picture image.png' }).waitFor();
    expect(await chips().count()).toBe(0);
    await page.goto(stack.url);
    await task.waitFor();
    expect(await chips().count()).toBe(0);
  });

  it('says why a task cannot take a file any more, and starts without it', async () => {
    await page.goto(stack.url);
    const task = page.getByRole('textbox', { name: 'Task', exact: true });
    await task.fill(book.write('without', [finish('Ready.')]));
    const uploaded = page.waitForResponse((answer) => answer.url().includes('/attachments?name='));
    await paste({ picture: PNG }, task);
    await attached('image.png');
    const { id } = (await (await uploaded).json()) as { id: string };
    const address = (await uploaded).url().replace(/\?.*$/, `/${id}`);
    expect(await page.evaluate(async (url) => (await fetch(url, { method: 'DELETE' })).status, address)).toBe(204);
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.getByText('An attached file is not there any more').waitFor();
    await clean('task-file-gone');
    await page.getByRole('button', { name: 'Remove image.png', exact: true }).click();
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    await status('Finished').waitFor({ timeout: 60_000 });
  });

  it('takes dropped and picked files, and gives them back', async () => {
    await page.locator('input[type=file]').setInputFiles([
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('one') },
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('another') },
    ]);
    await attached('one.txt');
    await attached('one-2.txt');
    await box().evaluate((element) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['dropped'], 'dropped.md'));
      element.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    await attached('dropped.md');
    for (const name of ['one.txt', 'one-2.txt', 'dropped.md'])
      await page.getByRole('button', { name: `Remove ${name}`, exact: true }).click();
    expect(await chips().count()).toBe(0);
  });

  it('puts a long text into the box after all when it is asked to', async () => {
    await box().fill('before');
    await paste({ text: 'row\n'.repeat(500) });
    await attached('pasted-text.txt');
    await page.getByRole('button', { name: 'Paste as text' }).click();
    expect(await box().inputValue()).toBe(`before\n${'row\n'.repeat(500)}`);
    expect(await chips().count()).toBe(0);
  });

  it('says why an upload failed, and sends it again', async () => {
    await box().fill('with a file');
    let fails = true;
    await page.route('**/attachments?name=*', (route) => (fails ? route.abort('connectionfailed') : route.continue()));
    await paste({ picture: PNG });
    const chip = chips().filter({ hasText: 'image.png' });
    await chip.getByRole('alert').waitFor();
    expect(await send().isDisabled()).toBe(true);
    await clean('failed-upload');
    fails = false;
    await chip.getByRole('button', { name: 'Retry' }).click();
    await chip.getByRole('alert').waitFor({ state: 'detached' });
    await attached('image.png');
    expect(await send().isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove image.png', exact: true }).click();
    await page.unroute('**/attachments?name=*');
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
    expect(await chips().count()).toBe(0);
  });

  it('has seen no error of the page but of the connection that was cut and the file that was gone', () => {
    expect(complaints.filter((complaint) => !/ERR_CONNECTION_FAILED|status of 40[49]/.test(complaint))).toEqual([]);
  });
});
