import { createHmac, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { jiraVendor, linearVendor, type ScriptedVendor, slackVendor } from '@slipway/integrations/testing';
import { type ModelServer, type SignedInClient, signIn, startModelServer, until } from '@slipway/testing';
import { type GitLabProject, type GitLabUser, ScriptedGitLab } from '@slipway/testing/gitlab';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { jiraChange, linearSession, slackMessage } from '../../libs/integrations/dist/testing/samples.js';
import { finish } from '../stack/script-book.ts';
import { findChromium, launchChromium, openPage } from './browser.ts';
import { CLIENT, VendorFront } from './vendor-front.ts';

const executable = findChromium();
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 90_000;
const SAID = 'The cart is full again.';
const SECRET = 'the-secret-that-the-vendor-has-made-for-us';
/** Of the account that a connection acts as, as the samples name it. */
const OWN = '999';
const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');

/**
 * Each vendor is scripted, over real HTTP; every process of Slipway runs. The git host comes last: beside one, a thread
 * that names no repository is asked for it.
 */
jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('Slack, Linear, Jira and GitLab, connected in a browser', () => {
  const vendors = { slack: slackVendor(), linear: linearVendor(), jira: jiraVendor() };
  const fronts = {} as Record<'gitlab' | 'slack' | 'linear' | 'jira', VendorFront>;
  let folder: string;
  let gitlab: ScriptedGitLab;
  let shop: GitLabProject;
  let ada: GitLabUser;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let owner: SignedInClient;
  let org: { id: string; slug: string };
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-vendors-'));
    await startVendors();
    model = await startModelServer({ script: () => finish(SAID), apiKey: 'sk-of-the-script' });
    const deployments = [
      { id: 'scripted/1', provider: 'openai', baseUrl: model.url, apiKeyEnv: 'SCRIPT_KEY', model: 'm' },
    ];
    await writeFile(path.join(folder, 'models.json'), JSON.stringify({ models: [{ name: 'gpt-5', deployments }] }));
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        ...{
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          LLM_MODELS_FILE: path.join(folder, 'models.json'),
          SCRIPT_KEY: 'sk-of-the-script',
        },
        INTEGRATION_PRIVATE_HOSTS: Object.values(fronts)
          .map(({ host }) => host)
          .join(','),
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
    for (const each of [...Object.values(fronts), ...Object.values(vendors)]) each.close();
    await gitlab?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const startVendors = async (): Promise<void> => {
    gitlab = await ScriptedGitLab.start();
    ada = gitlab.user('ada');
    const bot = gitlab.user('slipway-bot');
    shop = await gitlab.project({ path: 'ada/shop', owner: ada, files: { 'cart.js': 'export const cart = [];\n' } });
    shop.members.set(bot.id, 40);
    const lasting = { expires_in: 86_400, refresh_token: 'refresh' };
    fronts.gitlab = await VendorFront.start({
      behind: gitlab.url,
      consents: [
        {
          page: '/oauth/authorize',
          token: '/oauth/token',
          grant: () => ({ access_token: gitlab.token(bot, 'api'), scope: 'api', ...lasting }),
        },
      ],
      own: () => undefined,
    });
    const scope = 'app_mentions:read,chat:write,reactions:write,channels:history,groups:history,im:history,im:write';
    fronts.slack = await VendorFront.start({
      behind: await vendors.slack.start(),
      consents: [
        {
          page: '/oauth/v2/authorize',
          token: '/api/oauth.v2.access',
          grant: () => ({ ok: true, access_token: 'xoxb-1', scope }),
        },
      ],
      own: (call) =>
        call === 'POST /api/auth.test'
          ? { ok: true, user_id: OWN, user: 'slipway', team_id: 'T1', team: 'Acme' }
          : undefined,
    });
    fronts.linear = await VendorFront.start({
      behind: await vendors.linear.start(),
      consents: [
        {
          page: '/oauth/authorize',
          token: '/oauth/token',
          grant: () => ({ access_token: 'lin_oauth_1', scope: 'read,write', ...lasting }),
        },
      ],
      own: (call, body) =>
        call === 'POST /graphql' && body.includes('organization {')
          ? { data: { viewer: { id: OWN, name: 'Slipway' }, organization: { id: 'o-1', name: 'Acme' } } }
          : undefined,
    });
    fronts.jira = await VendorFront.start({
      behind: await vendors.jira.start(),
      consents: [
        {
          page: '/rest/oauth2/latest/authorize',
          token: '/rest/oauth2/latest/token',
          grant: () => ({ access_token: 'of-ann', scope: 'READ', ...lasting }),
        },
      ],
      own: (call) => (call === 'GET /rest/api/2/myself' ? { key: 'JIRAUSER7', name: 'ann' } : undefined),
    });
  };

  const step = (name: string, work: () => Promise<void>): void => {
    it(name, async () => {
      try {
        await work();
      } catch (error) {
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/vendors-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };
  const dialog = (): Locator => page.getByRole('dialog');
  const call = async <T>(method: string, rest: string, json: unknown): Promise<T> => {
    const answer = await owner.fetch(`/api/v1/orgs/${org.id}/integrations/connections${rest}`, { method, json });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${rest}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  };
  /** Its page, with the client of the vendor entered. The form of the page names hosts of vendors' own alone. */
  const connect = async (provider: keyof typeof fronts, more: object = {}): Promise<ConnectionWithSecret> => {
    const { host, url } = fronts[provider];
    const made = await call<ConnectionWithSecret>('POST', '', {
      provider,
      name: provider,
      host,
      settings: { baseUrl: url },
      ...more,
    });
    await call('PUT', `/${made.connection.id}/oauth-client`, CLIENT);
    await page.goto(`${stack.url}/${org.slug}/admin/integrations/${made.connection.id}`);
    return made;
  };
  const authorize = async (as: string): Promise<void> => {
    await page.getByRole('button', { name: 'Connect with OAuth' }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await dialog().getByText(as, { exact: true }).waitFor();
    await dialog().getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('button', { name: 'Disconnect' }).waitFor();
  };
  /** As when the owner had linked it. */
  const link = async (provider: keyof typeof fronts, id: string): Promise<void> => {
    const database = new pg.Client({ connectionString: stack.ownerUrl });
    await database.connect();
    try {
      const values = [provider, fronts[provider].host, id, owner.me.id, 'ann'];
      await database.query(
        'INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ($1, $2, $3, $4, $5)',
        values,
      );
    } finally {
      await database.end();
    }
  };
  const deliver = async (
    to: ConnectionWithSecret,
    body: object,
    headersOf: (text: string) => Record<string, string>,
  ): Promise<void> => {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', ...headersOf(text) };
    expect((await fetch(to.connection.address ?? '', { method: 'POST', headers, body: text })).status).toBe(200);
  };
  /** From the log of the connection to the conversation, which shows what the thread says. */
  const follow = async (says: string): Promise<void> => {
    await until(
      'a conversation',
      async () => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        return page.getByText('A conversation was started.').isVisible();
      },
      SLOW,
    );
    await page.getByRole('link', { name: /^Conversation of/ }).click();
    await page.waitForURL(/\/conversations\/[\w-]+$/);
    await page.getByText(says, { exact: false }).first().waitFor();
    await page.locator('header').getByText('Finished', { exact: true }).waitFor();
  };
  const answered = (vendor: ScriptedVendor): Promise<unknown> =>
    until('the answer', () => vendor.messages.some(({ shown }) => shown.includes(SAID)), SLOW);

  step('Slack: a mention starts a conversation, and its thread hears the end of it', async () => {
    const made = await connect('slack', { webhookSecret: SECRET });
    await authorize('slipway');
    await link('slack', 'U7');
    const at = String(Math.floor(Date.now() / 1_000));
    const body = slackMessage(
      { type: 'app_mention', text: `<@${OWN}> fill the cart of Slack`, ts: `${at}.000100` },
      { event_id: randomUUID() },
    );
    await deliver(made, body, (text) => ({
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${hmac(SECRET, `v0:${at}:${text}`)}`,
    }));
    await follow('fill the cart of Slack');
    await answered(vendors.slack);
    expect(vendors.slack.authorizations).toEqual(new Set(['Bearer xoxb-1']));
  });

  step('Linear: an agent session starts a conversation, and hears each state of it', async () => {
    const made = await connect('linear', { webhookSecret: SECRET });
    await authorize('Slipway');
    await link('linear', 'u-7');
    const body = linearSession('created', { webhookTimestamp: Date.now() });
    await deliver(made, body, (text) => ({ 'linear-delivery': randomUUID(), 'linear-signature': hmac(SECRET, text) }));
    await follow('Cart is empty');
    await until(
      'the answer',
      () => vendors.linear.messages.some(({ shown }) => shown.startsWith('response') && shown.includes(SAID)),
      SLOW,
    );
    expect(vendors.linear.authorizations).toEqual(new Set(['Bearer lin_oauth_1']));
  });

  step(
    'Jira Data Center: a user links their account, and a label starts a conversation that the ticket hears of',
    async () => {
      const made = await connect('jira', { kind: 'data-center', token: 'a-personal-access-token' });
      await page.goto(`${stack.url}/settings/linked-accounts`);
      await page.getByRole('button', { name: `Link an account at ${fronts.jira.host} in Acme Robotics` }).click();
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await dialog().getByRole('button', { name: 'Link', exact: true }).click();
      await page.getByRole('row').filter({ hasText: 'ann' }).filter({ hasText: fronts.jira.host }).waitFor();
      const body = {
        ...jiraChange({ field: 'labels', fromString: '', toString: 'slipway' }),
        user: { key: 'JIRAUSER7', name: 'ann' },
      };
      await deliver(made, body, (text) => ({
        'x-atlassian-webhook-identifier': randomUUID(),
        'x-hub-signature': `sha256=${hmac(made.webhookSecret ?? '', text)}`,
      }));
      await page.goto(`${stack.url}/${org.slug}/admin/integrations/${made.connection.id}`);
      await follow('Cart is empty');
      await answered(vendors.jira);
    },
  );

  step('GitLab: a label starts a conversation, and its issue hears the end of it', async () => {
    await connect('gitlab');
    await authorize('slipway-bot');
    await page.getByLabel('Repository', { exact: true }).fill('ada/shop');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('button', { name: 'Repair the webhook of ada/shop' }).waitFor();
    await link('gitlab', String(ada.id));
    const issue = gitlab.openIssue(shop, {
      title: 'Cart is empty',
      description: 'It forgets what was put there.',
      author: ada,
    });
    gitlab.label(shop, issue, 'slipway', ada);
    await follow('It forgets what was put there.');
    await until(
      'the answer',
      () => issue.discussions.some(({ notes }) => notes.some(({ body }) => body.includes(SAID))),
      SLOW,
    );
    expect(complaints).toEqual([]);
  });
});
