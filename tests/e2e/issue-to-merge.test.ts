import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { LinkBegun, OAuthClient } from '@slipway/contracts/identity';
import type { ConnectionWithSecret, IntegrationDeliveryPage } from '@slipway/contracts/integrations';
import {
  byAnswersSoFar,
  type ModelServer,
  type SignedInClient,
  signIn,
  startModelServer,
  until,
} from '@slipway/testing';
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
import { DEMO_PROJECT, fillProject, LABEL } from '../../tools/gitea/demo-project.ts';
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
const MODEL = 'gpt-5';
const FIXED = `export function total(basket) {\n  return basket.reduce((sum, line) => sum + line.quantity * line.price, 0);\n}\n`;
const write = (text: string) => terminal(`cat > src/total.js <<'END'\n${text}END\nnpm test --silent 2>&1 | tail -9`);

interface Comment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly login: string };
}

/**
 * The whole way of a piece of work at a real git host, with a scripted model: nothing of it is entered in Slipway but
 * the connection.
 */
jest.setTimeout(900_000);

describeUnless(missing)('an issue that becomes a merged pull request', () => {
  let folder: string;
  let gitea: Gitea;
  let ada: GiteaUser;
  let bot: GiteaUser;
  let shop: GiteaRepository;
  let stack: Stack;
  let model: ModelServer;
  let browser: Browser;
  let page: Page;
  let owner: SignedInClient;
  let org: { id: string; slug: string };
  let connection: string;
  let number: number;
  let request: number;
  let broken = false;
  const complaints: string[] = [];

  beforeAll(async () => {
    if (missing !== null) return;
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-issue-'));
    model = await startModelServer({
      // The second is done by a model that reads the comment on the line.
      script: (request) =>
        JSON.stringify(request.body.messages).includes(
          'On src/total.js, line 1: @slipway-bot the comment of this function is gone',
        )
          ? byAnswersSoFar([write(`/** What a basket costs, in cents. */\n${FIXED}`), finish('The comment is back.')])(
              request,
            )
          : byAnswersSoFar([write(FIXED), finish('The total counts each line as often as its quantity says.')])(
              request,
            ),
      apiKey: 'sk-of-the-script',
    });
    const models = {
      models: [
        {
          name: MODEL,
          deployments: [
            { id: 'scripted/1', provider: 'openai', baseUrl: model.url, apiKeyEnv: 'SCRIPT_KEY', model: 'm' },
          ],
        },
      ],
    };
    await writeFile(path.join(folder, 'models.json'), JSON.stringify(models));
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    bot = await gitea.admin.createUser('slipway-bot');
    shop = await ada.createRepository({ ...DEMO_PROJECT, private: true });
    await fillProject(shop);
    number = 1;
    await shop.addCollaborator('slipway-bot', 'admin');
    const { host } = new URL(gitea.url);
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_MODELS_FILE: path.join(folder, 'models.json'),
        SCRIPT_KEY: 'sk-of-the-script',
        INTEGRATION_PRIVATE_HOSTS: host,
      },
      log: () => {},
      signal: AbortSignal.timeout(2 * SLOW),
      without: ['sandbox-gateway'],
    });
    owner = await signIn(stack.url);
    org = await json('POST', '/api/v1/orgs', { name: 'Acme Robotics', slug: 'acme-robotics' });
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

  const step = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/issue-to-merge-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };
  const json = async <T>(method: string, at: string, body?: unknown): Promise<T> => {
    const answer = await owner.fetch(at, { method, ...(body === undefined ? {} : { json: body }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${text}`);
    return text === '' ? (undefined as T) : (JSON.parse(text) as T);
  };
  const integrations = (rest: string): string => `/api/v1/orgs/${org.id}/integrations/connections${rest}`;
  /** Of the bot, on the issue or the pull request, oldest first. */
  const answers = async (on: number): Promise<readonly Comment[]> =>
    (await shop.call<Comment[]>('GET', `/issues/${on}/comments`)).filter(({ user }) => user.login === 'slipway-bot');
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

  const card = (): Locator => page.getByRole('region', { name: 'Pull request' });

  step('is connected: an access token, a webhook, and a linked account', async () => {
    const { host } = new URL(gitea.url);
    const token = await bot.createToken('slipway', [
      'write:repository',
      'write:issue',
      'read:user',
      'read:organization',
    ]);
    const made = await json<ConnectionWithSecret>('POST', integrations(''), {
      provider: 'gitea',
      name: 'Gitea',
      host,
      token,
      own: { ids: [String((await bot.self()).id)], mention: 'slipway-bot' },
      settings: { baseUrl: gitea.url, labels: [LABEL] },
    });
    connection = made.connection.id;
    await page.goto(`${stack.url}/${org.slug}/admin/integrations/${connection}`);
    await page.getByLabel('Repository', { exact: true }).fill('ada/none');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText('The provider rejected the request', { exact: false }).waitFor();
    await page.getByLabel('Repository', { exact: true }).fill('ada/shop');
    await page.getByRole('button', { name: 'Create webhook' }).press('Enter');
    await page.getByRole('button', { name: 'Repair the webhook of ada/shop' }).waitFor();
    await picture('webhooks');
    await expectClean(page, 'webhooks');
    const { callbackUrl } = await json<OAuthClient>('GET', integrations(`/${connection}/oauth-client`));
    const application = await gitea.admin.createOAuth2Application('Slipway', [callbackUrl]);
    await json('PUT', integrations(`/${connection}/oauth-client`), {
      clientId: application.client_id,
      clientSecret: application.client_secret,
    });
    const begun = await owner.fetch('/api/v1/me/linked-accounts', {
      method: 'POST',
      json: { org: org.id, connectionId: connection },
    });
    const { authorizeUrl } = (await begun.json()) as LinkBegun;
    const nonce = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const back = await fetch(await giveConsent(ada, authorizeUrl), {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: `${owner.cookie}; ${nonce}` },
    });
    const confirm = new URL(back.headers.get('location') ?? '').searchParams.get('confirm');
    await json('POST', `/api/v1/me/linked-accounts/${confirm}/confirm`);
  });

  step(
    'starts a conversation by its label, is acknowledged at once, and has one comment that says how far it is',
    async () => {
      await ada.repository('ada', 'shop').addLabels(number, [LABEL]);
      await until(
        'eyes on the issue',
        async () => {
          const seen = await shop.call<Array<{ content: string; user: { login: string } }> | null>(
            'GET',
            `/issues/${number}/reactions`,
          );
          return (seen ?? []).some(({ content, user }) => content === 'eyes' && user.login === 'slipway-bot');
        },
        SLOW,
      );
      const first = await until('a comment', async () => (await answers(number))[0] ?? null, SLOW);
      const link = new RegExp(`${stack.url}/\\S+/conversations/[0-9a-f-]{36}`).exec(first.body)?.[0];
      expect(link).toBeDefined();
      await page.goto(link ?? '');
      await page.locator('header').getByText('Finished', { exact: true }).waitFor();
      await until(
        'the comment has the result',
        async () => (await answers(number))[0]?.body.includes('as often as its quantity says') === true,
        SLOW,
      );
      expect((await answers(number)).map(({ id }) => id)).toEqual([first.id]);
      await picture('conversation-finished');
    },
  );

  step('read its private repository without a token in the sandbox', async () => {
    const seen = JSON.stringify(model.requests);
    expect(seen).toContain('pass 3');
    const { data } = await json<IntegrationDeliveryPage>('GET', integrations(`/${connection}/deliveries?limit=100`));
    expect(data.filter(({ reason }) => reason?.code === 'conversation-started')).toHaveLength(1);
  });

  step('is a pull request by itself, which the comment names, with its checks on the page', async () => {
    const [pull] = await until(
      'a pull request',
      async () => ((await shop.pullRequests()).length > 0 ? shop.pullRequests() : null),
      SLOW,
    );
    if (pull === undefined) throw new Error('no pull request');
    request = pull.number;
    expect((await shop.call<{ body: string }>('GET', `/pulls/${request}`)).body).toContain(`Fixes #${number}`);
    await until(
      'the comment names it',
      async () => (await answers(number))[0]?.body.includes(pull.html_url) === true,
      SLOW,
    );
    await shop.setStatus(pull.head.sha, { context: 'tests', state: 'success', description: '3 passed' });
    await card().getByText('The check passed', { exact: true }).waitFor();
    await picture('pull-request');
    await expectClean(page, 'pull request');
  });

  step('hears a comment on a line, and pushes what it asked for to the same pull request', async () => {
    const { head } = await shop.pullRequest(request);
    await ada.repository('ada', 'shop').review(request, {
      verdict: 'REQUEST_CHANGES',
      body: '@slipway-bot please see the line',
      comments: [
        { path: 'src/total.js', line: 1, body: '@slipway-bot the comment of this function is gone, bring it back' },
      ],
    });
    await until(
      'the branch has what is new',
      async () => (await shop.pullRequest(request)).head.sha !== head.sha,
      SLOW,
    );
    const { content } = await shop.call<{ content: string }>(
      'GET',
      `/contents/src/total.js?ref=${encodeURIComponent(head.ref)}`,
    );
    expect(Buffer.from(content, 'base64').toString()).toContain('/** What a basket costs, in cents. */');
    expect(await shop.pullRequests('all')).toHaveLength(1);
  });

  step('is merged on the page, by a user and at the head that the user saw', async () => {
    // Made ready at the host, by whom it is asked to review.
    await ada.repository('ada', 'shop').call('PATCH', `/pulls/${request}`, { title: 'The total forgets the quantity' });
    const merge = card().getByRole('button', { name: 'Merge…' });
    await until('it may be merged', async () => (await merge.isVisible()) && (await merge.isEnabled()), SLOW);
    await merge.click();
    await page
      .getByRole('alertdialog')
      .or(page.getByRole('dialog'))
      .getByRole('button', { name: 'Merge', exact: true })
      .click();
    await card().getByText('Merged', { exact: true }).waitFor();
    expect(await shop.pullRequest(request)).toMatchObject({ merged: true });
    await until(
      'the issue is closed by it',
      async () => (await shop.call<{ state: string }>('GET', `/issues/${number}`)).state === 'closed',
      SLOW,
    );
    expect((await answers(number)).length).toBe(1);
    await picture('merged');
    // The repository that there is not, where no webhook could be made.
    expect(complaints.filter((line) => !line.endsWith('/hooks'))).toEqual([]);
  });
});
