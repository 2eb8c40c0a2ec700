import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import type { Me } from '@slipway/contracts/organizations';
import type { SandboxAccess, SandboxAccessList } from '@slipway/contracts/sandboxes';
import {
  CookieClient,
  type ModelServer,
  type SignedInClient,
  signIn,
  startModelServer,
  submitForm,
  until,
} from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = { timeout: 60_000 };
const GUEST = { name: 'Grace Hopper', email: 'grace@example.test', username: 'grace', password: 'a long password' };
const LIVE = ['Terminal', 'Files', 'Browser', 'Ports'];

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a user who may read a conversation and not reach into its sandbox', () => {
  let folder: string;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let owner: SignedInClient;
  let guest: SignedInClient;
  let org: { id: string; slug: string };
  let conversation: Conversation;
  const complaints: string[] = [];
  const atOrg = (rest: string): string => `/api/v1/orgs/${org.id}${rest}`;
  const access = (rest = ''): string => atOrg(`/conversations/${conversation.id}/sandbox-access${rest}`);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-viewer-'));
    model = await startModelServer({
      script: async () => ({ toolCalls: [{ name: 'finish', arguments: { message: 'It is done.' } }] }),
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
    owner = await signIn(stack.url);
    const account = new CookieClient();
    const page = await account.follow(`${stack.url}/oauth/login?redirect=/api/v1/me`);
    await submitForm(account, await account.follow(`${page.url.href}/register`), GUEST);
    guest = await signIn(stack.url, GUEST);
    const made = await owner.fetch('/api/v1/orgs', {
      method: 'POST',
      json: { name: 'Acme Robotics', slug: 'acme-robotics' },
    });
    expect([made.status, await made.clone().text()]).toEqual([201, expect.any(String)]);
    org = (await made.json()) as typeof org;
    await asOwnerOfTheDatabase("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      org.id,
      guest.me.id,
    ]);
    const started = await owner.fetch(atOrg('/conversations'), {
      method: 'POST',
      json: { prompt: 'Do something small' },
    });
    expect([started.status, await started.clone().text()]).toEqual([201, expect.any(String)]);
    conversation = (await started.json()) as Conversation;
    await until(
      'its sandbox is there and its agent has finished',
      async () => {
        const now = (await (await owner.fetch(atOrg(`/conversations/${conversation.id}`))).json()) as Conversation;
        return now.sandboxStatus === 'RUNNING' && now.status === 'finished';
      },
      SLOW.timeout,
    );
    browser = await launchChromium(executable ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function asOwnerOfTheDatabase(text: string, values: unknown[]): Promise<void> {
    const client = new pg.Client({ connectionString: stack.ownerUrl });
    await client.connect();
    try {
      await client.query(text, values);
    } finally {
      await client.end();
    }
  }

  /** A page of a signed-in user, and its requests to the sandbox. */
  async function pageOf(user: SignedInClient): Promise<{ context: BrowserContext; page: Page; reached: string[] }> {
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' });
    await context.addCookies(
      user.cookie.split('; ').map((pair) => ({
        name: pair.slice(0, pair.indexOf('=')),
        value: pair.slice(pair.indexOf('=') + 1),
        url: stack.url,
      })),
    );
    const page = await openPage(context, complaints);
    page.setDefaultTimeout(SLOW.timeout);
    const reached: string[] = [];
    page.on('request', (request) => {
      if (/sandbox-access|\/editor$/.test(request.url())) reached.push(`${request.method()} ${request.url()}`);
    });
    page.on('websocket', (socket) => {
      if (socket.url().includes('/sockets/live/')) reached.push(socket.url());
    });
    return { context, page, reached };
  }
  const tabs = (page: Page) => page.getByRole('tablist', { name: 'Panels' }).getByRole('tab');
  const show = async (page: Page, tab = ''): Promise<void> => {
    await page.goto(`${stack.url}/${org.slug}/conversations/${conversation.id}${tab === '' ? '' : `?tab=${tab}`}`);
    await page.getByText('It is done.').first().waitFor();
    await tabs(page).first().waitFor();
  };

  /**
   * A live socket as the pages open it: resolves when the sandbox has answered on it, or with the code that it was
   * closed with.
   */
  function liveSocket(channel: string, given: SandboxAccess): { stands: Promise<boolean>; closed: Promise<number> } {
    const socket = new WebSocket(`${given.pathUrl.replace(/^http/, 'ws')}sockets/live/${channel}`);
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    const stands = new Promise<boolean>((resolve) => {
      socket.once('message', () => resolve(true));
      socket.once('close', () => resolve(false));
    });
    socket.once('error', () => {});
    socket.once('open', () => socket.send(JSON.stringify({ type: 'auth', session_api_key: given.token })));
    return { stands, closed };
  }

  it('as a member sees the live panels and reaches the sandbox, by one access however often the page is loaded; made a viewer they lose both at once, in the pages, at the API and at the gateway', async () => {
    const { context, page, reached } = await pageOf(guest);
    try {
      await show(page, 'terminal');
      expect(await tabs(page).allInnerTexts()).toEqual(expect.arrayContaining(LIVE));
      await page.getByRole('textbox', { name: 'Terminal input' }).waitFor({ state: 'attached' });
      await page.getByRole('textbox', { name: 'Message' }).waitFor();
      await page.reload();
      await page.getByRole('textbox', { name: 'Terminal input' }).waitFor({ state: 'attached' });
      // Both times the page asked for a way in, and both times it got the same.
      expect(reached.filter((asked) => asked.startsWith('POST')).length).toBeGreaterThanOrEqual(2);
      const { data: held } = (await (await owner.fetch(access())).json()) as SandboxAccessList;
      expect(held.map(({ port, person }) => [port, person.label])).toEqual([[8000, GUEST.name]]);
      const answer = await guest.fetch(access(), { method: 'POST', json: { port: 'agent-server' } });
      expect(answer.status).toBe(201);
      const given = (await answer.json()) as SandboxAccess;
      const sockets = ['terminal', 'files', 'browser'].map((channel) => liveSocket(channel, given));
      expect(await Promise.all(sockets.map(({ stands }) => stands))).toEqual([true, true, true]);
      const through = (rest: string, init: RequestInit = {}) =>
        fetch(`${given.pathUrl}${rest}`, {
          ...init,
          headers: { 'x-session-api-key': given.token },
          signal: AbortSignal.timeout(10_000),
        });
      expect((await through('server_info')).status).toBe(200);

      const lowered = await owner.fetch(atOrg(`/members/${guest.me.id}`), {
        method: 'PATCH',
        json: { role: 'viewer' },
      });
      expect([lowered.status, await lowered.text()]).toEqual([200, expect.any(String)]);
      expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4001, 4001, 4001]);
      for (const [method, rest] of [
        ['GET', 'server_info'],
        ['POST', 'api/file/upload/tmp/x'],
        ['POST', 'api/bash/execute_bash_command'],
      ] as const)
        expect([rest, (await through(rest, { method })).status]).toEqual([rest, 401]);
      expect(
        await Promise.all(['terminal', 'files', 'browser'].map((channel) => liveSocket(channel, given).closed)),
      ).toEqual([4001, 4001, 4001]);

      // app-server checks permissions every second; the gateway hears of changes at once.
      await until('the API knows it too', async () => (await guest.fetch(access())).status === 403);
      const refusals = [
        ['GET', access()],
        ['POST', access(), { port: 'agent-server' }],
        ['POST', access(), { port: 'agent-server', reuse: true }],
        ['DELETE', access()],
        ['DELETE', access(`/${given.id}`)],
        ['POST', atOrg(`/conversations/${conversation.id}/editor`)],
      ] as const;
      for (const [method, at, json] of refusals) {
        const refused = await guest.fetch(at, { method, ...(json === undefined ? {} : { json }) });
        expect([method, at, refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
          method,
          at,
          403,
          'permission.denied',
        ]);
      }
      await show(page);
      expect(await tabs(page).allInnerTexts()).not.toEqual(expect.arrayContaining(['Terminal']));
    } finally {
      await context.close();
    }
  });

  it('reads the conversation without the live panels, whatever the address says, and its page asks nothing of the sandbox', async () => {
    const { orgs } = (await (await guest.fetch('/api/v1/me')).json()) as Me;
    expect(orgs.find(({ id }) => id === org.id)?.role).toBe('viewer');
    const { context, page, reached } = await pageOf(guest);
    try {
      for (const tab of ['', 'terminal', 'files', 'browser', 'ports']) {
        await show(page, tab);
        const names = await tabs(page).allInnerTexts();
        expect([tab, names.filter((name) => LIVE.includes(name.trim()))]).toEqual([tab, []]);
        expect([tab, await page.getByRole('tab', { selected: true }).first().innerText()]).toEqual([
          tab,
          expect.stringMatching(/^Changes/),
        ]);
      }
      await show(page, 'details');
      const prompt = page.getByRole('region', { name: 'System prompt and tools' });
      await prompt.getByRole('button', { name: /^Tools/ }).click();
      await prompt
        .getByRole('list', { name: 'Agent tools' })
        .getByRole('button', { name: /^finish/ })
        .waitFor();
      await show(page);
      expect(await page.getByRole('textbox', { name: 'Terminal input' }).count()).toBe(0);
      await page.getByText('You have view access.').waitFor();
      expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
      expect(await page.getByRole('button', { name: /^(Send|Stop|Pause|Resume|Try again)/ }).count()).toBe(0);
      expect(await page.getByRole('tree', { name: 'Workspace files' }).count()).toBe(0);
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Download diff' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Open a port' }).count()).toBe(0);
      await page.keyboard.press('Escape');
      await expectClean(page, 'a conversation that a viewer reads', 'everyTheme');
      await page.clock.install();
      await page.goto(`${stack.url}/${org.slug}`);
      await page.getByText('You have view access').waitFor();
      expect(await page.getByRole('textbox', { name: 'Task', exact: true }).count()).toBe(0);
      await expectClean(page, 'the start page of a viewer');
      expect(reached).toEqual([]);
      // A role that is raised meanwhile shows on the page that is open.
      const raised = await owner.fetch(atOrg(`/members/${guest.me.id}`), { method: 'PATCH', json: { role: 'member' } });
      expect(raised.status).toBe(200);
      // What a session may do is read at most once a second.
      await until('the role counts', async () => {
        const { orgs } = (await (await guest.fetch('/api/v1/me')).json()) as Me;
        return orgs.some(({ id, role }) => id === org.id && role === 'member');
      });
      await page.clock.fastForward('01:01');
      await page.getByRole('textbox', { name: 'Task', exact: true }).waitFor({ timeout: 30_000 });
      expect(await page.getByText('You have view access').count()).toBe(0);
      expect(complaints).toEqual([]);
    } catch (error) {
      await mkdir('test-results', { recursive: true });
      await page.screenshot({ path: 'test-results/viewer.png' });
      throw error;
    } finally {
      await context.close();
    }
  });
});
