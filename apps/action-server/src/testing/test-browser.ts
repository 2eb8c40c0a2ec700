import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { BrowserAction, type BrowserObservation } from '@slipway/contracts/actions';
import { textOfContent } from '@slipway/contracts/events';
import type { z } from 'zod';
import { Browser, type BrowserOptions } from '../browser/browser.js';
import { ShellEnvironment } from '../terminal/shell-environment.js';

/** Why tests with a real Chromium cannot be run here, or `false`. */
export const noChromium: string | false =
  new Browser({
    environment: new ShellEnvironment(process.env),
    workspace: '/',
    directory: '/',
    refusedPorts: () => new Set(),
  }).missing ?? false;

type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** Pages by path, on loopback. A text is a page of HTML. */
export interface TestSite {
  readonly port: number;
  readonly url: string;
  /** `METHOD /path` of all requests. */
  readonly asked: string[];
  close(): void;
}

export function startTestSite(pages: (url: string) => Readonly<Record<string, Answer>>): Promise<TestSite> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { port } = server.address() as AddressInfo;
    const answer = pages(`http://127.0.0.1:${port}`)[(request.url ?? '').replace(/\?.*$/, '')];
    if (answer === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<title>Nothing</title>');
    else if (typeof answer === 'string')
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(answer);
    else answer(request, response);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        port,
        url: `http://127.0.0.1:${port}`,
        asked,
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    });
  });
}

export interface TestBrowser {
  readonly browser: Browser;
  readonly workspace: string;
  /** Answers with the observation, and its text. */
  act(
    action: z.input<typeof BrowserAction>,
    signal?: AbortSignal,
  ): Promise<BrowserObservation & { readonly text: string }>;
  close(): Promise<void>;
}

/** A browser on a workspace of its own. */
export async function testBrowser(options: Partial<BrowserOptions> = {}): Promise<TestBrowser> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-browser-'));
  const workspace = path.join(folder, 'workspace');
  await mkdir(workspace);
  const browser = new Browser({
    environment: new ShellEnvironment({
      ...process.env,
      HTTP_PROXY: undefined,
      HTTPS_PROXY: undefined,
      http_proxy: undefined,
      https_proxy: undefined,
    }),
    workspace,
    directory: path.join(folder, 'browser'),
    refusedPorts: () => new Set(),
    ...options,
  });
  return {
    browser,
    workspace,
    act: async (action, signal = new AbortController().signal) => {
      const observation = await browser.execute(BrowserAction.parse(action), signal);
      return { ...observation, text: textOfContent(observation.content) };
    },
    close: async () => {
      browser.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** The number that the state gives to the element whose line has these words. */
export function numberOf(state: { readonly text: string }, words: string): number {
  const line = state.text.split('\n').find((one) => /^\[\d+\]/.test(one) && one.includes(words));
  if (line === undefined) throw new Error(`no element ${words} in:\n${state.text}`);
  return Number(/^\[(\d+)\]/.exec(line)?.[1]);
}
