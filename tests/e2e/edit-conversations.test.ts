import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import { type ModelServer, type SignedInClient, signIn, startModelServer, until } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { violations as axeViolations, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 60_000;

jest.setTimeout(240_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a user who keeps conversations in order, in a browser', () => {
  const complaints: string[] = [];
  const ids: Record<string, string> = {};
  let folder: string;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let owner: SignedInClient;
  let org: { id: string; slug: string };
  let page: Page;
  let other: Page;
  let broken = false;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-edits-'));
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
    const made = await owner.fetch('/api/v1/orgs', {
      method: 'POST',
      json: { name: 'Acme Robotics', slug: 'acme-robotics' },
    });
    org = (await made.json()) as typeof org;
    for (const prompt of ['Mend the login', 'Write the docs', 'Raise the limits']) {
      const answer = await owner.fetch(at('/conversations'), { method: 'POST', json: { prompt } });
      ids[prompt] = ((await answer.json()) as Conversation).id;
    }
    await until('all have finished', async () => (await statuses()).every((status) => status === 'finished'), 120_000);
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
    other = await openPage(context, complaints);
    page.setDefaultTimeout(SLOW);
    other.setDefaultTimeout(SLOW);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const at = (rest: string): string => `/api/v1/orgs/${org.id}${rest}`;
  const statuses = async (): Promise<string[]> => {
    const { data } = (await (await owner.fetch(at('/conversations'))).json()) as { data: Conversation[] };
    return data.map(({ status }) => status);
  };
  const list = (query = ''): string => `${stack.url}/${org.slug}/conversations${query}`;
  const lines = (): Locator => page.getByRole('list', { name: 'Conversations' }).getByRole('listitem');
  const line = (title: string): Locator => lines().filter({ hasText: title });
  const gone = (title: string): Promise<void> => line(title).waitFor({ state: 'detached' });
  const choose = async (title: string, entry: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions of ${title}` }).click();
    await page.getByRole('menuitem', { name: entry, exact: true }).click();
  };
  const undo = (): Promise<void> => page.getByRole('button', { name: 'Undo' }).last().click();
  /** Nothing for axe, however small, `but` one rule; and nothing wider than the screen. */
  const expectCleanAndSeen = async (shown: Page, name: string, but?: string): Promise<void> => {
    const directory = process.env['PICTURES'];
    if (directory !== undefined) await mkdir(directory, { recursive: true });
    for (const viewport of [PHONE, WIDE])
      for (const colorScheme of ['dark', 'light'] as const) {
        await shown.setViewportSize(viewport);
        await shown.emulateMedia({ colorScheme });
        if (directory !== undefined)
          await shown.screenshot({ path: path.join(directory, `${name}-${viewport.width}-${colorScheme}.png`) });
        const width = await shown.evaluate(() => document.documentElement.scrollWidth);
        const found = await axeViolations(shown, colorScheme === 'light' && 'colours');
        const violations = found.filter(({ id }) => id !== but);
        expect({ name, colorScheme, width, violations }).toEqual({
          name,
          colorScheme,
          width: viewport.width,
          violations: [],
        });
      }
  };
  const step = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/edits-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };

  step('renames, pins and tags from the menu of a line', async () => {
    await page.goto(list());
    await line('Mend the login').waitFor();
    await choose('Mend the login', 'Rename');
    await page.getByRole('textbox', { name: 'Title' }).fill('Mend the sign-in');
    await page.keyboard.press('Enter');
    await line('Mend the sign-in').waitFor();
    await choose('Mend the sign-in', 'Pin');
    await until('it is first', async () => /Mend the sign-in/.test(await lines().first().innerText()), SLOW);
    await choose('Mend the sign-in', 'Tags…');
    await page.getByRole('textbox', { name: 'Tags' }).fill('auth, web');
    await page.getByRole('button', { name: 'Save' }).click();
    await line('Mend the sign-in').getByText('auth').waitFor();
    await expectCleanAndSeen(page, 'open');
    await page.goto(list('?tag=auth'));
    await line('Mend the sign-in').waitFor();
    expect(await lines().count()).toBe(1);
    await page.goto(list('?tag=nothing'));
    await page.getByText('No conversations match the filters').waitFor();
  });

  step('archives, takes it back, and finds what is archived by its address', async () => {
    await page.goto(list());
    await choose('Write the docs', 'Archive');
    await gone('Write the docs');
    await undo();
    await line('Write the docs').waitFor();
    await choose('Write the docs', 'Archive');
    await gone('Write the docs');
    await page.goto(list('?shown=archived'));
    await line('Write the docs').waitFor();
    await choose('Write the docs', 'Move back to open');
    await page.getByText('Nothing is archived').waitFor();
  });

  step('deletes, takes it back, and restores another time from the trash', async () => {
    await page.goto(list('?shown=deleted'));
    await page.getByText('The trash is empty').waitFor();
    await expectCleanAndSeen(page, 'trash-empty');
    await page.goto(list());
    await choose('Raise the limits', 'Delete');
    await gone('Raise the limits');
    await undo();
    await line('Raise the limits').waitFor();
    await choose('Raise the limits', 'Delete');
    await gone('Raise the limits');
    await page.goto(list('?shown=deleted'));
    await line('Raise the limits').getByText('47 hours left').waitFor();
    await expectCleanAndSeen(page, 'trash');
    await page.getByRole('button', { name: 'Restore Raise the limits' }).click();
    await page.getByText('The trash is empty').waitFor();
  });

  step('tags, deletes and restores several at once', async () => {
    await page.goto(list());
    await page.getByLabel('Select Raise the limits').check();
    await page.getByLabel('Select Write the docs').check();
    await page.getByText('2 selected').waitFor();
    await expectCleanAndSeen(page, 'bulk');
    await page.getByRole('button', { name: 'Add tags…' }).click();
    await page.getByRole('textbox', { name: 'Tags' }).fill('later');
    await page.getByRole('button', { name: 'Save' }).click();
    await line('Raise the limits').getByText('later').waitFor();
    await line('Write the docs').getByText('later').waitFor();
    const selection = page.getByRole('region', { name: 'Selection' });
    await selection.getByRole('button', { name: 'Delete' }).click();
    await gone('Raise the limits');
    await gone('Write the docs');
    await page.goto(list('?shown=deleted'));
    await page.getByLabel('Select Raise the limits').check();
    await page.getByRole('button', { name: 'Select all' }).click();
    await selection.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The trash is empty').waitFor();
  });

  step('renames and deletes an open conversation from its menu; another tab says so and brings it back', async () => {
    const address = list(`/${ids['Raise the limits']}`);
    await Promise.all([page.goto(address), other.goto(address)]);
    const menu = async (entry: string): Promise<void> => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: entry, exact: true }).click();
    };
    await menu('Rename conversation');
    await page.getByRole('textbox', { name: 'Title' }).fill('Raise all limits');
    await page.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('heading', { level: 1, name: 'Raise all limits' }).waitFor();
    await menu('Pin conversation');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Unpin conversation' }).waitFor();
    // An open menu is in no landmark: it hangs at the end of the page.
    await expectCleanAndSeen(page, 'menu', 'region');
    await page.keyboard.press('Escape');
    await other.getByRole('textbox', { name: 'Message', exact: true }).fill('and those of the queue');
    await menu('Delete conversation');
    await page.waitForURL('**/conversations');
    await other.getByRole('heading', { name: 'This conversation was deleted' }).waitFor();
    await other.getByText('and those of the queue').waitFor();
    await expectCleanAndSeen(other, 'gone');
    await other.getByRole('button', { name: 'Restore' }).click();
    await other.getByRole('heading', { level: 1, name: 'Raise all limits' }).waitFor();
    expect(await other.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe(
      'and those of the queue',
    );
  });

  step('has seen no error of the pages', async () => {
    expect(complaints).toEqual([]);
  });
});
