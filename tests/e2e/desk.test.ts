import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Conversation, Desk } from '@slipway/contracts/conversations';
import {
  CookieClient,
  type ModelServer,
  type SignedInClient,
  signIn,
  startModelServer,
  stopwatch,
  submitForm,
  until,
} from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, type Harness, ScriptBook, terminal } from '../stack/script-book.ts';
import { findChromium, launchChromium, openPage, violations } from './browser.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW_MS = 60_000;
const GUEST = { name: 'Grace Hopper', email: 'grace@example.test', username: 'grace', password: 'a long password' };
const pictures = process.env['SCREENSHOTS'];

jest.setTimeout(180_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('the Desk of two users of one organization, in a browser', () => {
  const book = new ScriptBook();
  const complaints: string[] = [];
  let folder: string;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let ada: { client: SignedInClient; page: Page };
  let grace: { client: SignedInClient; page: Page };
  let org: { id: string; slug: string };
  let broken = false;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-desk-'));
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
    });
    const owner = await signIn(stack.url);
    const account = new CookieClient();
    const page = await account.follow(`${stack.url}/oauth/login?redirect=/api/v1/me`);
    await submitForm(account, await account.follow(`${page.url.href}/register`), GUEST);
    const guest = await signIn(stack.url, GUEST);
    const made = await owner.fetch('/api/v1/orgs', { method: 'POST', json: { name: 'Acme', slug: 'acme-robotics' } });
    org = (await made.json()) as typeof org;
    await joinAsMember(guest.me.id);
    // Past the API, which says for a second what it read before.
    await until('she is a member', async () => (await guest.fetch(`/api/v1/orgs/${org.id}/conversations`)).ok);
    browser = await launchChromium(executable ?? '');
    ada = { client: owner, page: await pageOf(owner) };
    grace = { client: guest, page: await pageOf(guest) };
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function joinAsMember(userId: string): Promise<void> {
    const client = new pg.Client({ connectionString: stack.ownerUrl });
    await client.connect();
    try {
      await client.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
        org.id,
        userId,
      ]);
    } finally {
      await client.end();
    }
  }

  async function pageOf(user: SignedInClient): Promise<Page> {
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' });
    await context.addCookies(
      user.cookie.split('; ').map((pair) => ({
        name: pair.slice(0, pair.indexOf('=')),
        value: pair.slice(pair.indexOf('=') + 1),
        url: stack.url,
      })),
    );
    return openPage(context, complaints);
  }

  const give = async (name: string, harness: Harness): Promise<Conversation> => {
    const started = await ada.client.fetch(`/api/v1/orgs/${org.id}/conversations`, {
      method: 'POST',
      json: { prompt: book.write(name, harness), confirmation: 'always' },
    });
    expect([started.status, await started.clone().text()]).toEqual([201, expect.any(String)]);
    return (await started.json()) as Conversation;
  };
  const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const rowOf = (page: Page, name: string, words: string) =>
    section(page, name).getByRole('listitem').filter({ hasText: words });
  const show = async (page: Page): Promise<void> => {
    await page.goto(`${stack.url}/${org.slug}`);
    await page.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
  };

  async function expectNoViolation(page: Page, where: string): Promise<void> {
    for (const viewport of [WIDE, PHONE])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        if (pictures !== undefined) {
          await mkdir(pictures, { recursive: true });
          await page.screenshot({ path: path.join(pictures, `${where}-${viewport.width}-${colorScheme}.png`) });
        }
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        const found = await violations(page, colorScheme === 'dark' && 'colours');
        expect({ where, width, colorScheme, violations: found }).toEqual({
          where,
          width: viewport.width,
          colorScheme,
          violations: [],
        });
      }
    await page.setViewportSize(WIDE);
  }

  const step = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await ada?.page.screenshot({ path: `test-results/desk-ada-${name.replaceAll(/\W+/g, '-')}.png` });
        await grace?.page.screenshot({ path: `test-results/desk-grace-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };

  step('says nothing to who has given no task yet', async () => {
    await Promise.all([show(ada.page), show(grace.page)]);
    await ada.page.getByRole('link', { name: 'All conversations' }).waitFor();
    expect(await ada.page.getByText('Nothing needs you.').count()).toBe(0);
    expect(await ada.page.title()).toBe('Desk · Slipway');
    await expectNoViolation(ada.page, 'desk-empty');
  });

  step('shows an approval to both; the first answer wins, and the other reads who gave it', async () => {
    const { id } = await give('ask', [terminal('echo one > one.txt'), finish('Is written.')]);
    const rows = [ada, grace].map(({ page }) => rowOf(page, 'Needs you', 'echo one > one.txt'));
    await Promise.all(rows.map((row) => row.waitFor({ timeout: SLOW_MS })));
    await until('the tab says so', async () => (await grace.page.title()) === '(1) Desk · Slipway');
    await grace.page.getByRole('link', { name: /^Desk ?, 1 decision$/ }).waitFor();
    await expectNoViolation(grace.page, 'desk-approval');
    await grace.page.getByRole('link', { name: /^View request: / }).click();
    await grace.page.waitForURL(`**/conversations/${id}`);
    const approve = grace.page.getByRole('button', { name: 'Approve', exact: true });
    await approve.waitFor();
    const answered = grace.page.waitForResponse((response) => response.url().endsWith('/confirmation'));
    await approve.click();
    expect((await answered).status()).toBe(200);
    const since = stopwatch();
    await rowOf(ada.page, 'Needs you', 'echo one > one.txt').waitFor({ state: 'detached' });
    expect(since()).toBeLessThan(1_000);
    await ada.page.getByText('Grace Hopper approved: ').waitFor();
    await until('it waits no more', async () => (await deskOf(ada.client)).every(({ group }) => group !== 'needs-you'));
  });

  const deskOf = async (client: SignedInClient): Promise<Desk['rows']> =>
    ((await (await client.fetch(`/api/v1/orgs/${org.id}/desk`)).json()) as Desk).rows;

  step('has a finished conversation among the ready ones until it was looked at', async () => {
    const { page } = ada;
    await answerEverything();
    const ready = rowOf(page, 'Ready', '[ask]');
    await ready.waitFor({ timeout: SLOW_MS });
    await page.getByText('Nothing needs you.').waitFor();
    await expectNoViolation(page, 'desk-ready');
    await ready.getByRole('link').click();
    await page.getByText('Is written.').first().waitFor();
    await until('it was looked at', async () => (await deskOf(ada.client)).every(({ group }) => group !== 'ready'));
    await page.getByRole('link', { name: 'Desk', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
    await ready.waitFor({ state: 'detached' });
  });

  const answerEverything = (): Promise<void> =>
    answerEverythingThat('has finished', async () => (await deskOf(ada.client)).some(({ group }) => group === 'ready'));

  /** The last action of an agent that asks before each step is to finish. */
  async function answerEverythingThat(what: string, isDone: () => Promise<boolean>): Promise<void> {
    await until(
      `it ${what}`,
      async () => {
        const rows = await deskOf(ada.client);
        for (const { conversation } of rows)
          if (conversation.approval !== null)
            await ada.client.fetch(`/api/v1/orgs/${org.id}/conversations/${conversation.id}/confirmation`, {
              method: 'POST',
              json: { accept: true, actionIds: [conversation.approval.actionId] },
            });
        return isDone();
      },
      SLOW_MS,
    );
  }

  step('takes rows off by keys, and puts one back', async () => {
    const { page } = ada;
    await give('keys', [terminal('echo two > two.txt'), finish()]);
    const row = rowOf(page, 'Needs you', 'echo two > two.txt');
    await row.waitFor({ timeout: SLOW_MS });
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await until('the row has the focus', () =>
      row.getByRole('link').evaluate((element) => element === document.activeElement),
    );
    await page.keyboard.press('e');
    await row.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.waitFor();
    await row.getByRole('button', { name: /^Actions of / }).click();
    await page.getByRole('menuitem', { name: 'Snooze for 1 hour' }).click();
    await row.waitFor({ state: 'detached' });
    await until('it is kept', async () => (await deskOf(ada.client)).length === 0);
    expect((await deskOf(grace.client)).map(({ group }) => group)).toContain('needs-you');
    await page.reload();
    await page.getByText('Nothing needs you.').waitFor();
  });

  step('answers a request and a question in their rows, by keys alone', async () => {
    const { page } = ada;
    await give('here', [terminal('echo three > three.txt'), finish('Which of the two shall I take?')]);
    const row = rowOf(page, 'Needs you', 'echo three > three.txt');
    await row.waitFor({ timeout: SLOW_MS });
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    const request = row.getByRole('group', { name: /^Request of / });
    await until('the command has the focus', () =>
      request.getByRole('group', { name: 'Command' }).evaluate((element) => element === document.activeElement),
    );
    await expectNoViolation(page, 'desk-request-in-row');
    await page.keyboard.press('Escape');
    await request.waitFor({ state: 'detached' });
    await page.keyboard.press('a');
    await request.waitFor();
    await page.keyboard.press('Control+Enter');
    await row.waitFor({ state: 'detached' });
    await answerEverythingThat('asks', () => rowOf(page, 'Needs you', 'Which of the two').isVisible());
    const question = rowOf(page, 'Needs you', 'Which of the two');
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await question.getByRole('textbox', { name: /^Reply to / }).fill(book.write('reply', [finish('Is taken.')]));
    await expectNoViolation(page, 'desk-reply-in-row');
    await page.keyboard.press('Control+Enter');
    await question.waitFor({ state: 'detached' });
    await answerEverythingThat('reads the reply', async () =>
      (await deskOf(ada.client)).some(({ conversation }) => conversation.lastWord?.text === 'Is taken.'),
    );
  });

  step('gives one answer to agents that ask for the same, and to no other', async () => {
    const { page } = ada;
    for (const name of ['alike-one', 'alike-two']) await give(name, [terminal('echo four'), finish()]);
    await give('unlike', [terminal('echo four >> four.txt'), finish()]);
    const rows = rowOf(page, 'Needs you', 'echo four');
    await until('all ask', async () => (await rows.count()) === 3, SLOW_MS);
    const row = rows.filter({ hasText: '[alike-two]' });
    await row.getByRole('button', { name: /^Answer: / }).click();
    const request = row.getByRole('group', { name: /^Request of / });
    await request.getByText('[alike-one]').waitFor();
    expect(await request.getByText('[unlike]').count()).toBe(0);
    await expectNoViolation(page, 'desk-alike');
    await request.getByRole('checkbox', { name: /^Give the same answer to the other agent/ }).check();
    await request.getByRole('button', { name: 'Approve' }).click();
    await until('only the other one waits for it', async () =>
      (await deskOf(ada.client)).every(
        ({ conversation: { approval, title } }) =>
          approval === null || approval.tool !== 'terminal' || title.includes('[unlike]'),
      ),
    );
    await answerEverythingThat('is quiet', async () =>
      (await deskOf(ada.client)).every(({ group }) => group !== 'needs-you' && group !== 'working'),
    );
  });

  step('mentions a file, a user and a conversation by keys, and says which is not there', async () => {
    const { page } = ada;
    const started = await ada.client.fetch(`/api/v1/orgs/${org.id}/conversations`, {
      method: 'POST',
      json: {
        prompt: book.write('mention', [terminal('mkdir -p src && echo 1 > src/sum-of-rows.ts'), finish('Is there.')]),
        confirmation: 'never',
      },
    });
    const { id } = (await started.json()) as Conversation;
    await page.goto(`${stack.url}/${org.slug}/conversations/${id}`);
    await page.getByText('Is there.').first().waitFor({ timeout: SLOW_MS });
    const box = page.getByRole('textbox', { name: 'Message', exact: true });
    const list = page.getByRole('listbox', { name: 'Mention' });
    const text = () => box.inputValue();
    /** Enter takes nothing while it is still being searched. */
    const found = () => page.locator('[role="listbox"][aria-busy="false"]').waitFor();
    await box.focus();
    await page.keyboard.type(`${book.write('mentioned', [finish('Is read.')])} Read @sumrows`);
    await list.getByRole('option', { name: /sum-of-rows\.ts/ }).waitFor({ timeout: SLOW_MS });
    await expectNoViolation(page, 'mention-list');
    await found();
    await page.keyboard.press('Enter');
    await list.waitFor({ state: 'detached' });
    expect(await text()).toMatch(/ Read @src\/sum-of-rows\.ts $/);
    await page.keyboard.press('Control+z');
    expect(await text()).toMatch(/ Read @sumrows$/);
    await page.keyboard.press('Control+Shift+z');
    await page.keyboard.type('with @grace');
    await list.getByRole('option', { name: /Grace Hopper/ }).waitFor();
    await found();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Tab');
    expect(await text()).toMatch(/ with @Grace-Hopper $/);
    await page.keyboard.type('as in @alike-one');
    await list.getByRole('option', { name: /alike-one/ }).click();
    await page.keyboard.type('not @src/gone.ts or ada@example.test or @x');
    await page.getByText('Nothing matches.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Nothing matches.').waitFor({ state: 'detached' });
    expect(await text()).toMatch(/ or @x$/);
    await page.keyboard.type(' in /tm');
    expect(await page.getByText('Nothing matches.').count()).toBe(0);
    await page.keyboard.type('p here');
    const chips = page.getByRole('list', { name: 'Mentioned' });
    await chips.getByRole('listitem').filter({ hasText: 'src/gone.ts' }).getByText('not found').waitFor();
    for (const there of ['src/sum-of-rows.ts', 'Grace Hopper', '[alike-one] Please do it.'])
      expect(await chips.getByRole('listitem').filter({ hasText: there }).innerText()).not.toContain('not found');
    await expectNoViolation(page, 'mention-chips');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Is read.').first().waitFor({ timeout: SLOW_MS });
    const row = page.getByRole('article').filter({ hasText: 'Read @src/sum-of-rows.ts with @Grace-Hopper' });
    await row.getByRole('link', { name: '@[alike-one] Please do it.' }).waitFor();
    expect(JSON.stringify(book.requestsOf('mentioned').at(-1)?.body)).toContain(
      '@src/sum-of-rows.ts with @Grace-Hopper',
    );
    expect(complaints).toEqual([]);
  });

  step('shows in the list of all conversations what changes, and stops several at once', async () => {
    const { page } = ada;
    const lines = page.getByRole('list', { name: 'Conversations' }).getByRole('listitem');
    await page.goto(`${stack.url}/${org.slug}/conversations`);
    await lines.first().waitFor();
    const held = Promise.withResolvers<void>();
    const waits: Harness = () => held.promise.then(() => finish());
    await give('held-one', waits);
    await give('held-two', waits);
    const line = (name: string) => lines.filter({ hasText: `[${name}]` });
    for (const name of ['held-one', 'held-two'])
      await line(name).getByText('Working', { exact: true }).waitFor({ timeout: SLOW_MS });
    let read = 0;
    page.on('request', (request) => {
      if (/\/conversations\?/.test(request.url())) read += 1;
    });
    for (const name of ['held-one', 'held-two'])
      await line(name)
        .getByRole('checkbox', { name: /^Select / })
        .check();
    await page.getByRole('button', { name: 'Stop…' }).click();
    await page.getByRole('dialog', { name: 'Stop 2 agents?' }).getByRole('button', { name: 'Stop' }).click();
    await page.getByText('2 agents stopped.').waitFor({ timeout: SLOW_MS });
    for (const name of ['held-one', 'held-two'])
      await line(name).getByText('Stopped', { exact: true }).waitFor({ timeout: SLOW_MS });
    held.resolve();
    const before = read;
    const { id } = await give('renamed', [finish()]);
    await line('renamed').getByText('Finished', { exact: true }).waitFor({ timeout: SLOW_MS });
    const readOnce = read;
    expect(readOnce).toBeGreaterThan(before);
    const renamed = await ada.client.fetch(`/api/v1/orgs/${org.id}/conversations/${id}`, {
      method: 'PATCH',
      json: { title: 'Renamed elsewhere' },
    });
    expect(renamed.status).toBe(200);
    await lines.filter({ hasText: 'Renamed elsewhere' }).waitFor();
    expect(read).toBe(readOnce);
    await expectNoViolation(page, 'work-live');
    expect(complaints).toEqual([]);
  });
});
