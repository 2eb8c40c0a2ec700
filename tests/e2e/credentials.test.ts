import { generateKeyPairSync } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import type { Locator, Page } from 'playwright-core';
import { findChromium, violations } from './browser.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';

const executable = findChromium();
const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('brokered credentials, in a browser', () => {
  let own: SignedInStack;
  let page: Page;
  let org: { id: string; slug: string };

  beforeAll(async () => {
    own = await startSignedInStack({
      executable,
      name: 'credentials',
      without: ['sandbox-gateway'],
      serviceEnv: {
        'app-server': {
          EGRESS_CONTROL_SECRET: 'egress-control-of-a-test-0123456789ab',
          CREDENTIAL_CONTROL_SECRET: 'credential-control-of-a-test-01234567',
          INTERNAL_PORT: '0',
        },
      },
    });
    ({ page } = own);
    org = await post('', { name: 'Acme Robotics', slug: 'acme-robotics' });
  });
  afterAll(() => own?.close());

  async function post<Answer>(rest: string, data: object): Promise<Answer> {
    const answer = await page.request.post(`${own.stack.url}/api/v1/orgs${rest}`, {
      data,
      headers: { origin: own.stack.url },
    });
    expect({ rest, status: answer.status() }).toEqual({ rest, status: 201 });
    return (await answer.json()) as Answer;
  }
  const open = async (): Promise<void> => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/credentials`);
    await page.getByRole('heading', { level: 1, name: 'Credentials' }).waitFor();
  };
  const clean = async (name: string): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    for (const width of [390, 1440])
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        if (folder !== undefined) {
          await mkdir(folder, { recursive: true });
          await page.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`) });
        }
        const found = await violations(page);
        expect({ name, width, colorScheme, found }).toEqual({ name, width, colorScheme, found: [] });
      }
  };
  const row = (name: string): Locator =>
    page.getByRole('table', { name: 'Credentials' }).getByRole('row').filter({ hasText: name });
  const newOne = (): Locator => page.getByRole('button', { name: 'New credential', exact: true });
  const dialog = (): Locator => page.getByRole('dialog');
  const place = (number: number): Locator => dialog().getByRole('group', { name: `Place ${number}`, exact: true });
  const act = async (name: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  const add = async (): Promise<void> => {
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await dialog().waitFor({ state: 'detached' });
  };

  it('are explained where there is none, and begin with a preset that is narrow', async () => {
    await open();
    await page.getByText(/put into an agent’s requests after they have left the sandbox/).waitFor();
    await clean('credentials-none');
    await newOne().focus();
    await page.keyboard.press('Enter');
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect(await newOne().evaluate((button) => button === document.activeElement)).toBe(true);
    await newOne().click();
    await dialog().getByLabel('Start from').selectOption({ label: 'GitHub git' });
    expect([
      await dialog().getByLabel('Name', { exact: true }).inputValue(),
      await dialog().getByLabel('Form').inputValue(),
      await place(1).getByLabel('Host', { exact: true }).inputValue(),
      await place(1).getByRole('checkbox', { name: 'Git only' }).isChecked(),
      await place(1).getByLabel('Branches for pushes').inputValue(),
    ]).toEqual(['GITHUB_TOKEN', 'basic', 'github.com', true, 'refs/heads/slipway/**']);
    await clean('credentials-form');
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog().getByLabel('Value', { exact: true }).fill('ghp_of-a-test');
    await add();
    await page.getByText('GITHUB_TOKEN added. Agents use it from their next request on.').waitFor();
    await row('GITHUB_TOKEN').getByText('Basic (git)').waitFor();
    await row('GITHUB_TOKEN').getByText('git, pushes to refs/heads/slipway/**').waitFor();
    await row('GITHUB_TOKEN').getByText('Active').waitFor();
  });

  it('are refused with words at the field, also inside a place', async () => {
    await newOne().click();
    await dialog().getByLabel('Name', { exact: true }).fill('MAIL_KEY');
    await dialog().getByLabel('Form').selectOption({ label: 'Header' });
    await dialog().getByLabel('Header name').fill('X-Mail-Key');
    await dialog().getByLabel('Value', { exact: true }).fill('key-of-a-test');
    await place(1).getByLabel('Host', { exact: true }).fill('localhost');
    await place(1).getByLabel('Paths').fill('v3');
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await place(1)
      .getByText(/is not the name of a host/)
      .waitFor();
    await place(1)
      .getByText(/is not a path/)
      .waitFor();
    await until('the first wrong field has the focus', () =>
      place(1)
        .getByLabel('Host', { exact: true })
        .evaluate((field) => field === document.activeElement),
    );
    await clean('credentials-refused');
    await page.setViewportSize({ width: 1440, height: 900 });
    await place(1).getByLabel('Host', { exact: true }).fill('co.uk');
    await place(1).getByLabel('Paths').fill('/v3/**\n/v4/*');
    await place(1).getByLabel('Methods').selectOption({ label: 'Chosen methods' });
    await place(1).getByRole('checkbox', { name: 'POST' }).check();
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await place(1)
      .getByText(/public suffix/)
      .waitFor();
    await place(1).getByLabel('Host', { exact: true }).fill('api.mail.example.com');
    await dialog().getByRole('button', { name: 'Add a place' }).click();
    await place(2).getByLabel('Host', { exact: true }).fill('upload.mail.example.com');
    await dialog().getByLabel('Scope').selectOption({ label: 'Conversations in an environment' });
    await dialog().getByLabel('Environment').fill('staging');
    await add();
    await row('MAIL_KEY').getByText('POST, 2 paths').waitFor();
    await row('MAIL_KEY').getByText('All methods, every path').waitFor();
    await row('MAIL_KEY').getByText('environment staging').waitFor();
  });

  it('of an OAuth client name its token URL, which is checked like a place', async () => {
    await newOne().click();
    await dialog().getByLabel('Name', { exact: true }).fill('CRM_CLIENT');
    await dialog().getByLabel('Form').selectOption({ label: 'OAuth client' });
    await dialog().getByLabel('Client ID').fill('agents');
    await dialog().getByLabel('Scopes').fill('crm.read crm.write');
    await dialog().getByLabel('Client secret').fill('client-secret-of-a-test');
    await place(1).getByLabel('Host', { exact: true }).fill('crm.example.com');
    await dialog().getByLabel('Token URL').fill('https://keycloak.internal/token');
    await clean('credentials-oauth');
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await dialog()
      .getByText(/keycloak.internal is not of the internet/i)
      .waitFor();
    await dialog().getByLabel('Token URL').fill('https://login.example.com/oauth2/token');
    await add();
    await row('CRM_CLIENT').getByText('OAuth client').waitFor();
  });

  it('are edited: other places need the value again, another description does not', async () => {
    await act('MAIL_KEY', 'Edit…');
    await dialog().getByLabel('Description').fill('Of the mail service');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await row('MAIL_KEY').getByText('Of the mail service').waitFor();
    await act('MAIL_KEY', 'Edit…');
    await dialog().getByRole('button', { name: 'Remove place 2' }).click();
    await dialog().getByText('Enter the value again').waitFor();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog()
      .getByText(/is needed again with another use/)
      .waitFor();
    await clean('credentials-edit');
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog().getByLabel('Value', { exact: true }).fill('another-key-of-a-test');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('MAIL_KEY saved. It applies to the next request.').first().waitFor();
    await row('MAIL_KEY').getByText('upload.mail.example.com').waitFor({ state: 'detached' });
  });

  it('rest after a place has sent one back, until an admin uses it again', async () => {
    const client = new pg.Client({ connectionString: own.stack.ownerUrl });
    await client.connect();
    await client.query("UPDATE app.credential SET state = 'resting' WHERE name = 'MAIL_KEY'");
    await client.end();
    await open();
    await row('MAIL_KEY').getByText('Resting').waitFor();
    await row('MAIL_KEY').getByText('A place sent its value back.').waitFor();
    await clean('credentials');
    await page.setViewportSize({ width: 1440, height: 900 });
    await row('MAIL_KEY').getByRole('button', { name: 'Use again' }).click();
    await row('MAIL_KEY').getByText('Active').waitFor();
  });

  it('keep no value where the other side trusts this installation, and several lines where it is a key', async () => {
    await newOne().click();
    await dialog().getByLabel('Start from').selectOption({ label: 'Workload identity' });
    expect(await dialog().getByLabel('Value', { exact: true }).count()).toBe(0);
    await dialog().getByLabel('Audience', { exact: true }).fill('https://api.acme.example.com');
    await place(1).getByLabel('Host', { exact: true }).fill('api.acme.example.com');
    await clean('credentials-workload');
    await page.setViewportSize({ width: 1440, height: 900 });
    await add();
    await row('WORKLOAD_TOKEN').getByText('Workload token').waitFor();
    await newOne().click();
    await dialog().getByLabel('Name', { exact: true }).fill('GRANT');
    await dialog().getByLabel('Form').selectOption({ label: 'OAuth refresh token' });
    await dialog().getByLabel('Token URL').fill('https://login.acme.example.com/token');
    await dialog().getByLabel('Client ID').fill('agents');
    await dialog().getByLabel('Refresh token', { exact: true }).fill('refresh-of-a-test');
    await place(1).getByLabel('Host', { exact: true }).fill('mail.acme.example.com');
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await dialog().getByText('has no clientSecret').waitFor();
    await dialog().getByLabel('Client secret', { exact: true }).fill('secret-of-a-test');
    await clean('credentials-refresh-token');
    await page.setViewportSize({ width: 1440, height: 900 });
    await add();
    await row('GRANT').getByText('OAuth refresh token').waitFor();
    await newOne().click();
    await dialog().getByLabel('Start from').selectOption({ label: 'GitHub App' });
    await dialog().getByLabel('App ID').fill('1234');
    await dialog().getByLabel('Installation ID').fill('42');
    await dialog().getByLabel('Account').fill('acme');
    await dialog().getByLabel('Private key of the App').fill('no key');
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await dialog().getByText('is no private key as PEM').waitFor();
    await dialog().getByLabel('Private key of the App').fill(KEY);
    await clean('credentials-github-app');
    await page.setViewportSize({ width: 1440, height: 900 });
    await add();
    await row('GITHUB_APP').getByText('GitHub App').waitFor();
    const client = new pg.Client({ connectionString: own.stack.ownerUrl });
    await client.connect();
    await client.query(
      "UPDATE app.credential SET state = 'resting', resting_reason = 'refresh-lost' WHERE name = 'GRANT'",
    );
    await client.end();
    await open();
    await row('GRANT')
      .getByText(/An answer of the authorization server was lost/)
      .waitFor();
    await clean('credentials-resting-grant');
  });

  it('are made from a secret, which is gone then', async () => {
    for (const name of ['SERVICE_TOKEN', 'DATABASE_PASSWORD'])
      await post(`/${org.id}/secrets`, { name, value: `${name}-of-a-test` });
    await newOne().click();
    await dialog().getByLabel('Value from').selectOption({ label: 'An existing secret, which moves here' });
    await dialog().getByLabel('Secret', { exact: true }).selectOption({ label: 'SERVICE_TOKEN' });
    await dialog().getByText('The value moves here and the secret is deleted.').waitFor();
    expect(await dialog().getByLabel('Name', { exact: true }).inputValue()).toBe('SERVICE_TOKEN');
    await place(1).getByLabel('Host', { exact: true }).fill('api.service.example.com');
    await clean('credentials-move');
    await page.setViewportSize({ width: 1440, height: 900 });
    await add();
    await row('SERVICE_TOKEN').getByText('Bearer token').waitFor();
    await page.goto(`${own.stack.url}/${org.slug}/admin/secrets`);
    await page.getByRole('row').filter({ hasText: 'DATABASE_PASSWORD' }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'SERVICE_TOKEN' }).count()).toBe(0);
  });

  it('are all that agents work with once secrets stay out of sandboxes, which names them before it is saved', async () => {
    await open();
    await page.getByRole('radio', { name: 'Brokered credentials only' }).check();
    await page.getByText('1 secret no longer reaches agents').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'DATABASE_PASSWORD' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).scrollIntoViewIfNeeded();
    await clean('credentials-brokered-only');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Saved\. It applies to the next start of a sandbox\./).waitFor();
    await open();
    await until('it is kept', () => page.getByRole('radio', { name: 'Brokered credentials only' }).isChecked());
  });

  it('are revoked at once, and no value was ever on the page', async () => {
    await act('GITHUB_TOKEN', 'Revoke now…');
    await dialog()
      .getByText(/are ended within a second/)
      .waitFor();
    await clean('credentials-revoke');
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog().getByRole('button', { name: 'Revoke now' }).click();
    await page.getByText('GITHUB_TOKEN is revoked.').waitFor();
    await row('GITHUB_TOKEN').waitFor({ state: 'detached' });
    await open();
    await row('MAIL_KEY').waitFor();
    expect(await page.content()).not.toMatch(/of-a-test/);
    expect(own.complaints).toEqual([]);
  });

  it('has rules for requests beside it: read only, methods and paths, where there is a broker', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    const table = page.getByRole('table', { name: 'Rules' });
    const dialog = page.getByRole('dialog', { name: 'New rule' });
    await page.getByRole('button', { name: 'New rule' }).click();
    await dialog.getByLabel('Host', { exact: true }).fill('docs.example.com');
    await dialog.getByLabel('Methods').selectOption({ label: 'Read only (GET, HEAD, OPTIONS)' });
    await clean('rule-limits');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    const row = (host: string) => table.getByRole('row').filter({ hasText: host });
    await row('docs.example.com').getByText('Read only (GET, HEAD, OPTIONS)').waitFor();
    await page.getByRole('button', { name: 'New rule' }).click();
    await dialog.getByLabel('Host', { exact: true }).fill('api.example.com');
    await dialog.getByLabel('Methods').selectOption({ label: 'Chosen methods' });
    for (const method of ['GET', 'POST']) await dialog.getByLabel(method, { exact: true }).check();
    await dialog.getByLabel('Paths').fill('no path');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByText(/is not a path/i).waitFor();
    await dialog.getByLabel('Paths').fill('/v1/**\n/v2/things');
    await dialog.getByLabel('Allow credentials of the sandbox').check();
    await dialog.getByLabel('Allow WebSockets').check();
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    for (const words of ['GET, POST', '/v2/things', 'with WebSockets', 'with credentials of the sandbox'])
      await row('api.example.com').getByText(words).waitFor();
    await clean('rules-limited');
  });

  it('has new packages kept away beside it, which names their hosts', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    const packages = page.getByRole('region', { name: 'New packages' });
    const age = packages.getByLabel('Minimum age of a file (days)');
    const hosts = packages.getByLabel('Package hosts');
    const save = packages.getByRole('button', { name: 'Save' });
    await age.fill('7');
    await save.click();
    await packages.getByText('names the hosts of package files where they have a minimum age').waitFor();
    await hosts.fill('https://files.example.com');
    await save.click();
    await packages.getByText(/is not the name of a host/).waitFor();
    await packages.scrollIntoViewIfNeeded();
    await clean('new-packages-refused');
    await page.setViewportSize({ width: 1440, height: 900 });
    await hosts.fill('Files.example.com\n*.cdn.example.com');
    await save.click();
    await page.getByText('Saved. It applies to the next download.').waitFor();
    await page.reload();
    expect([await age.inputValue(), await hosts.inputValue()]).toEqual(['7', 'files.example.com\n*.cdn.example.com']);
    await packages.scrollIntoViewIfNeeded();
    await clean('new-packages');
  });
});
