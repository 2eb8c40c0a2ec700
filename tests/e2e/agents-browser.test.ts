import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type ModelServer, startModelServer, textOfMessage, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import type { Browser, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { findChromium, launchChromium, openPage, violations } from './browser.ts';

const executable = findChromium();
/** A busy machine is slow, but not longer than this. Milliseconds. */
const PATIENCE_MS = 60_000;
/** Where its button is on the page. CSS pixels. */
const BUTTON = { x: 200, y: 150 };
const SHOP = `<title>Shop</title><body style="margin:0;font:16px sans-serif">
  <button style="position:fixed;left:100px;top:100px;width:200px;height:100px" onclick="document.title='Signed in';document.body.append('Welcome, person');console.error('no banner')">I am a person</button>`;

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('the agent’s browser, beside the conversation', () => {
  let folder: string;
  let shop: Server;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const handedBack = Promise.withResolvers<void>();
  /** What the model has read in its last request. */
  let lastRead = '';

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-view-'));
    shop = createServer(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(SHOP),
    ).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
    model = await startModelServer({
      script: async ({ body: { messages = [] } }) => {
        lastRead = messages.map(textOfMessage).join('\n');
        const answers = messages.filter(({ role }) => role === 'assistant').length;
        if (answers === 0) return { toolCalls: [{ name: 'browser_navigate', arguments: { url } }] };
        if (answers > 1) return { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] };
        await handedBack.promise;
        return { toolCalls: [{ name: 'browser_get_state', arguments: {} }] };
      },
    });
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
    });
    browser = await launchChromium(executable ?? '');
    page = await openPage(
      await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' }),
      complaints,
    );
    page.setDefaultTimeout(PATIENCE_MS);
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    shop?.closeAllConnections();
    shop?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const picture = (title: string) => page.getByRole('img', { name: `View of the page ${title}` });
  const axeClean = async (where: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await violations(page, colorScheme === 'dark' && 'colours');
      expect({ where, colorScheme, violations: found }).toEqual({
        where,
        colorScheme,
        violations: [],
      });
    }
  };

  it('is seen by the user, taken, used and handed back with a note, which the agent reads with what the user did', async () => {
    try {
      await page.goto(stack.url);
      await page
        .getByRole('link', { name: 'Sign in' })
        .or(page.getByRole('button', { name: 'Sign in' }))
        .first()
        .click();
      await page.getByLabel('User name or e-mail').fill('demo');
      await page.getByLabel('Password').fill('demo');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('textbox', { name: 'Task', exact: true }).fill('Buy a chair');
      await page.getByRole('button', { name: /^Start/ }).click();
      await page.waitForURL('**/conversations/**');
      await page.getByRole('tab', { name: 'Browser' }).click();

      await picture('Shop').waitFor();
      await page.getByRole('button', { name: 'Take over' }).click();
      await page.getByText('You control the browser. The agent keeps off it.').waitFor();
      await axeClean('a browser that the person has');
      const box = await picture('Shop').boundingBox();
      if (box === null) throw new Error('the picture has no size');
      await page.mouse.click(box.x + (BUTTON.x / 1280) * box.width, box.y + (BUTTON.y / 800) * box.height);
      await picture('Signed in').waitFor();

      // The keys are the page's until Escape is pressed twice.
      const note = page.getByRole('textbox', { name: 'Note for the agent (optional)' });
      expect(
        await page
          .getByRole('textbox', { name: 'Page keyboard input' })
          .evaluate((field) => field === document.activeElement),
      ).toBe(true);
      await until('Escape leads out of the page', async () => {
        await page.keyboard.press('Escape');
        return page.getByRole('button', { name: 'Hand back' }).evaluate((button) => button === document.activeElement);
      });
      await page.getByText('1 page error').click();
      await page.getByText('no banner').waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      await note.waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      await note.fill('I have signed in.');
      await page.getByRole('button', { name: 'Hand back' }).click();
      await page.getByText('The agent controls the browser.').waitFor();

      handedBack.resolve();
      await until('the agent has looked', () => lastRead.includes('with this note:\nI have signed in.'), PATIENCE_MS);
      expect(lastRead).toContain('Demo Person had the browser and has handed it back');
      expect(lastRead).toContain('Welcome, person');
      expect(complaints).toEqual([]);
    } catch (error) {
      await mkdir('test-results', { recursive: true });
      await page?.screenshot({ path: 'test-results/agents-browser.png' });
      throw error;
    }
  });
});
