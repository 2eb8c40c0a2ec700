import { expect } from 'expect';
import type { Page } from 'playwright-core';
import { expectClean } from './browser.ts';

/** What the steps of admin.test.ts have. */
interface Desk {
  readonly owner: Page;
  readonly member: Page;
  /** Opens a page of the organization and waits for its heading. */
  readonly open: (page: Page, rest: string, name: string) => Promise<void>;
}

/** An owner has prompts kept, a member reads it where they write, and it is over again. */
export async function keepPrompts({ owner, member, open }: Desk): Promise<void> {
  await open(member, '', 'New task');
  expect(await member.getByText(/keeps prompts and answers/).count()).toBe(0);
  await open(owner, 'admin/settings', 'Settings');
  await owner.getByLabel('Store prompts and answers').check();
  await owner.getByLabel('Retention (days)').fill('30');
  await owner.getByRole('button', { name: 'Save' }).click();
  await owner.getByText('Settings saved.').first().waitFor();
  await owner.getByRole('link', { name: 'Export stored prompts' }).waitFor();
  await expectClean(owner, 'settings with prompts that are kept', 'everyTheme');
  await member.reload();
  await member.getByText('Acme Robotics keeps prompts and answers for 30 days. Its admins can read them.').waitFor();
  await expectClean(member, 'a new task where prompts are kept', 'everyTheme');
  await owner.getByLabel('Store prompts and answers').uncheck();
  await owner.getByRole('button', { name: 'Save' }).click();
  await owner.getByRole('link', { name: 'Export stored prompts' }).waitFor({ state: 'detached' });
}
