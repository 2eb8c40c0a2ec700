import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, type Harness, ScriptBook, terminal, workspaceOf } from '../stack/script-book.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';
import { connectServers } from './mcp-servers.ts';

const executable = findChromium();
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = { timeout: 60_000 };
/**
 * A name that the price list knows: three dollars for a million tokens, so that each answer costs thirty cents, more
 * than the gateway holds for one call.
 */
const MODEL = 'claude-sonnet-4-5';
const USAGE = { prompt_tokens: 100_000, completion_tokens: 0, total_tokens: 100_000 };
const costly = (turn: ModelTurn): ModelTurn => ({ ...turn, usage: USAGE }) as ModelTurn;

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('how far an agent goes, in a browser', () => {
  const book = new ScriptBook();
  const complaints: string[] = [];
  let folder: string;
  let stack: Stack;
  let model: ModelServer;
  let browser: Browser;
  let page: Page;
  let [slug, broken] = ['', false];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-limits-'));
    model = await startModelServer({ script: book.script, apiKey: 'sk-of-the-script' });
    const models = {
      models: [
        {
          name: MODEL,
          deployments: [
            { id: 'scripted/1', provider: 'openai', baseUrl: model.url, apiKeyEnv: 'SCRIPT_KEY', model: 'm' },
          ],
        },
      ],
    };
    await writeFile(path.join(folder, 'models.json'), JSON.stringify(models));
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_MODELS_FILE: path.join(folder, 'models.json'),
        SCRIPT_KEY: 'sk-of-the-script',
        ALLOW_PRIVATE_URLS: 'true',
      },
      log: () => {},
      signal: AbortSignal.timeout(120_000),
      without: ['sandbox-gateway'],
    });
    browser = await launchChromium(executable ?? '');
    page = await openPage(
      await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' }),
      complaints,
    );
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const step = (name: string, work: () => Promise<void> | void): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/limits-${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      }
    });
  };
  const open = async (rest: string, name: string): Promise<void> => {
    await page.goto(`${stack.url}/${slug}/${rest}`);
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  /** Gives the task of a harness from the page itself, as far as it may go. */
  const give = async (name: string, harness: Harness, howFar: Readonly<Record<string, string>>): Promise<void> => {
    await open('', 'New task');
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(book.write(name, harness));
    await page.getByLabel('Model').selectOption(MODEL);
    const more = page.getByRole('button', { name: /^Limits/ });
    if ((await more.getAttribute('aria-expanded')) === 'false') await more.click();
    for (const label of ['Max steps per message', 'Budget (USD)'])
      await page.getByLabel(label).fill(howFar[label] ?? '');
    await page.getByLabel('Agent', { exact: true }).selectOption({ label: howFar['Agent'] ?? 'Do the work' });
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
  };
  const status = (name: string): Locator => page.locator('header').getByText(name, { exact: true });
  const commands = (): Promise<number> =>
    page
      .getByRole('log', { name: 'Timeline' })
      .getByText(/^step \d$/)
      .count();
  const limit = (): Locator => page.getByRole('region', { name: 'Limit reached' });

  step('signs in', async () => {
    await page.goto(stack.url);
    await page.getByRole('link', { name: /^Sign in/ }).click();
    await page.getByLabel('User name or e-mail').fill('demo');
    await page.getByLabel('Password').fill('demo');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
    slug = new URL(page.url()).pathname.split('/')[1] ?? '';
  });

  step(
    'connects MCP servers: pastes a file, adds one by hand, tries each in a sandbox, and no token is ever on the screen',
    () => connectServers({ owner: page, open }),
  );

  step('has an agent plan first, reads the plan, refines it, and has it carried out', async () => {
    const harness: Harness = (request, number) => {
      const file = path.join(workspaceOf(request), 'PLAN.md');
      const turns: ModelTurn[] = [
        {
          toolCalls: [
            { name: 'planning_file_editor', arguments: { command: 'create', path: file, file_text: '1. Make it.' } },
          ],
        },
        finish('The plan is written.'),
        finish('It is as small as it gets.'),
        terminal('echo made > made.txt'),
      ];
      return turns[number - 1] ?? finish('Made.');
    };
    await give('a plan', harness, { Agent: 'Plan only' });
    const card = page.getByRole('region', { name: 'Plan', exact: true });
    await card.getByText('The plan is ready').waitFor(SLOW);
    await page.getByText('The plan is written.').waitFor();
    // The plan is a file like any other: a step of the timeline, and among the changes.
    await page.getByRole('log', { name: 'Timeline' }).getByText('PLAN.md').first().waitFor();
    await page.getByRole('tabpanel').getByText('PLAN.md').waitFor(SLOW);
    await expectClean(page, 'a plan', 'everyTheme');
    await page.getByRole('textbox', { name: /message/i }).fill('Make it smaller.');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByText('It is as small as it gets.').waitFor(SLOW);
    await card.getByRole('button', { name: 'Carry out plan' }).press('Enter');
    await page.getByText('Made.', { exact: true }).waitFor(SLOW);
    await status('Finished').waitFor();
    await card.waitFor({ state: 'detached' });
    // What the model was given to do it with: a planner has no terminal.
    const names = (index: number): string[] =>
      ((book.requestsOf('a plan')[index]?.body['tools'] ?? []) as Array<{ function: { name: string } }>).map(
        (tool) => tool.function.name,
      );
    expect([names(0).includes('terminal'), names(3).includes('terminal')]).toEqual([false, true]);

    // And whoever watches sees it: what it has now, and what it had before.
    await page.getByRole('tab', { name: 'Details' }).click();
    const prompt = page.getByRole('region', { name: 'System prompt and tools' });
    const tools = prompt.getByRole('list', { name: 'Agent tools' });
    await prompt.getByRole('button', { name: /^Tools/ }).press('Enter');
    await tools.getByRole('button', { name: /^terminal/ }).press('Enter');
    await tools.getByRole('list', { name: 'Parameters of terminal' }).getByText('command', { exact: true }).waitFor();
    await prompt.getByRole('button', { name: /^System prompt/ }).press('Enter');
    await prompt.getByRole('group', { name: 'The system prompt' }).getByText('How to work').waitFor();
    await expectClean(page, 'system prompt and tools', 'everyTheme');
    expect(
      (await prompt.getByLabel('Version').locator('option').allInnerTexts()).map((text) => text.split(' ')[0]),
    ).toEqual(['Now', 'Before']);
    await prompt.getByLabel('Version').selectOption({ index: 1 });
    await tools.getByRole('button', { name: /^planning_file_editor/ }).waitFor();
    expect(await tools.getByRole('button', { name: /^terminal/ }).count()).toBe(0);
  });

  step(
    'at its limit of steps goes on for as many again, for more when the limit is raised, or not at all',
    async () => {
      const work: Harness = (_request, number) =>
        number <= 8 ? terminal(`echo step ${number}`) : finish('All steps are done.');
      await give('steps', work, { 'Max steps per message': '2' });
      await limit().getByRole('button', { name: 'Continue for 2 more steps' }).waitFor(SLOW);
      expect(book.requestsOf('steps').length).toBe(2);
      await expectClean(page, 'a limit of steps', 'everyTheme');
      await limit().getByRole('button', { name: 'Continue for 2 more steps' }).press('Enter');
      await until(
        'it halts again',
        async () => book.requestsOf('steps').length === 4 && (await limit().count()) === 1,
        30_000,
      );
      const field = limit().getByLabel('Max steps per message');
      // The card of the halt before may be there for a moment longer, and goes with what was opened in it.
      await until('the field has the focus', async () => {
        if ((await field.count()) === 0)
          await limit().getByRole('button', { name: 'Raise limit…' }).press('Enter', { timeout: 1_000 });
        return field.evaluate((element) => element === document.activeElement, undefined, { timeout: 1_000 });
      });
      await field.fill('none');
      await page.keyboard.press('Enter');
      await limit().locator('[aria-invalid="true"]').waitFor();
      await expectClean(page, 'a limit that is raised wrongly', 'everyTheme');
      await field.fill('50');
      await page.keyboard.press('Enter');
      await page.getByText('All steps are done.').waitFor(SLOW);
      await status('Finished').waitFor();
      expect(book.requestsOf('steps').length).toBe(9);

      await give('ended steps', work, { 'Max steps per message': '1' });
      await limit().getByRole('button', { name: 'Stop here' }).press('Enter');
      await limit().waitFor({ state: 'detached', ...SLOW });
      await status('Stopped').waitFor();
      expect(book.requestsOf('ended steps').length).toBe(1);
      // Why it does not go on, and what to do: under the timeline, and in the details, where the status leads.
      await page.getByText('Send a message, or resume it, to go on.').waitFor();
      await page.locator('header').getByRole('button', { name: 'Stopped' }).press('Enter');
      await page.getByRole('tabpanel', { name: 'Details' }).getByText('Not running').waitFor();
      await expectClean(page, 'why it was stopped');
    },
  );

  step('at what it may cost is extended, raised, or ended', async () => {
    const work: Harness = (_request, number) =>
      costly(number <= 6 ? terminal(`echo step ${number}`) : finish('The money was enough.'));
    await give('money', work, { 'Budget (USD)': '0.5' });
    await limit().getByRole('button', { name: 'Extend by $0.50' }).waitFor(SLOW);
    expect(book.requestsOf('money').length).toBe(2);
    await expectClean(page, 'a limit of money', 'everyTheme');
    await limit().getByRole('button', { name: 'Extend by $0.50' }).press('Enter');
    await limit().getByRole('button', { name: 'Extend by $1.10' }).waitFor(SLOW);
    // The one that was pressed kept its name until the agent went on.
    expect(book.requestsOf('money').length).toBe(4);
    await limit().getByRole('button', { name: 'Raise limit…' }).press('Enter');
    const field = limit().getByLabel('Budget (USD)');
    await field.fill('0.1');
    await page.keyboard.press('Enter');
    await limit()
      .getByText(/^It has already cost \$/)
      .waitFor();
    await field.fill('50');
    await page.keyboard.press('Enter');
    await page.getByText('The money was enough.').waitFor(SLOW);
    await status('Finished').waitFor();

    await give('ended money', work, { 'Budget (USD)': '0.25' });
    await limit().getByRole('button', { name: 'Stop here' }).press('Enter');
    await limit().waitFor({ state: 'detached', ...SLOW });
    await status('Stopped').waitFor();
    expect(await commands()).toBeLessThanOrEqual(1);
  });

  step(
    'finds what was typed and not sent again after a reload, and nothing of it is left after a sign-out',
    async () => {
      const left = (): Promise<string[]> =>
        page.evaluate(() =>
          Object.keys(window.localStorage).filter(
            (key) => /draft|message/.test(key) && window.localStorage.getItem(key)?.includes('not sent'),
          ),
        );
      await open('', 'New task');
      await page.getByRole('textbox', { name: 'Task', exact: true }).fill('A task that is not sent');
      await page.reload();
      await until(
        'it is there again',
        async () =>
          (await page.getByRole('textbox', { name: 'Task', exact: true }).inputValue()) === 'A task that is not sent',
      );
      expect(await left()).toHaveLength(1);
      await page.getByRole('button', { name: 'Demo Person' }).last().click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('link', { name: /^Sign in/ }).waitFor();
      expect(await left()).toEqual([]);
    },
  );

  step('nothing of the browser complained', () => {
    expect(complaints).toEqual([]);
  });
});
