import { oneTimeCode, until } from '@slipway/testing';
import { expect } from 'expect';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { expectClean } from './browser.ts';

/** What the steps of admin.test.ts have. */
interface Desk {
  readonly owner: Page;
  readonly member: Page;
  readonly orgId: string;
  /** May read and write everything. */
  readonly databaseUrl: string;
  /** Opens a page of the organization and waits for its heading. */
  readonly open: (page: Page, rest: string, name: string) => Promise<void>;
}

/** A member who does not fulfil the rules is led to a sign-in and back, and an admin ends sessions. */
export async function walkSecurityRules({ owner, member, orgId, databaseUrl, open }: Desk): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await open(owner, 'admin/security', 'Sign-in and domains');
    await owner.getByLabel('Maximum session length').selectOption({ label: '1 hour' });
    await owner.getByRole('checkbox', { name: /second factor/ }).click();
    await owner.getByRole('button', { name: 'Save' }).click();
    await owner.getByText('You have not signed in with a second factor yourself').waitFor();
    await owner.getByRole('checkbox', { name: /second factor/ }).click();
    await owner.getByRole('button', { name: 'Save' }).click();
    await owner.getByText('Rules saved. They apply within two seconds.').waitFor();
    await owner.getByRole('table', { name: 'Sessions of members' }).getByText('Grace Hopper').waitFor();
    await expectClean(owner, 'security', 'everyTheme');

    await open(member, 'admin/api-keys', 'API keys');
    await database.query(
      "UPDATE app.session SET created_at = now() - interval '61 minutes' WHERE user_id = (SELECT id FROM app.user_account WHERE name = 'Grace Hopper')",
    );
    await until('the page asks for it', async () => {
      await member.reload();
      return (await member.getByRole('heading', { level: 1, name: 'Sign in again' }).count()) === 1;
    });
    await expectClean(member, 'sign in again');
    await member.getByRole('link', { name: 'Sign in again' }).click();
    await member.getByLabel('User name or e-mail').fill('grace');
    await member.getByLabel('Password').fill('a long password');
    await member.getByRole('button', { name: 'Sign in' }).click();
    await member.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expect(new URL(member.url()).pathname).toBe('/acme/admin/api-keys');

    await owner.goto(`${new URL(owner.url()).origin}/oauth/login?again=second-factor&redirect=/acme/admin/security`);
    await owner.getByLabel('User name or e-mail').fill('demo');
    await owner.getByLabel('Password').fill('demo');
    await owner.getByRole('button', { name: 'Sign in' }).click();
    await owner.getByRole('img', { name: 'QR code of the key below' }).waitFor();
    await expectClean(owner, 'set up a second factor');
    await owner.getByLabel('Code that the app shows').fill(oneTimeCode(await owner.locator('#secret').innerText()));
    await owner.getByRole('button', { name: 'Set up' }).click();
    await owner.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    await expectClean(owner, 'recovery codes');
    await owner.getByRole('button', { name: 'I have kept them' }).click();
    await owner.getByRole('heading', { level: 1, name: 'Sign-in and domains' }).waitFor();
    const { rows } = await database.query(
      "SELECT s.second_factor FROM app.session s JOIN app.membership m USING (user_id) WHERE m.org_id = $1 AND m.role = 'owner' ORDER BY s.created_at DESC LIMIT 1",
      [orgId],
    );
    expect(rows).toEqual([{ second_factor: true }]);
    await owner.getByRole('checkbox', { name: /second factor/ }).click();
    await owner.getByRole('button', { name: 'Save' }).click();
    await until('the page asks for it', async () => {
      await member.reload();
      return (await member.getByRole('heading', { level: 1, name: 'Second factor required' }).count()) === 1;
    });
    await expectClean(member, 'Second factor required');

    await owner.getByRole('button', { name: 'Sign out all browsers of Grace Hopper' }).first().click();
    await owner.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await owner.getByText('One browser of Grace Hopper was signed out.').waitFor();
    await member.reload();
    await member.waitForURL('**/login?redirect=**');
  } finally {
    await database.end();
  }
}
