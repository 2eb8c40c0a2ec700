import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { createSampleRepository, type GitServer, startGitServer, stopwatch, until } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { answerTheAgent } from './approval.ts';
import { findChromium, launchChromium, PATIENCE_MS, violations } from './browser.ts';
import { editTheFiles } from './files.ts';
import { workInTheTerminal } from './own-terminal.ts';
import { readTheTrace } from './trace-tab.ts';

const run = promisify(execFile);
const executable = findChromium();

/** Lines that do not change with time; what a command prints meanwhile does. */
function lastingLines(text: string): string[] {
  return text
    .split('\n')
    .filter(
      (line) =>
        line !== '' &&
        !/^(just now|\d+ (min|sec)|[\d.]+ m?s$|Running a tool$|(… )?\d+$)|Nothing new for [\d.]+ s\.$/.test(line),
    );
}

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a user in a browser', () => {
  let folder: string;
  let git: GitServer;
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const foreign: string[] = [];
  /** A server is down on purpose: the browser itself complains about that. */
  let outage = false;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-e2e-'));
    await createSampleRepository(path.join(folder, 'repositories'), 'sample.git', {
      'README.md': '# Sample\n\nA small project.\n',
      'src/sum.js': 'export const sum = (a, b) => a + b;\n',
    });
    git = await startGitServer(path.join(folder, 'repositories'));
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      log: () => {},
      signal: AbortSignal.timeout(120_000),
    });
    browser = await launchChromium(executable ?? '');
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      acceptDownloads: true,
      reducedMotion: 'reduce',
    });
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('401') && !outage) complaints.push(message.text());
    });
    page.on('request', (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && hostname !== 'localhost' && hostname !== '127.0.0.1')
        foreign.push(request.url());
    });
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await git?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const timeline = () => page.getByRole('log', { name: 'Timeline' });
  const status = (name: string) => page.getByRole('banner').or(page.locator('header')).getByText(name, { exact: true });
  const axeClean = async (where: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await violations(page, colorScheme === 'dark' && 'colours');
      expect({ where, colorScheme, violations: found }).toEqual({
        where,
        colorScheme,
        violations: [],
      });
    }
  };

  /** One user's steps: after a step that failed the next ones would only wait. */
  let broken = false;
  const step = (name: string, work: () => Promise<void> | void): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await page?.screenshot({ path: `test-results/${name.replaceAll(/[^a-z]+/gi, '-')}.png` });
        throw error;
      }
    });
  };

  step('is asked to sign in, and comes back signed in', async () => {
    await page.goto(stack.url);
    await page.waitForURL('**/login**');
    await axeClean('/login');
    await page
      .getByRole('link', { name: 'Sign in' })
      .or(page.getByRole('button', { name: 'Sign in' }))
      .first()
      .click();
    await page.getByLabel('User name or e-mail').fill('demo');
    await page.getByLabel('Password').fill('demo');
    await axeClean("the issuer's page");
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'New task' }).waitFor();
    await axeClean('home');
  });

  step('reads what is wrong with a repository that is not an address', async () => {
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill('Count to 40');
    await page.getByRole('combobox', { name: 'Repository', exact: true }).fill('not an address');
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.locator('input[aria-invalid="true"]').waitFor();
    await page
      .getByText('Invalid URL')
      .or(page.getByText(/full URL/))
      .first()
      .waitFor();
  });

  step('gives a task on a git repository and sees each start step, then the agent at work', async () => {
    await page.getByRole('combobox', { name: 'Repository', exact: true }).fill(`${git.url}/sample.git`);
    await page.getByRole('combobox', { name: 'Branch', exact: true }).fill('main');
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    await timeline().getByText('Count to 40').first().waitFor();
    await timeline()
      .getByText(/^Started: 7 steps/)
      .waitFor();
    await timeline()
      .getByText(/a good moment to try Stop/)
      .first()
      .waitFor();
    await status('Working').waitFor();
    await axeClean('conversation at work');
  });

  step('reloads in the middle and has lost nothing', async () => {
    await page.reload();
    await timeline().getByText('Count to 40').first().waitFor();
    await timeline()
      .getByText(/a good moment to try Stop/)
      .first()
      .waitFor();
    await status('Working').waitFor();
  });

  step('goes on without a reload when the server was killed, and has lost nothing', async () => {
    await page.evaluate(() => Object.assign(globalThis, { stillTheSamePage: true }));
    const before = await timeline().innerText();
    outage = true;
    await page.context().setOffline(true);
    process.kill(stack.pidOf('app-server'), 'SIGKILL');
    await page.getByText('Reconnecting. Nothing is lost.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('Reconnecting. Nothing is lost.').waitFor({ state: 'detached', timeout: 30_000 });
    await page.getByText('live', { exact: true }).waitFor();
    outage = false;
    expect(await page.evaluate(() => 'stillTheSamePage' in globalThis)).toBe(true);
    expect(lastingLines(await timeline().innerText())).toEqual(lastingLines(before));
    await status('Working').waitFor();
  });

  step('stops the run, within two seconds on the screen', async () => {
    const passed = stopwatch();
    await page.getByRole('button', { name: 'Stop' }).click();
    await status('Stopped').waitFor();
    expect(passed()).toBeLessThan(2_000);
  });

  step('queues a message, and the agent goes on with it to the end', async () => {
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Now look around and leave a short note.');
    await page.getByRole('button', { name: /^Send/ }).click();
    await status('Working').waitFor();
    await status('Finished').waitFor({ timeout: 30_000 });
    await timeline().getByText('SLIPWAY_DEMO.md').first().waitFor();
    await axeClean('conversation that has finished');
  });

  step('lets the agent ask first, says no with a reason, then yes', () =>
    answerTheAgent({ page, status: (name) => status(name).waitFor({ timeout: 30_000 }), axeClean }),
  );

  step('reads in the trace what took long', () => readTheTrace({ page, axeClean }));

  step('pauses, resumes on a sandbox with the same workspace, and still sees the changes', async () => {
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Count to 30');
    await page.getByRole('button', { name: /^Send/ }).click();
    await status('Working').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    // It may be over before a busy browser shows it.
    await status('Pausing…').or(status('Paused')).waitFor({ timeout: 10_000 });
    await status('Paused').waitFor({ timeout: 20_000 });
    await page.getByRole('tab', { name: 'Ports' }).click();
    await page.getByText('The sandbox is paused. Resume it to open a port.').waitFor();
    expect(await page.getByRole('button', { name: 'Open', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('tab', { name: /^Changes/ }).click();
    await page.locator('header').getByRole('button', { name: 'Resume' }).click();
    await status('Finished').waitFor({ timeout: 60_000 });
  });

  step('downloads the diff, and git applies it to a fresh clone', async () => {
    const link = page.getByRole('link', { name: 'Download diff' });
    await link.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    const patch = path.join(folder, 'work.patch');
    await download.saveAs(patch);
    const clone = path.join(folder, 'clone');
    await run('git', ['clone', '--quiet', `${git.url}/sample.git`, clone]);
    await run('git', ['-C', clone, 'apply', patch]);
    expect((await run('git', ['-C', clone, 'status', '--porcelain'])).stdout.trim()).toBe('?? SLIPWAY_DEMO.md');
  });

  step('reads why a start failed and what to do, and gets the task back to change it', async () => {
    const finished = page.url();
    await page.getByRole('link', { name: 'New task' }).first().click();
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill('Work on a branch that is not there');
    await page.getByRole('combobox', { name: 'Branch', exact: true }).fill('no-such-branch');
    await page.getByRole('button', { name: /^Start/ }).click();
    await timeline().getByText('The branch does not exist').waitFor();
    await timeline().getByText('repository.branch-not-found').waitFor();
    await timeline().getByText('Choose a branch that the repository has.').waitFor();
    await axeClean('a start that failed');
    await timeline().getByRole('button', { name: 'Edit task' }).click();
    await page.getByRole('heading', { name: 'New task' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Task', exact: true }).inputValue()).toBe(
      'Work on a branch that is not there',
    );
    expect(await page.getByRole('combobox', { name: 'Branch', exact: true }).inputValue()).toBe('no-such-branch');
    // The first answer without a session leads to sign-in: the next step wants it to be that of its own press.
    await page.goto(finished, { waitUntil: 'networkidle' });
  });

  step('comes back to the same page, with what was typed, when the session ended meanwhile', async () => {
    const message = page.getByRole('textbox', { name: 'Message', exact: true });
    await message.fill('typed before the session ended');
    const address = page.url();
    await page.context().clearCookies({ name: 'keycloak_auth' });
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.waitForURL('**/login?redirect=**');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.waitForURL(address);
    expect(await message.inputValue()).toBe('typed before the session ended');
    await message.fill('');
  });

  step(
    'can open the menu, the diff of a file and, on a phone, the panel, by keyboard, and Esc closes them',
    async () => {
      const actions = page.getByRole('button', { name: 'More actions' });
      await actions.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Download diff' }).waitFor();
      await axeClean('an open menu');
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      expect(await actions.evaluate((element) => element === document.activeElement)).toBe(true);
      await page
        .getByRole('list', { name: 'Changed files' })
        .getByRole('button', { name: /SLIPWAY_DEMO\.md/ })
        .focus();
      await page.keyboard.press('Enter');
      await page.locator('[data-code]').first().waitFor();
      await axeClean('the diff of a file');
      await page.setViewportSize({ width: 390, height: 844 });
      await page
        .getByRole('dialog', { name: 'Changes and details' })
        .or(page.getByRole('button', { name: 'Changes' }))
        .first()
        .waitFor();
      if (!(await page.getByRole('dialog').isVisible()))
        await page.getByRole('button', { name: 'Changes' }).press('Enter');
      await page.getByRole('dialog', { name: 'Changes and details' }).waitFor();
      await axeClean('the panel on a phone');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.setViewportSize({ width: 1440, height: 900 });
    },
  );

  step('opens a port of the sandbox in a tab of its own, reads what cannot be opened, and ends it', async () => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Open a port' }).click();
    await page.getByText('No ports are open.').waitFor();
    const field = page.getByRole('textbox', { name: 'Sandbox port' });
    await field.fill('8001');
    await field.press('Enter');
    await page.getByText('Port 8001 is reserved by the sandbox.').waitFor();
    await axeClean('a port that is the sandbox’s own');
    const opened = async (press: () => Promise<void>): Promise<Page> =>
      (await Promise.all([page.context().waitForEvent('page'), press()]))[0];
    await field.fill('localhost:8000/health');
    const tab = await opened(() => field.press('Enter'));
    await tab.waitForURL(/^http:\/\/8000-[0-9a-f-]{36}\.localhost:\d+\/health$/);
    expect(await tab.evaluate(() => globalThis.opener)).toBeNull();
    const refused = await opened(() => page.getByRole('button', { name: 'Open port 3000' }).click());
    await refused.getByText(/only their agent-server \(port 8000\) can be reached/).waitFor();
    await refused.close();
    const lines = page.getByRole('region', { name: 'Open ports' }).getByRole('listitem');
    await until('both are listed', async () => (await lines.count()) === 2);
    await axeClean('ports that are open');
    await page.getByRole('button', { name: 'Revoke your access to port 8000' }).click();
    await until('one is left', async () => (await lines.count()) === 1);
    await tab.reload();
    await tab.getByText('auth.missing').waitFor();
    await tab.close();
    await page.getByRole('tab', { name: /^Changes/ }).click();
  });

  step('works in a shell of their own in the sandbox, which is there after a reload', () =>
    workInTheTerminal({ page, axeClean }),
  );

  step('sees a file change as the sandbox writes it, edits it, and loses neither side when both do', () =>
    editTheFiles({ page, dataDirectory: path.join(folder, 'data'), axeClean }),
  );

  step('can do all of it on a phone: nothing is wider than the screen', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const address of [
      page.url(),
      page.url().replace(/\/[^/]+$/, ''),
      page.url().replace(/\/conversations.*$/, ''),
    ]) {
      await page.goto(address);
      await page.getByRole('main').first().waitFor();
      await until('the page is filled', async () => (await page.getByRole('main').first().innerText()).length > 0);
      expect({ address, width: await page.evaluate(() => document.documentElement.scrollWidth) }).toEqual({
        address,
        width: 390,
      });
      await axeClean(`${address} at 390 px`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  step('signs out and is signed out', async () => {
    await page.getByRole('button', { name: /theme and sign out/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/login**');
    await page.goto(stack.url);
    await page.waitForURL('**/login**');
  });

  step('saw no error in the console and made no request to other hosts', () => {
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
  });
});
