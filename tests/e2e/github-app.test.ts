import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { IntegrationConnection, IntegrationDeliveryPage } from '@slipway/contracts/integrations';
import { type ScriptedAccount, ScriptedGitHub } from '@slipway/integrations/testing';
import {
  byAnswersSoFar,
  type ModelServer,
  type SignedInClient,
  signIn,
  startModelServer,
  until,
} from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { DEMO_PROJECT } from '../../tools/gitea/demo-project.ts';
import { finish, terminal } from '../stack/script-book.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';
import { GitHubPages } from './github-pages.ts';
import { GitHubRepositories } from './github-repositories.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 90_000;
const OCTOCAT: ScriptedAccount = { id: 1, login: 'octocat', type: 'User' };
const ACME: ScriptedAccount = { id: 2, login: 'acme', type: 'Organization' };
const SHOP = 'acme/shop';
const FIXED =
  'export function total(basket) {\n  return basket.reduce((sum, line) => sum + line.quantity * line.price, 0);\n}\n';

/**
 * The way of an organization whose admins make a GitHub App of their own, over every process of Slipway. GitHub is
 * scripted, its git is real.
 */
jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a GitHub App of an organization, in a browser', () => {
  let folder: string;
  let github: ScriptedGitHub;
  let pages: GitHubPages;
  let repositories: GitHubRepositories;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let owner: SignedInClient;
  let org: { id: string; slug: string };
  let page: Page;
  let broken = false;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-github-app-'));
    const fix = terminal(`cat > src/total.js <<'END'\n${FIXED}END\nnpm test --silent 2>&1 | tail -9`);
    model = await startModelServer({
      script: byAnswersSoFar([fix, finish('The total counts each line as often as its quantity says.')]),
      apiKey: 'sk-of-the-script',
    });
    const deployments = [
      { id: 'scripted/1', provider: 'openai', baseUrl: model.url, apiKeyEnv: 'SCRIPT_KEY', model: 'm' },
    ];
    await writeFile(path.join(folder, 'models.json'), JSON.stringify({ models: [{ name: 'gpt-5', deployments }] }));
    github = await ScriptedGitHub.start();
    github.tokenForm = 'stateless';
    repositories = await GitHubRepositories.of(github);
    await repositories.add(SHOP, DEMO_PROJECT.files, [OCTOCAT]);
    pages = new GitHubPages(github, { user: OCTOCAT, account: ACME, repositories: [SHOP] });
    github.elsewhere = (request, response) => pages.answer(request, response) || repositories.answer(request, response);
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], INTEGRATION_PRIVATE_HOSTS: github.host },
        ...{ LLM_MODELS_FILE: path.join(folder, 'models.json'), SCRIPT_KEY: 'sk-of-the-script' },
      },
      log: () => {},
      signal: AbortSignal.timeout(2 * SLOW),
      without: ['sandbox-gateway'],
    });
    owner = await signIn(stack.url);
    org = (await (
      await owner.fetch('/api/v1/orgs', { method: 'POST', json: { name: 'Acme Robotics', slug: 'acme-robotics' } })
    ).json()) as typeof org;
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
    github?.close();
    await repositories?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const step = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/github-app-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };
  /** Seen as a user and as axe. */
  const look = async (where: string): Promise<void> => {
    const directory = process.env['PICTURES'];
    if (directory !== undefined) {
      await mkdir(directory, { recursive: true });
      for (const width of [1440, 390])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 1600 });
          await page.emulateMedia({ colorScheme });
          await page.screenshot({
            path: path.join(directory, `${where.replaceAll(' ', '-')}-${width}-${colorScheme}.png`),
          });
        }
    }
    await expectClean(page, where);
  };
  const dialog = (): Locator => page.getByRole('dialog');
  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const appId = (): number => [...github.apps.keys()].at(-1) ?? 0;
  const installation = (): number => pages.installed.at(-1)?.id ?? 0;
  let connection = '';
  const read = async <T>(rest = ''): Promise<T> =>
    (await (await owner.fetch(`/api/v1/orgs/${org.id}/integrations/connections/${connection}${rest}`)).json()) as T;
  const seen = (): Promise<IntegrationConnection> => read<IntegrationConnection>();
  const reasons = async (): Promise<(string | null)[]> =>
    (await read<IntegrationDeliveryPage>('/deliveries')).data.map(({ reason }) => reason?.code ?? null);

  step('is made from a manifest, which the admin confirms at GitHub, and comes back as a connection', async () => {
    await page.goto(`${stack.url}/${org.slug}/admin/integrations`);
    await press('Connect');
    await dialog().getByLabel('Provider', { exact: true }).selectOption('github');
    await dialog().getByLabel('Connect with').selectOption('own');
    await look('app form');
    await dialog().getByLabel('Organization at the provider').fill('acme');
    await dialog().getByLabel('Host').fill(github.host);
    await dialog().getByText('More settings').click();
    await dialog().getByLabel('Base URL').fill('http://elsewhere.example.test');
    await press('Create GitHub App');
    await dialog()
      .getByText(/is not at 127\.0\.0\.1/)
      .waitFor();
    await look('app form refused');
    await dialog().getByLabel('Base URL').fill(github.url);
    await press('Create GitHub App');
    await press('Create GitHub App Slipway Acme Robotics');
    await page.getByText('Not installed', { exact: true }).first().waitFor();
    expect(new URL(page.url()).origin).toBe(stack.url);
    connection = page.url().split('/').at(-1) ?? '';
    await look('app registered');
    for (const secret of [github.apps.get(appId())?.clientSecret, github.apps.get(appId())?.webhookSecret])
      expect(await page.content()).not.toContain(secret);
  });

  step('is not installed by a user whom GitHub does not call an owner; the page says what to do', async () => {
    github.roles.set('octocat acme', 'member');
    await press('Install');
    await press('Install on acme');
    await page.getByText('Nothing was changed.', { exact: false }).waitFor();
    await look('app not administered');
    await press('Dismiss');
    github.roles.set('octocat acme', 'admin');
  });

  step('is installed by an owner, and claims the account', async () => {
    await page.getByRole('link', { name: 'Slipway Acme Robotics', exact: true }).click();
    await press('Install');
    await press('Install on acme');
    await page.getByText('1 repository of acme').waitFor();
    await look('app installed');
  });

  step('lets its users link their accounts by its own client', async () => {
    await page.goto(`${stack.url}/settings/linked-accounts`);
    await page.getByRole('button', { name: /^Link an account at/ }).click();
    await press('Authorize as octocat');
    await dialog().getByRole('button', { name: 'Link', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'octocat' }).waitFor();
  });

  step('makes a labelled issue a conversation, which ends in a pull request that the issue hears of', async () => {
    expect(
      await github.deliver(appId(), 'issues', repositories.labelled(SHOP, 'slipway', OCTOCAT, installation())),
    ).toBe(200);
    const comment = await until('a comment', () => repositories.comments.find(({ on }) => on === 12) ?? null, SLOW);
    expect(repositories.reactions).toEqual(['12 eyes']);
    const link = new RegExp(`${stack.url}/\\S+/conversations/[0-9a-f-]{36}`).exec(comment.body)?.[0];
    expect(link).toBeDefined();
    await page.goto(link ?? '');
    await page.locator('header').getByText('Finished', { exact: true }).waitFor();
    const card = page.getByRole('region', { name: 'Pull request' });
    await card.getByText('The check passed', { exact: true }).waitFor();
    await look('app pull request');
    const [pull] = repositories.pulls;
    expect(pull).toMatchObject({ base: 'main', body: expect.stringContaining('Fixes #12') });
    await until(
      'the comment names the pull request',
      () => comment.body.includes(`/${SHOP}/pull/${pull?.number}`),
      SLOW,
    );
    expect(repositories.comments.filter(({ on }) => on === 12)).toHaveLength(1);
    expect(await repositories.repository(SHOP).changedFiles('main', pull?.head ?? '')).toEqual(['src/total.js']);
  });

  step('called GitHub by tokens for that repository alone, each with the rights of its step', async () => {
    const wide = github.minted.filter(
      (each) => each.repositories === null && JSON.stringify(each.permissions) !== '{"metadata":"read"}',
    );
    expect([wide, repositories.refused]).toEqual([[], []]);
    expect(
      github.minted.filter(({ permissions }) => permissions['contents'] === 'write').map((each) => each.repositories),
    ).toContainEqual([SHOP]);
    expect(JSON.stringify(model.requests)).not.toContain('ghs_');
  });

  step('shows what it delivered and that it was uninstalled; what is delivered afterwards starts nothing', async () => {
    await page.goto(`${stack.url}/${org.slug}/admin/integrations/${connection}`);
    await page.getByText('A conversation was started.').waitFor();
    expect(await page.getByRole('heading', { name: 'Webhooks' }).count()).toBe(0);
    await look('app deliveries');
    const id = installation();
    const again = repositories.labelled(SHOP, 'slipway', OCTOCAT, id);
    github.installations.delete(id);
    expect(
      await github.deliver(appId(), 'installation', { action: 'deleted', installation: { id }, sender: OCTOCAT }),
    ).toBe(200);
    await until('it is uninstalled', async () => (await seen()).app?.state === 'removed', SLOW);
    await page.reload();
    await page.getByText('Uninstalled', { exact: true }).first().waitFor();
    await look('app uninstalled');
    await github.deliver(appId(), 'issues', { ...again, label: { id: 4, name: 'slipway' } });
    await until(
      'the last is decided',
      async () => (await reasons()).every((each) => each !== null) && (await reasons()).length === 3,
      SLOW,
    );
    expect((await reasons()).filter((each) => each === 'conversation-started')).toHaveLength(1);
    await page.getByRole('link', { name: 'All integrations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Integrations', exact: true }).waitFor();
    await page.getByRole('row').getByText('The app was uninstalled at the provider.', { exact: false }).waitFor();
    await look('app list');
    expect(complaints).toEqual([]);
  });
});
