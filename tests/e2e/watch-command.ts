import { expect } from 'expect';
import { finish, terminal } from '../stack/script-book.ts';
import { expectClean } from './browser.ts';
import type { Watching } from './watching.test.ts';

/** Longer than a line, with its end where no line shows it. */
const TAIL = `${'x'.repeat(600)} # the end of a long command`;
const COMMAND = `printf '\\033[32mall green\\033[0m\\n'; for i in $(seq 1 600); do echo "tick $i"; sleep 1; done; echo ${TAIL}`;

/** A loop that prints each second: its lines are there while it runs, and after a stop. */
export async function watchACommand({ page, say, status, timeline, picture }: Watching): Promise<void> {
  await say('loop', [terminal(COMMAND), finish('Done.')]);
  const row = timeline().getByRole('button', { name: /all green/ });
  await row.click({ timeout: 30_000 });
  await timeline().getByText('# the end of a long command').waitFor();
  await timeline().getByRole('button', { name: 'Copy command' }).waitFor();
  const output = timeline().getByRole('group', { name: 'Output so far' });
  await output.getByText('tick 3').waitFor({ timeout: 15_000 });
  expect(await output.getByText('all green', { exact: true }).getAttribute('class')).toContain('text-ansi-green');
  await status('Working').waitFor();
  await picture('live-output');
  await expectClean(page, 'a command that runs', 'everyTheme');
  await page.getByRole('button', { name: 'Stop' }).click();
  await status('Stopped').waitFor();
  await page.reload();
  const stopped = timeline().getByRole('button', { name: /all green/ });
  await stopped.waitFor();
  if ((await stopped.getAttribute('aria-expanded')) === 'false') await stopped.click();
  await timeline().getByRole('group', { name: 'Output', exact: true }).getByText('tick 3').waitFor();
  await picture('output-after-stop');
}

/** A command that a sub-agent runs: what it prints is there at once, and keeps its colours when it has ended. */
export async function watchASubAgent({ page, say, write, status, timeline, picture }: Watching): Promise<void> {
  const prompt = write('inner', [
    terminal("printf '\\033[33mamber light\\033[0m\\n'; sleep 8; echo over"),
    finish('Seen.'),
  ]);
  await say('outer', [
    { toolCalls: [{ name: 'task', arguments: { prompt, description: 'look at the light' } }] },
    finish('All seen.'),
  ]);
  await timeline()
    .getByRole('button', { name: /Sub-agent: look at the light/ })
    .click({ timeout: 30_000 });
  await timeline()
    .getByRole('button', { name: /amber light/ })
    .click({ timeout: 30_000 });
  const colourIn = (label: string) =>
    timeline().getByRole('group', { name: label, exact: true }).getByText('amber light', { exact: true });
  await colourIn('Output so far').waitFor({ timeout: 8_000 });
  expect(await colourIn('Output so far').getAttribute('class')).toContain('text-ansi-yellow');
  await picture('sub-agent-at-work');
  await status('Finished').waitFor({ timeout: 30_000 });
  expect(await colourIn('Output').getAttribute('class')).toContain('text-ansi-yellow');
  await picture('sub-agent-done');
  await expectClean(page, 'a sub-agent that has ended');
}
