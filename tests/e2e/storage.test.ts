import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import type { Storage } from '@slipway/contracts/sandboxes';
import { type ModelServer, type SignedInClient, signIn, startModelServer, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 120_000;
const MIB = 2 ** 20;

jest.setTimeout(400_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('an organization whose agent writes without end', () => {
  let folder: string;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let owner: SignedInClient;
  let org: { id: string; slug: string };
  let page: Page;
  const complaints: string[] = [];
  const at = (rest: string): string => `/api/v1/orgs/${org.id}${rest}`;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-storage-'));
    model = await startModelServer({
      script: async ({ body }) =>
        JSON.stringify(body).includes('write without end')
          ? {
              toolCalls: [
                { name: 'terminal', arguments: { command: `head -c 60000 /dev/urandom | base64 # ${Math.random()}` } },
              ],
            }
          : { toolCalls: [{ name: 'finish', arguments: { message: 'It is done.' } }] },
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
      signal: AbortSignal.timeout(SLOW),
    });
    owner = await signIn(stack.url);
    const made = await owner.fetch('/api/v1/orgs', {
      method: 'POST',
      json: { name: 'Acme Robotics', slug: 'acme-robotics' },
    });
    org = (await made.json()) as typeof org;
    browser = await launchChromium(executable ?? '');
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' });
    await context.addCookies(
      owner.cookie.split('; ').map((pair) => ({
        name: pair.slice(0, pair.indexOf('=')),
        value: pair.slice(pair.indexOf('=') + 1),
        url: stack.url,
      })),
    );
    page = await openPage(context, complaints);
    page.setDefaultTimeout(SLOW);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function query(text: string, values: unknown[]): Promise<void> {
    const client = new pg.Client({ connectionString: stack.ownerUrl });
    await client.connect();
    try {
      await client.query(text, values);
    } finally {
      await client.end();
    }
  }
  const limit = (bytes: number): Promise<void> =>
    query(
      'INSERT INTO app.org_storage (org_id, limit_bytes) VALUES ($1, $2) ON CONFLICT (org_id) DO UPDATE SET limit_bytes = excluded.limit_bytes',
      [org.id, bytes],
    );
  const create = async (prompt: string): Promise<Conversation> =>
    (await (await owner.fetch(at('/conversations'), { method: 'POST', json: { prompt } })).json()) as Conversation;
  const read = async (id: string): Promise<Conversation> =>
    (await (await owner.fetch(at(`/conversations/${id}`))).json()) as Conversation;
  const storage = async (): Promise<Storage> => (await (await owner.fetch(at('/storage'))).json()) as Storage;
  const picture = async (name: string): Promise<void> => {
    const directory = process.env['PICTURES'];
    if (directory === undefined) return;
    await mkdir(directory, { recursive: true });
    for (const [size, viewport] of Object.entries({ 1440: WIDE, 390: PHONE }))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: path.join(directory, `${name}-${size}-${colorScheme}.png`), fullPage: true });
      }
    await page.setViewportSize(WIDE);
  };

  it('has it paused with the cause at its limit, sees what is large, makes room by deleting, and the agent can go on; others never noticed', async () => {
    const small = await create('Do something small');
    await until('the small one has finished', async () => (await read(small.id)).status === 'finished', SLOW);
    await page.goto(`${stack.url}/${org.slug}/admin/storage`);
    await page.getByRole('row', { name: /Do something small/ }).waitFor();
    await picture('modest');
    await limit(MIB);
    const { id } = await create('Please write without end');
    const halted = await until(
      'it is paused',
      async () => {
        const now = await read(id);
        return now.status === 'paused' && now.sandboxStatus === 'PAUSED' ? now : null;
      },
      SLOW,
    );
    expect(halted?.runtime).toMatchObject({
      status: 'STOPPED',
      code: 'storage.exhausted',
      cause: expect.stringContaining('of its 1 MiB of storage'),
    });
    expect((await storage()).used).toBeLessThanOrEqual(MIB + 5 * 65_536);
    // Another organization of the same installation goes on.
    const elsewhere = await owner.fetch(`/api/v1/orgs/${owner.me.orgs[0]?.id}/conversations`, {
      method: 'POST',
      json: { prompt: 'Do something small' },
    });
    expect(elsewhere.status).toBe(201);
    const refused = await owner.fetch(at('/conversations'), { method: 'POST', json: { prompt: 'x' } });
    expect(await refused.json()).toMatchObject({ status: 402, code: 'storage.exhausted' });

    await page.goto(`${stack.url}/${org.slug}/conversations/${id}`);
    await page.getByText('of its 1 MiB of storage').first().waitFor();
    await picture('paused');
    await page.goto(`${stack.url}/${org.slug}/admin/storage`);
    await page.getByText('Storage is full').waitFor();
    await picture('full');
    await expectClean(page, 'storage');
    await page.getByRole('button', { name: 'Delete Please write without end' }).click();
    await picture('delete');
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('Storage is full').waitFor({ state: 'detached' });
    expect(await page.getByRole('row', { name: /write without end/ }).count()).toBe(0);
    expect((await owner.fetch(at(`/conversations/${id}`))).status).toBe(404);
    expect(await create('Do something small')).toMatchObject({ status: 'starting' });
    expect(complaints).toEqual([]);
  });
});
