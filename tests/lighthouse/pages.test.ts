import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { freePort, type ModelServer, startModelServer } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { findChromium } from '../e2e/browser.ts';
import { finish, ScriptBook, terminal } from '../stack/script-book.ts';
import { type Judged, lighthouse } from './lighthouse.ts';

const executable = findChromium();
/** Of a page without any text in sight Lighthouse says nothing. */
const SLOW_MS = 60_000;

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('Lighthouse', () => {
  const book = new ScriptBook();
  let folder: string;
  let model: ModelServer;
  let stack: Stack;
  let browser: BrowserContext;
  let judge: Awaited<ReturnType<typeof lighthouse>>;
  let conversation: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-lighthouse-'));
    model = await startModelServer({ script: book.script });
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_BASE_URL: model.url,
        LLM_API_KEY: 'sk-of-a-test-0123456789',
        LLM_MODEL: 'scripted',
      },
      log: () => {},
      signal: AbortSignal.timeout(120_000),
      without: ['sandbox-gateway'],
    });
    const port = await freePort();
    // Its own first context, since that is where Lighthouse opens its pages.
    browser = await chromium.launchPersistentContext(path.join(folder, 'profile'), {
      executablePath: executable ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', `--remote-debugging-port=${port}`],
    });
    judge = await lighthouse(port);
    conversation = await giveTask(await browser.newPage());
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Signs in and gives a task. @returns the address of its finished conversation. */
  async function giveTask(page: Page): Promise<string> {
    await page.goto(stack.url);
    await page.getByRole('link', { name: /^Sign in/ }).click();
    await page.getByLabel('User name or e-mail').fill('demo');
    await page.getByLabel('Password').fill('demo');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const task = page.getByRole('textbox', { name: 'Task', exact: true });
    await task.fill(book.write('judged', [terminal('echo "export const one = 1;" > one.ts'), finish('Is written.')]));
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    await page.getByText('Is written.').first().waitFor({ timeout: SLOW_MS });
    const address = page.url();
    await page.close();
    return address;
  }

  const PAGES: Readonly<Record<string, (of: string, home: string) => string>> = {
    'sign-in': (of) => new URL('/login', of).href,
    Desk: (_, home) => home,
    Work: (_, home) => `${home}/conversations`,
    conversation: (of) => of,
    review: (of) => `${of}/review`,
    members: (_, home) => `${home}/admin/members`,
    usage: (_, home) => `${home}/admin/usage`,
  };

  for (const [name, address] of Object.entries(PAGES))
    it(`finds nothing inaccessible and no bad practice on the page: ${name}`, async () => {
      if (typeof judge !== 'function') return skipTest(judge.missing);
      const url = address(conversation, conversation.slice(0, conversation.indexOf('/conversations/')));
      const { scores, faults }: Judged = await judge(url);
      console.log(`${name}: ${JSON.stringify(scores)} ${faults.join('; ')}`);
      expect({ faults, accessibility: scores['accessibility'] }).toEqual({
        faults: expect.any(Array),
        accessibility: 1,
      });
      expect(scores['best-practices']).toBeGreaterThanOrEqual(0.96);
    });
});
