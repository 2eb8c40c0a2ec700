import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type SignedInClient, signIn, until } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import pg from 'pg';
import type { Browser, Locator, Page } from 'playwright-core';
import { APP as OAUTH_APP, ScriptedOAuth } from '../../apps/app-server/dist/integrations/linking/scripted-oauth.js';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';
import { deliverLabel, deliverMention, SLACK_SECRET } from './provider-deliveries.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 60_000;
const DELIVERIES = /\/deliveries(?:\?|$)/;

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('an admin connects providers and reads what they deliver, in a browser', () => {
  let folder: string;
  let stack: Stack;
  let browser: Browser;
  let provider: ScriptedOAuth;
  let owner: SignedInClient;
  let org: { id: string; slug: string };
  let page: Page;
  let broken = false;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-integrations-'));
    provider = await ScriptedOAuth.start();
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], INTEGRATION_PRIVATE_HOSTS: provider.host },
      log: () => {},
      signal: AbortSignal.timeout(2 * SLOW),
      // Whether the agent works is not asked here.
      without: ['runtime-api', 'sandbox-gateway'],
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
    provider?.close();
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
        await page?.screenshot({ path: `test-results/integrations-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };
  const picture = async (name: string): Promise<void> => {
    const directory = process.env['PICTURES'];
    if (directory === undefined) return;
    await mkdir(directory, { recursive: true });
    for (const [size, viewport] of Object.entries({ 1440: WIDE, 390: PHONE }))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: path.join(directory, `${name}-${size}-${colorScheme}.png`) });
      }
    await page.setViewportSize(WIDE);
  };
  /** Seen in every theme and size, as a user and as axe. */
  const look = async (where: string): Promise<void> => {
    await picture(where.replaceAll(' ', '-'));
    await expectClean(page, where, 'everyTheme');
  };
  const dialog = (): Locator => page.getByRole('dialog');
  const row = (text: string | RegExp): Locator => page.getByRole('row').filter({ hasText: text });
  const shown = (label: string): Promise<string> =>
    dialog().getByRole('group', { name: label }).locator('code').innerText();
  const openConnection = async (name: string): Promise<void> => {
    await page.goto(`${stack.url}/${org.slug}/admin/integrations`);
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const menu = async (name: string, item: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };

  let address = '';
  let secret = '';

  step('learns what integrations are for, and connects with the keyboard; the secret is there once', async () => {
    await page.goto(`${stack.url}/${org.slug}/admin/integrations`);
    await page.getByText('No connections').waitFor();
    await look('integrations none');
    await page.getByRole('button', { name: 'Connect' }).press('Enter');
    await dialog().getByLabel('Provider', { exact: true }).selectOption('gitea');
    await dialog().getByRole('button', { name: 'Connect' }).press('Enter');
    await until('the host has the focus', () =>
      dialog()
        .getByLabel('Host')
        .evaluate((field) => field === document.activeElement),
    );
    await look('integrations form');
    await dialog().getByLabel('Host').fill('git.example.test');
    await dialog().getByLabel('Name').fill('Gitea of the shop');
    await dialog().getByText('More settings').click();
    await dialog().getByLabel('Base URL').fill('https://elsewhere.example.test');
    await dialog().getByRole('button', { name: 'Connect' }).click();
    await dialog()
      .getByText(/git\.example\.test, the host of the connection/)
      .waitFor();
    await look('integrations refused');
    await dialog().getByLabel('Base URL').fill('');
    await dialog().getByRole('button', { name: 'Connect' }).click();
    await dialog().getByText('Copy it now. It is not shown again.').waitFor();
    [address, secret] = [await shown('Address'), await shown('Secret')];
    expect(address).toMatch(/\/api\/integration\/gitea\/events\/[\w-]+$/);
    expect(secret).toMatch(/^[\w-]{43}$/);
    await dialog()
      .getByText(/Enter the address as Target URL/)
      .waitFor();
    await look('integrations made');
    await dialog().getByRole('button', { name: 'Done' }).click();
    await row('Gitea of the shop').getByText('Unverified').waitFor();
    await page.reload();
    await row('Gitea of the shop').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  step('sees a delivery come in, why it started nothing, and what it would come to now; a body is text', async () => {
    await openConnection('Gitea of the shop');
    await page.getByText('No deliveries yet').waitFor();
    await look('integration unverified');
    expect(await deliverLabel(address, `${secret}x`, 'Forged')).toBe(401);
    expect(await deliverLabel(address, secret, 'Cart is empty')).toBe(200);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await row(/^issues/)
      .getByText('The actor has not linked their account with a Slipway user.')
      .waitFor();
    expect(await page.getByRole('table', { name: 'Deliveries' }).getByRole('row').count()).toBe(2);
    await page.getByText('Waiting for the first delivery').waitFor({ state: 'detached' });
    await look('integration active');
    await page.getByRole('button', { name: /^Details of issues/ }).press('Enter');
    await dialog()
      .getByRole('region', { name: 'Headers' })
      .getByText('x-gitea-event: issues', { exact: false })
      .first()
      .waitFor();
    expect(await dialog().getByRole('region', { name: 'Body' }).innerText()).toContain('onerror=');
    expect(await dialog().locator('img').count()).toBe(0);
    expect(await dialog().innerText()).not.toContain('x-gitea-signature');
    await dialog().getByRole('button', { name: 'Dry run' }).click();
    const result = dialog().getByRole('region', { name: 'Dry run' });
    await result.getByText('none: the account is not linked').waitFor();
    expect(await result.innerText()).toMatch(/Label[\s\S]*ann \(ID 7\)[\s\S]*Cart is empty[\s\S]*acme\/shop/);
    await look('delivery with dry run');
    const back = page.url();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await page.goto(back);
    await dialog().getByRole('button', { name: 'Redeliver' }).waitFor();
    await page.keyboard.press('Escape');
  });

  step('disables the connection; what came meanwhile is decided by what holds once it is redelivered', async () => {
    await menu('Gitea of the shop', 'Disable…');
    await dialog()
      .getByText(/start nothing/)
      .waitFor();
    await look('integration disable');
    await dialog().getByRole('button', { name: 'Disable' }).click();
    await page.getByText('The connection is disabled', { exact: true }).waitFor();
    expect(await deliverLabel(address, secret, 'Another')).toBe(200);
    await page.getByRole('button', { name: 'Refresh' }).click();
    const late = row('The connection is disabled.');
    await late.waitFor();
    await menu('Gitea of the shop', 'Enable…');
    await dialog().getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Gitea of the shop enabled.').waitFor();
    await late.getByRole('button', { name: /^Details/ }).click();
    await dialog().getByRole('button', { name: 'Redeliver' }).click();
    await dialog().getByText('The actor has not linked their account with a Slipway user.').waitFor();
    await page.keyboard.press('Escape');
    await late.waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Decision' }).selectOption('done');
    await page.getByText('No deliveries match the filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await until(
      'both are there',
      async () => (await page.getByRole('table', { name: 'Deliveries' }).getByRole('row').count()) === 3,
    );
  });

  step('changes settings and replaces the secret; the old one is taken for another day', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Labels').fill('agent, slipway');
    await dialog().getByText('More settings').click();
    await dialog().getByLabel('Publish automatically').uncheck();
    await look('integration edit');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('agent, slipway').waitFor();
    const saved = await owner.fetch(`/api/v1/orgs/${org.id}/integrations/connections/${address.split('/').at(-1)}`);
    expect(await saved.json()).toMatchObject({ settings: { labels: ['agent', 'slipway'], publish: 'offered' } });
    await menu('Gitea of the shop', 'Replace secret…');
    await dialog().getByRole('button', { name: 'Create new secret' }).click();
    const next = await shown('Secret');
    expect(next).not.toBe(secret);
    await look('integration secret replaced');
    await dialog().getByRole('button', { name: 'Done' }).click();
    await page.getByText('Old secret', { exact: true }).waitFor();
    for (const each of [secret, next]) expect(await deliverLabel(address, each, 'Signed by either')).toBe(200);
  });

  step('connects Slack by the secret that Slack made, and opens the conversation that a mention started', async () => {
    await page.goto(`${stack.url}/${org.slug}/admin/integrations`);
    await page.getByRole('button', { name: 'Connect' }).click();
    await dialog().getByLabel('Provider', { exact: true }).selectOption('slack');
    await dialog().getByLabel('Signing secret').fill(SLACK_SECRET);
    await dialog().getByText('More settings').click();
    await dialog().getByLabel('IDs of Slipway’s own account').fill('U0');
    await dialog().getByRole('button', { name: 'Connect' }).click();
    await dialog()
      .getByText(/Enter the address as Request URL/)
      .waitFor();
    expect(await dialog().innerText()).not.toContain(SLACK_SECRET);
    const events = await shown('Address');
    await dialog().getByRole('link', { name: 'Open connection' }).click();
    await page.getByRole('heading', { level: 1, name: 'Slack', exact: true }).waitFor();
    await linkAccount('slack', 'slack.com', 'U7');
    expect(await deliverMention(events)).toBe(200);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await row(/^app_mention/)
      .getByText('A conversation was started.')
      .waitFor();
    await page.getByRole('link', { name: 'Conversation of app_mention' }).click();
    await page.waitForURL(/\/conversations\/[\w-]+$/);
    await page.getByText('fix the cart').first().waitFor();
  });

  /** As when the owner had linked it. */
  const linkAccount = async (provider: string, host: string, id: string): Promise<void> => {
    const database = new pg.Client({ connectionString: stack.ownerUrl });
    await database.connect();
    try {
      await database.query(
        'INSERT INTO app.external_identity (provider, host, external_user_id, user_id, login) VALUES ($1, $2, $3, $4, $5)',
        [provider, host, id, owner.me.id, 'ann'],
      );
    } finally {
      await database.end();
    }
  };

  /** A user signed in at GitLab allows everything. */
  const allow = (account: object): void => {
    provider.grants = { scope: 'read_user', expires_in: 7_200 };
    provider.broken.set('/oauth/authorize', (request, response) => {
      const asked = new URL(request.url ?? '', `http://${provider.host}`);
      const back = new URL(asked.searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams(provider.consent(asked.href, account)).toString();
      response.writeHead(302, { location: back.href }).end();
    });
  };

  step('connects an organization by OAuth, sees whom it will act as, and disconnects it', async () => {
    const connections = `/api/v1/orgs/${org.id}/integrations/connections`;
    const json = {
      provider: 'gitlab',
      name: 'GitLab of the shop',
      host: provider.host,
      settings: { baseUrl: `http://${provider.host}` },
    };
    const { connection } = (await (await owner.fetch(connections, { method: 'POST', json })).json()) as {
      connection: { id: string };
    };
    await page.goto(`${stack.url}/${org.slug}/admin/integrations/${connection.id}`);
    await page.getByText('To connect with OAuth, add an OAuth client below first.', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Add OAuth client' }).click();
    await dialog().getByLabel('Client ID').fill(OAUTH_APP.clientId);
    await dialog().getByLabel('Client secret').fill(OAUTH_APP.clientSecret);
    await dialog().getByRole('button', { name: 'Save' }).click();
    await look('integration without credential');
    allow({ id: 12, username: 'slipway-bot' });
    await page.getByRole('button', { name: 'Connect with OAuth' }).click();
    await dialog().getByText('Not granted: api.', { exact: false }).waitFor();
    await look('integration authorization');
    await dialog().getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('A scope is missing at GitLab: api.').waitFor();
    await look('integration authorized');
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await dialog().getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No credential.').waitFor();
    await page.goto(
      `${stack.url}/${org.slug}/admin/integrations/${connection.id}?problem=integration.authorization-declined`,
    );
    await page.getByText('The connection is unchanged.', { exact: false }).waitFor();
    await look('integration declined');
  });

  step('gives a channel a repository of its own, and says what is done in threads', async () => {
    await openConnection('Slack');
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByText('More settings').click();
    await dialog().getByRole('button', { name: 'Add a channel' }).click();
    await dialog().getByRole('textbox', { name: 'Channel 1' }).fill('C0123ABCD');
    await dialog().getByRole('textbox', { name: 'Repository 1' }).fill('git.example.test');
    await dialog().getByLabel('React to requests').uncheck();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByRole('group', { name: 'Channel repositories' }).getByRole('alert').waitFor();
    await look('integration places refused');
    await dialog().getByRole('textbox', { name: 'Repository 1' }).fill('https://git.example.test/acme/shop');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByText('More settings').click();
    expect(await dialog().getByRole('textbox', { name: 'Channel 1' }).inputValue()).toBe('C0123ABCD');
    expect(await dialog().getByLabel('React to requests').isChecked()).toBe(false);
    await dialog().getByRole('textbox', { name: 'Channel 1' }).scrollIntoViewIfNeeded();
    await picture('integration places');
    await page.keyboard.press('Escape');
  });

  step('reads the pages while the line is slow or away, and deletes a connection for good', async () => {
    await page.route('**/integrations/connections', (route) => setTimeout(() => void route.continue(), 1_500));
    await page.goto(`${stack.url}/${org.slug}/admin/integrations`);
    await page.getByRole('status', { name: 'Loading: The connections' }).waitFor();
    await picture('integrations slow');
    await row('Gitea of the shop').waitFor();
    await page.unroute('**/integrations/connections');
    await look('integrations list');
    await page.getByRole('link', { name: 'Gitea of the shop' }).click();
    await page.getByRole('table', { name: 'Deliveries' }).waitFor();
    await page.route(DELIVERIES, (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('This list may be outdated.').waitFor();
    expect(await row(/^issues/).count()).toBeGreaterThan(0);
    await picture('integration server away');
    await page.unroute(DELIVERIES);
    await page.getByRole('button', { name: 'Retry' }).first().click();
    await page.getByText('This list may be outdated.').waitFor({ state: 'detached' });
    await page.context().setOffline(true);
    await page.getByText('You are offline.', { exact: false }).waitFor();
    await picture('integration offline');
    await page.context().setOffline(false);
    await menu('Gitea of the shop', 'Delete…');
    await look('integration delete');
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
    await row('Gitea of the shop').waitFor({ state: 'detached' });
    expect(await deliverLabel(address, secret, 'Too late')).toBe(401);
    expect(complaints.filter((line) => !/ERR_INTERNET_DISCONNECTED|ERR_FAILED/.test(line))).toEqual([]);
  });
});
