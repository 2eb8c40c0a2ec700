import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ModelServer } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { downloadOf, findChromium, launchChromium, openPage } from './browser.ts';
import { placesOfModels } from './model-health.ts';

export const executable = findChromium();

export let folder: string;
export let stack: Stack;
export let provider: ModelServer;
export let browser: Browser;
export let owner: Page;
export let member: Page;
let broken = false;
export const complaints: string[] = [];

export const newPage = async (from?: Page): Promise<Page> =>
  openPage(
    from?.context() ??
      (await browser.newContext({
        viewport: { width: 1440, height: 900 },
        reducedMotion: 'reduce',
        acceptDownloads: true,
      })),
    complaints,
  );
export const open = async (page: Page, rest: string, name: string): Promise<void> => {
  await page.goto(`${stack.url}/acme/${rest}`);
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
};
export const row = (page: Page, text: string | RegExp): Locator => page.getByRole('row').filter({ hasText: text });
export const call = async (
  page: Page,
  method: string,
  rest: string,
  data?: object,
): Promise<Record<string, unknown>> => {
  const answer = await page.request.fetch(`${stack.url}/api/v1${rest}`, {
    method,
    headers: { origin: stack.url, 'idempotency-key': randomUUID() },
    ...(data === undefined ? {} : { data }),
  });
  expect({ rest, ok: answer.ok(), status: answer.status() }).toMatchObject({ ok: true });
  return answer.json();
};
export const downloaded = (press: () => Promise<void>) => downloadOf(owner, press);

export const step = (name: string, work: () => Promise<void> | void): void => {
  it(name, async () => {
    if (broken) return skipTest('an earlier step failed');
    try {
      await work();
    } catch (error) {
      broken = true;
      await mkdir('test-results', { recursive: true });
      const shot = (who: string) => ({ path: `test-results/${who}-${name.replaceAll(/\W+/g, '-')}.png` });
      await Promise.all([owner?.screenshot(shot('owner')), member?.screenshot(shot('member'))]);
      throw error;
    }
  });
};

/** A stack with one sandbox at a time, and a browser with a page of the owner and one of a member. */
export function setUpAdmin(): void {
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-admin-'));
    const places = await placesOfModels(folder);
    provider = places.provider;
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      // One sandbox at a time, and an agent that is slow enough to be seen at work.
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        ORG_SANDBOX_LIMIT: '1',
        DEMO_MODEL_DELAY_MS: '500',
        ...places.env,
      },
      log: () => {},
      signal: AbortSignal.timeout(120_000),
      without: ['sandbox-gateway'],
    });
    browser = await launchChromium(executable ?? '');
    [owner, member] = [await newPage(), await newPage()];
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await provider?.close();
    await rm(folder, { recursive: true, force: true });
  });
}
