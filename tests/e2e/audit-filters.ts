import { expect } from '@jest/globals';
import { until } from '@slipway/testing';
import type { Page } from 'playwright-core';
import { expectClean } from './browser.ts';

/** On the page of the audit: narrows it by a user's name and by days, says what cannot be, and shows all again. */
export async function narrowAudit(page: Page): Promise<void> {
  const actors = async (): Promise<string[]> =>
    page.getByRole('table', { name: 'Audit entries' }).getByTitle('Show only this actor').allInnerTexts();
  const actor = page.getByRole('combobox', { name: 'Actor' });
  await actor.fill('Grace');
  await page.getByRole('option', { name: /Grace Hopper/ }).click();
  await until('every entry is Grace’s', async () => {
    const shown = await actors();
    return shown.length > 0 && shown.every((name) => name.includes('Grace'));
  });
  expect(await actor.inputValue()).toBe('Grace Hopper');
  await page.reload();
  await until('the address keeps the filter', async () => (await actor.inputValue()) === 'Grace Hopper');
  await page.getByLabel('From', { exact: true }).fill('2026-02-02');
  await page.getByLabel('To', { exact: true }).fill('2026-02-01');
  await page.getByText('The last day is before the first.').waitFor();
  await expectClean(page, 'filters of the audit');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until('all actors are back', async () => new Set(await actors()).size > 1);
}
