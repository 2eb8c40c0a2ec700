import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type ModelServer, startModelServer } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, type Harness, ScriptBook, terminal } from '../stack/script-book.ts';
import { findChromium, launchChromium, openPage } from './browser.ts';
import { findAcrossFolds } from './find-text.ts';
import { lengthenLog } from './long-log.ts';
import { followLinks, goThroughRows, jumpToTurn } from './read-rows.ts';
import { comeBack } from './recap.ts';

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
  const book = new ScriptBook();
  const complaints: string[] = [];
  let folder: string;
  let stack: Stack;
  let model: ModelServer;
  let browser: Browser;
  let page: Page;
  let address = '';
  let broken = false;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-reading-'));
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
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    page = await openPage(context, complaints);
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

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
    await page.goto(stack.url);
    await page.getByRole('link', { name: /^Sign in/ }).click();
    await page.getByLabel('User name or e-mail').fill('demo');
    await page.getByLabel('Password').fill('demo');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
    await give('long', [terminal('echo at-the-very-start'), finish('Ready.')]);
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: 60_000 });
    address = page.url();
    await lengthenLog(stack.ownerUrl, address.split('/').at(-1) ?? '', LONG);
  });

  step('goes from row to row by keys, and hears each by its name', goThroughRows);

  step('jumps to a turn of the whole log by words of its message', jumpToTurn);

  step('opens the link to an event, and reads when there is none', followLinks);

  step('finds text in rows that are folded, and in those that are not loaded', findAcrossFolds);

  step('tells who comes back what happened, on whichever device', comeBack);

  step('has seen no error of the page', async () => {
    expect(complaints).toEqual([]);
  });
});
