import type { Page } from 'playwright-core';

/** What the step of first-task.test.ts has. */
interface Harness {
  readonly page: Page;
  /** Waits until the header says this. */
  readonly status: (name: string) => Promise<void>;
  readonly axeClean: (where: string) => Promise<void>;
}

/** The user turns confirmation on, rejects with a reason, approves, and turns it off again. */
export async function answerTheAgent({ page, status, axeClean }: Harness): Promise<void> {
  const card = page.getByRole('region', { name: 'Approval' });
  const ask = async (mode: string): Promise<void> => {
    await page.getByRole('button', { name: 'Asks for approval' }).click();
    await page.getByRole('menuitemradio', { name: mode }).click();
  };
  const say = async (text: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
    await page.getByRole('button', { name: /^Send/ }).click();
  };
  await ask('Before every step');
  await say('Count to 3');
  await card.getByRole('group', { name: 'Requested action' }).waitFor({ timeout: 30_000 });
  await status('Waiting for approval');
  await axeClean('an agent that asks');
  await page.setViewportSize({ width: 390, height: 844 });
  await axeClean('an agent that asks, on a phone');
  await page.setViewportSize({ width: 1440, height: 900 });
  await card.getByRole('button', { name: 'Reject with reply…' }).click();
  await card.getByRole('textbox').fill('Not now: look around instead.');
  await axeClean('a rejection with its reason');
  await card.getByRole('button', { name: 'Reject', exact: true }).click();
  await card.waitFor({ state: 'detached' });
  await page.getByRole('log', { name: 'Timeline' }).getByText('rejected', { exact: true }).last().waitFor();
  await status('Finished');

  await say('Count to 2');
  await card.getByRole('button', { name: 'Approve', exact: true }).click({ timeout: 30_000 });
  await card.waitFor({ state: 'detached' });
  await status('Finished');
  await ask('Never');
}
