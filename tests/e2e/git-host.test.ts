import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Gitea,
  type GiteaRepository,
  type GiteaUser,
  giveConsent,
  missingForGitea,
  startGitea,
} from '@slipway/testing/gitea';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const missing =
  executable === null
    ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH'
    : await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 60_000;

describeUnless(missing)('a new user whose work is at a real Gitea, in a browser', () => {
  let folder: string;
  let gitea: Gitea;
  let ada: GiteaUser;
  let shop: GiteaRepository;
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  let broken = false;
  const complaints: string[] = [];

  beforeAll(async () => {
    if (missing !== null) return;
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-git-host-'));
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    shop = await ada.createRepository({ name: 'shop', files: { 'total.js': 'export const total = 1;\n' } });
    const { host } = new URL(gitea.url);
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], INTEGRATION_PRIVATE_HOSTS: host },
      log: () => {},
      signal: AbortSignal.timeout(2 * SLOW),
    });
    browser = await launchChromium(executable ?? '');
    page = await openPage(await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' }), complaints);
    page.setDefaultTimeout(SLOW);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await gitea?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const step = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/git-host-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };
  /** Seen in every theme and size, as a user and as axe. */
  const look = async (where: string): Promise<void> => {
    const directory = process.env['PICTURES'];
    if (directory !== undefined) {
      await mkdir(directory, { recursive: true });
      for (const [size, viewport] of Object.entries({ 1440: WIDE, 390: PHONE }))
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          await page.screenshot({
            path: path.join(directory, `${where.replaceAll(' ', '-')}-${size}-${colorScheme}.png`),
          });
        }
    }
    await expectClean(page, where, 'everyTheme');
  };
  const dialog = (): Locator => page.getByRole('dialog');
  /** Presses Link, consents at Gitea as this user, and comes back. */
  const goToGitea = async (as: GiteaUser): Promise<void> => {
    // 204: the browser stays where it is.
    await page.route(`${gitea.url}/**`, (route) => route.fulfill({ status: 204 }));
    const [asked] = await Promise.all([
      page.waitForRequest((request) => request.url().startsWith(`${gitea.url}/login/oauth/authorize`)),
      page.getByRole('button', { name: /^Link an account at/ }).click(),
    ]);
    await page.goto((await giveConsent(as, asked.url())).href);
    await page.unroute(`${gitea.url}/**`);
  };

  /** What is left to do before the first pull request, as the page of a new task has it. */
  const left = async (): Promise<string[]> => {
    await page.goto(`${stack.url}/acme-robotics`);
    const steps = page.getByRole('region', { name: 'Getting started' }).getByRole('listitem');
    await steps.first().waitFor();
    return (await steps.filter({ hasText: 'To do' }).allInnerTexts()).map((text) => text.split(/[\s.]*To do/)[0] ?? '');
  };

  step('signs up, makes an organization, and reads what is left to do before a first pull request', async () => {
    await page.goto(stack.url);
    await page.getByRole('link', { name: /^Sign in/ }).click();
    await page.getByRole('link', { name: /create/i }).click();
    await page.getByLabel('Name', { exact: true }).fill('Ada Newman');
    await page.getByLabel('E-mail').fill('ada@example.test');
    await page.getByLabel('User name').fill('ada');
    await page.getByLabel(/^Password/).fill('a long password');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
    await page.getByRole('button', { name: /switch organization/ }).click();
    await page.getByRole('menuitem', { name: 'Create organization' }).click();
    await page.getByLabel('Name').fill('Acme Robotics');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/acme-robotics/admin/members');
    expect(await left()).toEqual([
      'Add a model',
      'Connect a git host',
      'Give a first task',
      'Open a pull request',
      'Invite people',
    ]);
    await look('getting started');
  });

  step('connects the git host by the token and the webhook that the page asks for', async () => {
    await page.getByRole('link', { name: 'Open: Connect a git host' }).click();
    await page.getByText('No connections').waitFor();
    await page.getByRole('button', { name: 'Connect' }).click();
    await dialog().getByLabel('Provider', { exact: true }).selectOption('gitea');
    await dialog().getByRole('button', { name: 'Connect' }).click();
    await dialog().getByLabel('Host').fill(new URL(gitea.url).host);
    await dialog().getByLabel('Name').fill('Gitea');
    const token = await ada.createToken('slipway', ['write:repository', 'write:issue']);
    await dialog().getByLabel('Access token').fill(token);
    await dialog().getByText('More settings').click();
    await dialog().getByLabel('Base URL').fill(gitea.url);
    await dialog().getByRole('button', { name: 'Connect' }).click();
    const shown = (label: string): Promise<string> =>
      dialog().getByRole('group', { name: label }).locator('code').innerText();
    await shop.createWebhook({ url: await shown('Address'), secret: await shown('Secret') });
    await dialog().getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(token);
  });

  step('an admin enters the OAuth client of the connection, by the callback address that the page shows', async () => {
    await page.goto(`${stack.url}/settings/linked-accounts`);
    await page.getByText('None of your organizations has a connection', { exact: false }).waitFor();
    await look('linked accounts none');
    await page.goto(`${stack.url}/acme-robotics/admin/integrations`);
    await page.getByRole('link', { name: 'Gitea', exact: true }).click();
    await page.getByRole('button', { name: 'Add OAuth client' }).press('Enter');
    const callback = await dialog().getByRole('group', { name: 'Callback address' }).locator('code').innerText();
    const application = await gitea.admin.createOAuth2Application('Slipway', [callback]);
    await dialog().getByLabel('Client ID').fill(application.client_id);
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('This must not be empty.').waitFor();
    await look('oauth client form');
    await dialog().getByLabel('Client secret').fill(application.client_secret);
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText(application.client_id).waitFor();
    expect(await page.content()).not.toContain(application.client_secret);
  });

  step(
    'links an account: goes to Gitea, comes back, sees both names and confirms; refusals say what to do',
    async () => {
      await page.goto(`${stack.url}/settings/linked-accounts?problem=linked-account.declined`);
      await page.getByText('The provider did not let you link the account').waitFor();
      await look('linked accounts problem');
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await page.waitForURL(`${stack.url}/settings/linked-accounts`);
      await goToGitea(ada);
      await dialog().getByText('In Slipway').waitFor();
      expect(await dialog().innerText()).toMatch(/At Gitea\s+ada[\s\S]*In Slipway\s+Ada Newman/);
      await look('linked accounts confirm');
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('No linked accounts').waitFor();
      expect(new URL(page.url()).search).toBe('');
      await goToGitea(ada);
      await dialog().getByRole('button', { name: 'Link', exact: true }).press('Enter');
      await page.getByRole('row').filter({ hasText: 'ada' }).waitFor();
      expect(await page.getByRole('button', { name: /^Link an account at/ }).count()).toBe(0);
      await look('linked accounts');
      await page.goto(`${stack.url}/settings/linked-accounts?confirm=0198c0de-7a1b-7000-8000-3f6c5d2e9b10`);
      await page.getByText('This link request has expired, or was started in another browser.').waitFor();
    },
  );

  step('unlinks it, and can link again', async () => {
    await page.getByRole('button', { name: /^Unlink ada/ }).click();
    await dialog().getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('No linked accounts').waitFor();
    await goToGitea(ada);
    await dialog().getByRole('button', { name: 'Link', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'ada' }).waitFor();
  });

  step('finds a repository by its name and a branch of it, with the keyboard, and starts a task there', async () => {
    await shop.call('POST', '/branches', { new_branch_name: 'fix/cart', old_ref_name: 'main' });
    await page.goto(`${stack.url}/acme-robotics`);
    const repository = page.getByRole('combobox', { name: 'Repository', exact: true });
    await repository.fill('sho');
    const offered = page.getByRole('listbox', { name: 'Repositories' }).getByRole('option', { name: /ada\/shop/ });
    await offered.waitFor();
    await look('repository picker');
    await repository.press('ArrowDown');
    await repository.press('Enter');
    expect(await repository.inputValue()).toBe('gitea:ada/shop');
    const branch = page.getByRole('combobox', { name: 'Branch', exact: true });
    await branch.press('ArrowDown');
    await page.getByRole('option', { name: 'fix/cart' }).waitFor();
    await page.getByRole('option', { name: 'main', exact: true }).click();
    expect(await branch.inputValue()).toBe('main');
    await repository.fill('nothing-of-this-name');
    await page.getByText('No repository matches.', { exact: false }).waitFor();
    await repository.press('Escape');
    await repository.fill('gitea:ada/shop');
    await branch.fill('main');
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill('Look around and leave a short note');
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    await page.getByText('Finished', { exact: true }).first().waitFor();
  });

  step('creates a pull request of what the agent changed, sees its checks, and merges what was seen', async () => {
    await page.getByRole('button', { name: 'Create pull request' }).press('Enter');
    await dialog().getByLabel('Title').fill('Leave a note');
    await dialog().getByLabel('Create as draft').uncheck();
    await look('pull request form');
    // A phone shows the panel in a sheet: the dialog of another width is another one.
    if ((await dialog().count()) === 0) {
      await page.getByRole('button', { name: 'Create pull request' }).click();
      await dialog().getByLabel('Title').fill('Leave a note');
      await dialog().getByLabel('Create as draft').uncheck();
    }
    await dialog().getByRole('button', { name: 'Create', exact: true }).click();
    const card = page.getByRole('region', { name: 'Pull request', exact: true });
    await card.getByRole('link', { name: /^Leave a note #1/ }).waitFor();
    await page.getByRole('button', { name: 'Pull request: #1 · open' }).waitFor();
    const [pull] = await shop.pullRequests();
    expect(pull).toMatchObject({ number: 1, title: 'Leave a note' });
    await shop.setStatus(pull?.head.sha ?? '', { context: 'tests', state: 'failure', description: '1 of 2 failed' });
    await card.getByText('1 of 1 check failed').waitFor();
    // What failed is shown unasked, with a way to have it fixed.
    await card.getByText('1 of 2 failed').waitFor();
    await card.getByRole('button', { name: 'Fix this check: tests' }).waitFor();
    await look('pull request card');
    await card.getByRole('button', { name: 'Merge…' }).press('Enter');
    await dialog()
      .getByText(pull?.head.sha ?? 'no commit')
      .waitFor();
    await dialog().getByRole('button', { name: 'Merge' }).click();
    await card.getByText('Merged', { exact: true }).waitFor();
    expect((await shop.pullRequest(1)).merged).toBe(true);
    expect(await left()).toEqual(['Add a model', 'Invite people']);
    expect(complaints.filter((line) => !line.includes('ERR_FAILED'))).toEqual([]);
  });
});
