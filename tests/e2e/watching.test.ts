import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type ModelServer, startModelServer } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, ConsoleMessage, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, type Harness, ScriptBook } from '../stack/script-book.ts';
import { approveStepByStep } from './approve-each.ts';
import { findChromium, launchChromium, openPage } from './browser.ts';
import { outlastAHungServer } from './hung-server.ts';
import { refuseInjectedScripts } from './injected-script.ts';
import { useAPhone, useTheKeys } from './keys-and-phone.ts';
import { sendThroughAnOutage, writeTwoInOrder } from './messages-in-order.ts';
import { useASlowLine } from './slow-line.ts';
import { hearATask } from './spoken.ts';
import { watchACommand, watchASubAgent } from './watch-command.ts';

const executable = findChromium();
const MODEL = 'gpt-5';

/** What the steps of this file share. */
export interface Watching {
  readonly page: Page;
  readonly url: string;
  readonly stack: Stack;
  /** Gives the task of a harness from the page, and is on the conversation's page then. */
  readonly give: (name: string, harness: Harness) => Promise<void>;
  /** Opens another harness in the same conversation. */
  readonly say: (name: string, harness: Harness) => Promise<void>;
  /** Puts another harness into the book. @returns the message that opens it. */
  readonly write: (name: string, harness: Harness) => string;
  readonly status: (name: string) => Locator;
  readonly timeline: () => Locator;
  /** A screenshot for review: `SCREENSHOTS` names the folder. */
  readonly picture: (name: string) => Promise<void>;
}

jest.setTimeout(400_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a user who watches and approves each step, in a browser', () => {
  const book = new ScriptBook();
  const complaints: string[] = [];
  let folder: string;
  let stack: Stack;
  let model: ModelServer;
  let browser: Browser;
  let page: Page;
  let broken = false;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-watching-'));
    model = await startModelServer({ script: book.script, apiKey: 'sk-of-the-script' });
    const models = {
      models: [
        {
          name: MODEL,
          deployments: [
            { id: 'scripted/1', provider: 'openai', baseUrl: model.url, apiKeyEnv: 'SCRIPT_KEY', model: 'm' },
          ],
        },
      ],
    };
    await writeFile(path.join(folder, 'models.json'), JSON.stringify(models));
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
    page = await openPage(
      await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' }),
      complaints,
    );
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const pictures = process.env['SCREENSHOTS'];
  const watching = (): Watching => ({
    page,
    url: stack.url,
    stack,
    give: async (name, harness) => {
      await page.goto(stack.url);
      await page.getByRole('textbox', { name: 'Task', exact: true }).fill(book.write(name, harness));
      await page.getByRole('button', { name: /^Start/ }).click();
      await page.waitForURL('**/conversations/**');
    },
    say: async (name, harness) => {
      await page.getByRole('textbox', { name: 'Message', exact: true }).fill(book.write(name, harness));
      await page.getByRole('button', { name: /^Send/ }).click();
    },
    write: (name, harness) => book.write(name, harness),
    status: (name) => page.locator('header').getByText(name, { exact: true }),
    timeline: () => page.getByRole('log', { name: 'Timeline' }),
    picture: async (name) => {
      if (pictures === undefined) return;
      await mkdir(pictures, { recursive: true });
      for (const width of [1440, 390])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: path.join(pictures, `${name}-${width}-${colorScheme}.png`) });
        }
      await page.setViewportSize({ width: 1440, height: 900 });
    },
  });

  const step = (name: string, work: (watching: Watching) => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work(watching());
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/watching-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };

  step('signs in, after a first visit that leaves no error in the console', async () => {
    const errors: string[] = [];
    const listen = (message: ConsoleMessage) => message.type() === 'error' && errors.push(message.text());
    page.on('console', listen);
    await page.goto(stack.url);
    await page.waitForURL('**/login**');
    await page.getByRole('link', { name: /^Sign in/ }).waitFor();
    expect(errors).toEqual([]);
    page.off('console', listen);
    await page.getByRole('link', { name: /^Sign in/ }).click();
    await page.getByLabel('User name or e-mail').fill('demo');
    await page.getByLabel('Password').fill('demo');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
  });

  step('gives a task', async ({ give, status }) => {
    // In letters from right to left: the title goes with them, on the page and in the list.
    await give('ראשון', [finish('Ready.')]);
    await status('Finished').waitFor({ timeout: 60_000 });
    const direction = (of: Locator) => of.evaluate((element) => getComputedStyle(element).direction);
    expect(await direction(page.getByRole('heading', { level: 1 }))).toBe('rtl');
    const conversation = page.url();
    await page.goto(stack.url);
    await page.getByRole('link', { name: 'All conversations' }).click();
    await page.waitForURL(/\/conversations$/);
    expect(await direction(page.getByRole('link').getByText('[ראשון]'))).toBe('rtl');
    await page.goto(conversation);
  });

  step('sees each action whole before it can be approved, and decides each by itself', approveStepByStep);

  step('hears that it works, asks and is done, and no word of what it writes', hearATask);

  step('reads a whole command and its output while it runs, and after a stop', watchACommand);

  step('reads what the command of a sub-agent prints while it runs, and in its colours afterwards', watchASubAgent);

  step('reports within seconds that the server hangs, and sends a message once it answers again', outlastAHungServer);

  step('has a later message wait for an earlier one that is slow on its way', writeTwoInOrder);
  step('sends a message again by itself while a part of the system does not answer', sendThroughAnOutage);

  step('reads text before any script is there, and a page of ours without a line', useASlowLine);

  step('goes about by keys, in tabs that have the names of their pages', useTheKeys);

  step('finds on a phone what is open, and can press all of it', useAPhone);

  step('has pages in which no script runs that an attacker put there', refuseInjectedScripts);

  step('has seen no error of the page', async () => {
    // One of the steps takes the page's line away, one a part of the system: two of its answers are 503.
    expect(complaints.filter((line) => !/ERR_INTERNET_DISCONNECTED|status of 503 .*\/messages$/.test(line))).toEqual(
      [],
    );
  });
});
