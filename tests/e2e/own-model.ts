import { expect } from 'expect';
import type { Locator, Page } from 'playwright-core';
import { expectClean } from './browser.ts';

/** What the steps of admin.test.ts have. */
interface Desk {
  readonly owner: Page;
  readonly member: Page;
  /** Opens a page of the organization and waits for its heading. */
  readonly open: (page: Page, rest: string, name: string) => Promise<void>;
  readonly row: (page: Page, text: string | RegExp) => Locator;
}

const KEY = 'sk-of-the-company-0123456789';

/** An owner keeps a model with its key, changes it and deletes it; a member sees it and no more. */
export async function bringModel({ owner, member, open, row }: Desk): Promise<void> {
  await open(owner, 'admin/models', 'Models');
  await owner.getByText('No profiles').waitFor();
  await owner.getByText('slipway-demo').waitFor();
  await expectClean(owner, 'models, none of its own');
  await owner.getByRole('button', { name: 'New profile' }).click();
  await owner.getByLabel('Name', { exact: true }).fill('Ours');
  await owner.getByLabel('Model', { exact: true }).fill('openai/large');
  await owner.getByLabel('Address').fill('http://10.0.0.1/v1');
  await owner.getByLabel('API key').fill(KEY);
  await owner.getByLabel('Temperature').fill('7');
  await owner.getByRole('button', { name: 'Add profile' }).click();
  await owner.locator('[aria-invalid="true"]').waitFor();
  await owner.getByLabel('Temperature').fill('0.2');
  await owner.getByLabel('Address').fill('https://models.example.com/v1');
  await owner.getByRole('button', { name: 'Add profile' }).click();
  await owner.getByText('Ours is available for new tasks.').waitFor();
  await row(owner, 'openai/large').getByText('kept').waitFor();

  await owner.getByRole('button', { name: 'Actions of Ours' }).click();
  await owner.getByRole('menuitem', { name: 'Make default' }).click();
  await row(owner, 'Ours').getByText('Default').waitFor();
  await owner.getByRole('button', { name: 'Actions of Ours' }).click();
  await owner.getByRole('menuitem', { name: 'Edit…' }).click();
  await owner.getByLabel('Model', { exact: true }).fill('openai/larger');
  await expectClean(owner, 'a profile that is edited');
  expect(await owner.getByLabel('API key').inputValue()).toBe('');
  await owner.getByRole('button', { name: 'Save' }).click();
  await row(owner, 'openai/larger').waitFor();
  expect(await owner.content()).not.toContain(KEY);
  await expectClean(owner, 'models', 'everyTheme');

  await open(member, 'admin/models', 'Models');
  await row(member, 'openai/larger').waitFor();
  expect(await member.getByRole('button', { name: /^(New profile|Actions of .*)$/ }).count()).toBe(0);

  await owner.getByRole('button', { name: 'Actions of Ours' }).click();
  await owner.getByRole('menuitem', { name: 'Delete…' }).click();
  await owner.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await owner.getByText('No profiles').waitFor();
}
