import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import type { LinkBegun, OAuthClient } from '@slipway/contracts/identity';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { type ModelServer, type SignedInClient, signIn, startModelServer, until } from '@slipway/testing';
import {
  type Gitea,
  type GiteaRepository,
  type GiteaUser,
  giveConsent,
  missingForGitea,
  startGitea,
  takeBackConsents,
} from '@slipway/testing/gitea';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, terminal } from '../stack/script-book.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const missing =
  executable === null
    ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH'
    : await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 90_000;

jest.setTimeout(600_000);

/** The way from a review to a merge, on the page of the review and by the keyboard, at a real git host. */
describeUnless(missing)('a user who never leaves the review', () => {
  let folder: string;
  let gitea: Gitea;
  let ada: GiteaUser;
  let rita: GiteaUser;
  let shop: GiteaRepository;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let owner: SignedInClient;
  let org: { id: string; slug: string };
  let page: Page;
  let conversation: Conversation;
  let broken = false;
  const complaints: string[] = [];
  /** What the model was asked with, when it was asked to mend the check. */
  const asked: string[] = [];

  beforeAll(async () => {
    if (missing !== null) return;
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-review-merge-'));
    let edits = 0;
    model = await startModelServer({
      script: async (request) => {
        const text = JSON.stringify(request.body.messages);
        const directory = / is in (\S+)\. Work there/.exec(text)?.[1];
        if (directory === undefined) return { text: 'Total' };
        if (edits === 0) {
          edits = 1;
          return terminal(`cd ${directory} && echo 'export const total = 2;' > total.js`);
        }
        if (edits === 1 && text.includes('total must be 3')) {
          edits = 2;
          asked.push(text);
          return terminal(`cd ${directory} && echo 'export const total = 3;' > total.js`);
        }
        return finish('It is written.');
      },
    });
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    rita = await gitea.admin.createUser('rita');
    const bot = await gitea.admin.createUser('slipway-bot');
    shop = await ada.createRepository({ name: 'shop', files: { 'total.js': 'export const total = 1;\n' } });
    for (const name of ['rita', 'slipway-bot']) await shop.addCollaborator(name, 'admin');
    const { host } = new URL(gitea.url);
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_BASE_URL: model.url,
        LLM_API_KEY: 'sk-of-a-test-0123456789',
        LLM_MODEL: 'scripted',
        INTEGRATION_PRIVATE_HOSTS: host,
      },
      log: () => {},
      signal: AbortSignal.timeout(2 * SLOW),
    });
    owner = await signIn(stack.url);
    org = await json('POST', '/api/v1/orgs', { name: 'Acme Robotics', slug: 'acme-robotics' });
    const { connection, webhookSecret } = await json<ConnectionWithSecret>('POST', connections(''), {
      provider: 'gitea',
      name: 'Gitea',
      host,
      token: await bot.createToken('slipway', ['write:repository', 'write:issue', 'read:user', 'read:organization']),
      own: { ids: [String((await bot.self()).id)], mention: 'slipway-bot' },
      settings: { baseUrl: gitea.url },
    });
    await shop.createWebhook({ url: connection.address ?? '', secret: webhookSecret ?? '' });
    await link(connection.id);
    conversation = await json('POST', `/api/v1/orgs/${org.id}/conversations`, {
      prompt: 'The total is wrong',
      repository: 'gitea:ada/shop',
    });
    await finished();
    browser = await launchChromium(executable ?? '');
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
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
    await gitea?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const json = async <T>(method: string, at: string, body?: unknown): Promise<T> => {
    const answer = await owner.fetch(at, { method, ...(body === undefined ? {} : { json: body }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${text}`);
    return text === '' ? (undefined as T) : (JSON.parse(text) as T);
  };
  const connections = (rest: string): string => `/api/v1/orgs/${org.id}/integrations/connections${rest}`;
  /** Links Rita's account: she reviews what the bot has opened. */
  const link = async (connection: string): Promise<void> => {
    const { callbackUrl } = await json<OAuthClient>('GET', connections(`/${connection}/oauth-client`));
    const application = await gitea.admin.createOAuth2Application('Slipway', [callbackUrl]);
    await json('PUT', connections(`/${connection}/oauth-client`), {
      clientId: application.client_id,
      clientSecret: application.client_secret,
    });
    const begun = await owner.fetch('/api/v1/me/linked-accounts', {
      method: 'POST',
      json: { org: org.id, connectionId: connection },
    });
    const { authorizeUrl } = (await begun.json()) as LinkBegun;
    const nonce = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const back = await fetch(await giveConsent(rita, authorizeUrl), {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: `${owner.cookie}; ${nonce}` },
    });
    const confirm = new URL(back.headers.get('location') ?? '').searchParams.get('confirm');
    await json('POST', `/api/v1/me/linked-accounts/${confirm}/confirm`);
  };
  const finished = () =>
    until(
      'its agent has finished',
      async () =>
        (await json<Conversation>('GET', `/api/v1/orgs/${org.id}/conversations/${conversation.id}`)).status ===
        'finished',
      SLOW,
    );
  const step = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/review-to-merge-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };
  const picture = async (name: string): Promise<void> => {
    const directory = process.env['PICTURES'];
    if (directory === undefined) return;
    await mkdir(directory, { recursive: true });
    for (const width of [1440, 390])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: path.join(directory, `${name}-${width}-${colorScheme}.png`) });
      }
    await page.setViewportSize({ width: 1440, height: 900 });
  };
  const card = (): Locator => page.getByRole('region', { name: 'Pull request', exact: true });
  const dialog = (): Locator => page.getByRole('dialog').or(page.getByRole('alertdialog'));
  /** Goes on from the dialog to Gitea, consents there as Rita, and comes back. */
  const consent = async (): Promise<void> => {
    // 204: the browser stays where it is.
    await page.route(`${gitea.url}/**`, (route) => route.fulfill({ status: 204 }));
    const [asked] = await Promise.all([
      page.waitForRequest((request) => request.url().startsWith(`${gitea.url}/login/oauth/authorize`)),
      dialog()
        .getByRole('button', { name: /^Continue at / })
        .press('Enter'),
    ]);
    await page.goto((await giveConsent(rita, asked.url())).href);
    await page.unroute(`${gitea.url}/**`);
  };
  const onReview = () => expect(new URL(page.url()).pathname).toMatch(/\/conversations\/[0-9a-f-]{36}\/review$/);

  step('opens a pull request, sees that a check fails, and has the agent fix this check', async () => {
    await page.goto(`${stack.url}/${org.slug}/conversations/${conversation.id}/review`);
    await card().getByRole('button', { name: 'Create pull request' }).press('Enter');
    await dialog().getByLabel('Title').fill('The total is 3');
    await dialog().getByLabel('Create as draft').press('Space');
    await dialog().getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await card()
      .getByRole('link', { name: /^The total is 3 #1/ })
      .waitFor();
    const [pull] = await shop.pullRequests();
    await shop.setStatus(pull?.head.sha ?? '', { context: 'tests', state: 'failure', description: 'total must be 3' });
    await card().getByText('1 of 1 check failed').waitFor();
    await picture('failed-check');
    await card().getByRole('button', { name: 'Fix this check: tests' }).press('Enter');
    await until('the agent is asked with what the check says', () => asked.length === 1, SLOW);
    await until(
      'the branch has what it changed',
      async () => (await shop.pullRequest(1)).head.sha !== pull?.head.sha,
      SLOW,
    );
    const { head } = await shop.pullRequest(1);
    await shop.setStatus(head.sha, { context: 'tests', state: 'success', description: '1 passed' });
    await card().getByText('The check passed', { exact: true }).waitFor();
    onReview();
  });

  step('approves it as themselves at the host, which the connection’s own account never does', async () => {
    await card().getByRole('button', { name: 'Approve…' }).press('Enter');
    await dialog().getByText('keeps no access', { exact: false }).waitFor();
    await picture('approve');
    await expectClean(page, 'approve');
    // Gitea keeps the scope of the consent by which the account was linked, until its user takes that back.
    await consent();
    await card().getByText('remove the access that you gave Slipway', { exact: false }).waitFor();
    await picture('narrow-consent');
    await expectClean(page, 'narrow consent');
    await card().getByRole('button', { name: 'Dismiss' }).press('Enter');
    await takeBackConsents(rita);
    await card().getByRole('button', { name: 'Approve…' }).press('Enter');
    await consent();
    await card().getByText('Your approval of #1 is at', { exact: false }).waitFor();
    await card().getByText('Approved', { exact: true }).waitFor();
    onReview();
    const { head } = await shop.pullRequest(1);
    const reviews = await shop.call<Array<{ state: string; commit_id: string; user: { login: string } }>>(
      'GET',
      '/pulls/1/reviews',
    );
    expect(reviews.map(({ state, commit_id, user }) => [state, commit_id, user.login])).toEqual([
      ['APPROVED', head.sha, 'rita'],
    ]);
    await picture('approved');
    await expectClean(page, 'approved');
  });

  step('merges it', async () => {
    await card().getByRole('button', { name: 'Merge…' }).press('Enter');
    await dialog().getByRole('button', { name: 'Merge', exact: true }).press('Enter');
    await card().getByText('Merged', { exact: true }).waitFor();
    expect(await shop.pullRequest(1)).toMatchObject({ merged: true });
    onReview();
    await picture('merged');
    expect(complaints.filter((line) => !line.includes('ERR_FAILED') && !line.includes('ERR_ABORTED'))).toEqual([]);
  });
});
