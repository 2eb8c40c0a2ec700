import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ModelServer, startModelServer } from '@slipway/testing';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import type { LocalService } from '../../deploy/local/settings.ts';
import { type Stack, type StackOptions, startStack } from '../../deploy/local/stack.ts';
import { ScriptBook } from '../stack/script-book.ts';
import { launchChromium, openPage } from './browser.ts';

/** All of Slipway on this machine, and a browser in which the demo user has signed in. */
export interface SignedInStack {
  readonly stack: Stack;
  /** What the model does: it is asked for no other conversation. */
  readonly book: ScriptBook;
  readonly model: ModelServer;
  readonly browser: Browser;
  /** Of the demo user, on the Desk. */
  readonly page: Page;
  /** Another device of the demo user. */
  readonly signIn: () => Promise<Page>;
  /** Errors of every page so far. */
  readonly complaints: string[];
  readonly close: () => Promise<void>;
}

/**
 * Starts a stack with a model that follows a book, and signs the demo user in by the form.
 * @param options `name` becomes part of its folder's name; `context` is added to that of each device.
 */
export async function startSignedInStack(options: {
  readonly executable: string | null;
  readonly name: string;
  readonly without?: readonly LocalService[];
  readonly context?: BrowserContextOptions;
  /** Variables of single services. */
  readonly serviceEnv?: StackOptions['serviceEnv'];
}): Promise<SignedInStack> {
  const book = new ScriptBook();
  const complaints: string[] = [];
  const ends: Array<() => Promise<unknown>> = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const folder = await mkdtemp(path.join(os.tmpdir(), `slipway-${options.name}-`));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const model = await startModelServer({ script: book.script, apiKey: 'sk-of-the-script' });
    ends.push(() => model.close());
    const stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: await environmentOf(folder, model),
      log: () => {},
      signal: AbortSignal.timeout(120_000),
      ...(options.without === undefined ? {} : { without: options.without }),
      ...(options.serviceEnv === undefined ? {} : { serviceEnv: options.serviceEnv }),
    });
    ends.push(() => stack.stop());
    const browser = await launchChromium(options.executable ?? '');
    ends.push(() => browser.close());
    const signIn = async (): Promise<Page> => {
      const viewport = { width: 1440, height: 900 };
      const context = await browser.newContext({ viewport, reducedMotion: 'reduce', ...options.context });
      const device = await openPage(context, complaints);
      await device.goto(stack.url);
      await device.getByRole('link', { name: /^Sign in/ }).click();
      await device.getByLabel('User name or e-mail').fill('demo');
      await device.getByLabel('Password').fill('demo');
      await device.getByRole('button', { name: 'Sign in' }).click();
      await device.getByRole('textbox', { name: 'Task', exact: true }).waitFor();
      return device;
    };
    return { stack, book, model, browser, page: await signIn(), signIn, complaints, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function environmentOf(folder: string, model: ModelServer): Promise<NodeJS.ProcessEnv> {
  const deployment = { id: 'scripted/1', provider: 'openai', baseUrl: model.url, apiKeyEnv: 'SCRIPT_KEY', model: 'm' };
  const file = path.join(folder, 'models.json');
  await writeFile(file, JSON.stringify({ models: [{ name: 'gpt-5', deployments: [deployment] }] }));
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    LLM_MODELS_FILE: file,
    SCRIPT_KEY: 'sk-of-the-script',
  };
}
