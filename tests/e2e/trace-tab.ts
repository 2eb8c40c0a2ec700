import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Page } from 'playwright-core';

/** What the step of first-task.test.ts has. */
interface Harness {
  readonly page: Page;
  readonly axeClean: (where: string) => Promise<void>;
}

/** The user sees what took long: by key from the first turn to a call, and from there to its row of the timeline. */
export async function readTheTrace({ page, axeClean }: Harness): Promise<void> {
  const address = page.url();
  await page.getByRole('tab', { name: 'Trace' }).click();
  const grid = page.getByRole('treegrid', { name: 'Trace by turn' });
  await page.getByText(/went to .*Longest step/).waitFor();
  await grid.getByRole('row', { name: /1\. Count to 40/ }).waitFor();
  await axeClean('the trace');
  await grid.focus();
  await page.keyboard.press('Home');
  const activeText = async (): Promise<string> => {
    const id = await grid.getAttribute('aria-activedescendant');
    return id === null ? '' : page.locator(`[id="${id}"]`).innerText();
  };
  await until('the first turn is active', async () => (await activeText()).includes('Count to 40'));
  const before = await grid.getAttribute('aria-rowcount');
  await page.keyboard.press('ArrowLeft');
  await until('the turn is folded', async () => Number(await grid.getAttribute('aria-rowcount')) < Number(before));
  await page.keyboard.press('ArrowRight');
  await until('and open again', async () => (await grid.getAttribute('aria-rowcount')) === before);
  const onlyCritical = page.getByRole('checkbox', { name: /Critical path only/ });
  await onlyCritical.check();
  await until(
    'steps beside the critical path are gone',
    async () => Number(await grid.getAttribute('aria-rowcount')) < Number(before),
  );
  await onlyCritical.uncheck();
  await grid.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('log', { name: 'Timeline' }).getByText('Count to 40').first().waitFor();
  expect(await grid.getByRole('row').count()).toBeLessThan(80);
  await page.goto(address);
}
