import { expect } from 'expect';
import type { Locator } from 'playwright-core';
import { finish } from '../stack/script-book.ts';
import { expectClean } from './browser.ts';
import type { Watching } from './watching.test.ts';

const call = (command: string) => ({ name: 'terminal', arguments: { command } });
/** Longer than a card, and harmful at its very end. */
const LONG = `${Array.from({ length: 60 }, (_, line) => `echo "line ${line} of the long command"`).join('\n')}\ntouch hidden-at-the-end`;

/**
 * Three calls wait: all are shown whole, Approve comes after the last, one is rejected; then "yes" is typed while a
 * diff waits.
 */
export async function approveStepByStep({ page, say, status, timeline, picture }: Watching): Promise<void> {
  const card = page.getByRole('region', { name: 'Approval' });
  await page.getByRole('button', { name: 'Asks for approval' }).click();
  await page.getByRole('menuitemradio', { name: 'Before every step' }).click();
  await say('three', [
    { toolCalls: [call('echo one > one.txt'), call('echo two > two.txt'), call(LONG)] },
    finish('Done.'),
  ]);
  await card.waitFor({ timeout: 30_000 });
  await status('Waiting for approval').waitFor();
  // Nothing has changed yet: what the agent does is beside it.
  await page.getByRole('tab', { name: 'Trace', selected: true }).waitFor();
  const approve = card.getByRole('button', { name: /^Approve/ });
  for (const part of ['echo one > one.txt', 'echo two > two.txt', 'touch hidden-at-the-end'])
    await card.getByText(part).waitFor();
  expect(await approve.isDisabled()).toBe(true);
  await card.getByText('Scroll to the end to approve').waitFor();
  await picture('approval-several');
  await expectClean(page, 'several actions that wait', 'everyTheme');
  while (await card.getByRole('button', { name: 'Show more' }).isVisible()) {
    await card
      .getByRole('button', { name: 'Show more' })
      .click({ timeout: 2_000 })
      .catch(() => {});
  }
  expect(await approve.isDisabled()).toBe(false);
  await card.getByRole('button', { name: 'Approve all 3', exact: true }).waitFor();
  await card.getByRole('group', { name: 'Action 2 of 3' }).getByText('Reject').click();
  await card.getByLabel('Reason for rejecting action 2 of 3').fill('We have one already.');
  await picture('approval-one-rejected');
  await card.getByRole('button', { name: 'Approve 2, reject 1', exact: true }).waitFor();
  await approve.click();
  await card.waitFor({ state: 'detached' });
  // The next steps ask, too: this one ends the work.
  await timeline().getByText('rejected', { exact: true }).waitFor({ timeout: 30_000 });
  await status('Finished').waitFor({ timeout: 30_000 });
  expect(await timeline().getByText('Done.', { exact: true }).count()).toBeGreaterThan(0);
  await page.getByRole('tab', { name: /^Changes/, selected: true }).waitFor();

  await say('edit', [
    {
      toolCalls: [
        {
          name: 'file_editor',
          arguments: { command: 'create', path: 'notes.md', file_text: '# Notes\n\n- a line of the new file\n' },
        },
      ],
    },
    finish('Written.'),
  ]);
  await card.waitFor({ timeout: 30_000 });
  await card.getByRole('figure', { name: /notes\.md$/ }).waitFor();
  await card.getByText('- a line of the new file').waitFor();
  expect(await card.getByText('"file_text"').count()).toBe(0);
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('yes');
  await page.getByRole('button', { name: /^Send/ }).click();
  const question = page.getByRole('alertdialog');
  await question.getByText('A message rejects the requested action').waitFor();
  await picture('approval-typed-yes');
  await expectClean(page, 'a yes that was typed', 'everyTheme');
  await question.getByRole('button', { name: 'Do not send' }).click();
  await status('Waiting for approval').waitFor();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('');
  await approveByKeys(page, card);
  await card.waitFor({ state: 'detached' });
  await status('Finished').waitFor({ timeout: 30_000 });
  await page.getByRole('button', { name: 'Asks for approval' }).click();
  await page.getByRole('menuitemradio', { name: 'Never' }).click();
}

/** The buttons are equal in size; a bare key approves nothing, ⌘↵ in the card does. */
async function approveByKeys(page: Watching['page'], card: Locator): Promise<void> {
  const sizes = await Promise.all(
    ['Reject', 'Reject with reply…', 'Approve'].map(async (name) => {
      const box = await card.getByRole('button', { name, exact: true }).boundingBox();
      return [Math.round(box?.width ?? 0), Math.round(box?.height ?? 0)];
    }),
  );
  expect(new Set(sizes.map(String)).size).toBe(1);
  await card.getByRole('group', { name: 'Requested action' }).focus();
  for (const key of ['Enter', 'a', 'y', 'Space']) await page.keyboard.press(key);
  expect(await card.getByRole('button', { name: 'Approve', exact: true }).isEnabled()).toBe(true);
  await card.getByRole('button', { name: 'Reject with reply…' }).focus();
  await page.keyboard.press('Control+Enter');
  expect(await card.getByRole('button', { name: 'Approve', exact: true }).isEnabled()).toBe(true);
  await card.getByRole('group', { name: 'Requested action' }).focus();
  await page.keyboard.press('Control+Enter');
}
