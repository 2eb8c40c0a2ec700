import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Page } from 'playwright-core';

/** What the step of first-task.test.ts has. */
interface Harness {
  readonly page: Page;
  readonly axeClean: (where: string) => Promise<void>;
}

/**
 * The user works in a shell of their own: it is there after a reload with what it had written, and has the size of its
 * panel; a second one stands beside it.
 */
export async function workInTheTerminal({ page, axeClean }: Harness): Promise<void> {
  const screen = page.locator('.xterm-rows');
  const input = page.getByRole('textbox', { name: 'Terminal input' });
  const shows = (text: string | RegExp): Promise<unknown> =>
    until(
      `the terminal shows ${text}`,
      async () => (await screen.innerText()).replaceAll('\u00a0', ' ').match(text),
      30_000,
    );
  const type = async (line: string): Promise<void> => {
    await input.focus();
    await page.keyboard.type(line);
    await page.keyboard.press('Enter');
  };
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await shows(/[$#] /);
  await type('echo "seen $((40 + 2))"');
  await shows('seen 42');
  await axeClean('a terminal');
  await page.reload();
  await shows('seen 42');
  await type('echo "size $(stty size)"');
  const [, wide = ''] = (await shows(/size (\d+ \d+)/)) as RegExpMatchArray;
  await page.setViewportSize({ width: 1100, height: 700 });
  await until(
    'the shell has another size',
    async () => {
      await type('clear; echo "size $(stty size)"');
      const [, now] = ((await shows(/size (\d+ \d+)/)) as RegExpMatchArray) ?? [];
      return now !== undefined && now !== wide;
    },
    30_000,
  );
  await page.getByRole('button', { name: 'New shell' }).click();
  await page.getByRole('button', { name: 'Shell 2', exact: true }).and(page.locator('[aria-pressed="true"]')).waitFor();
  await shows(/[$#] /);
  expect(await screen.innerText()).not.toContain('size');
  await page.getByRole('button', { name: 'Close Shell 2' }).click();
  await page.getByRole('button', { name: 'Shell 2', exact: true }).waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 390, height: 844 });
  await axeClean('a terminal on a phone');
  await page
    .getByRole('dialog', { name: 'Changes and details' })
    .getByRole('button', { name: 'Close', exact: true })
    .click();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('tab', { name: /^Changes/ }).click();
}
