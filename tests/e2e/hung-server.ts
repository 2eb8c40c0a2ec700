import { stopwatch } from '@slipway/testing';
import { expect } from 'expect';
import { finish } from '../stack/script-book.ts';
import { expectClean } from './browser.ts';
import type { Watching } from './watching.test.ts';

/** Two pings that do not come, and a poll. Milliseconds. */
const SOON_MS = 15_000;

/** With text from right to left, and code. */
const ANSWER = 'Heard at last.\n\nשלום עולם\n\n```ts\nconst answer = 42;\n```\n';

/** A server that hangs keeps its connections open and answers nothing. */
export async function outlastAHungServer({ page, stack, say, status, timeline, picture }: Watching): Promise<void> {
  await page.getByText('live', { exact: true }).waitFor();
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  // Two pings at least were heard.
  await page.waitForTimeout(9_000);
  const pid = stack.pidOf('app-server');
  process.kill(pid, 'SIGSTOP');
  try {
    const passed = stopwatch();
    await say('unheard', [finish(ANSWER)]);
    const outgoing = page.getByRole('list', { name: 'Messages being sent' });
    await outgoing.getByText('sending').waitFor({ timeout: 1_000 });
    expect(await message.inputValue()).toBe('');
    await picture('message-sending');
    await page.getByText('live', { exact: true }).waitFor({ state: 'detached', timeout: SOON_MS });
    expect(passed()).toBeLessThan(SOON_MS);
    await page.getByText('Reconnecting. Nothing is lost.').waitFor();
    await expectClean(page, 'a message that is on its way', 'everyTheme');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await page.getByText('live', { exact: true }).waitFor({ timeout: 30_000 });
  await timeline().getByText('Heard at last.').waitFor({ timeout: 30_000 });
  await status('Finished').waitFor();
  expect(await timeline().getByText('[unheard] Please do it.').count()).toBe(1);
  expect(
    await timeline()
      .getByText('שלום עולם')
      .evaluate((element) => getComputedStyle(element).direction),
  ).toBe('rtl');
  await timeline().locator('.tok-keyword', { hasText: 'const' }).first().waitFor();
  await picture('answer-with-code');
}
