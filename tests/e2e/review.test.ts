import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import {
  createSampleRepository,
  type GitServer,
  type ModelServer,
  type SignedInClient,
  signIn,
  startGitServer,
  startModelServer,
  until,
} from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import type { Browser, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, terminal } from '../stack/script-book.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 60_000;
const LINES = Array.from({ length: 12 }, (_, index) => `export const n${index} = ${index};`).join('\\n');
const FIRST = `mkdir -p src && printf '${LINES}\\n' > src/numbers.ts && printf 'it works\\n' > src/numbers.test.ts`;
/** One line above those that were commented on, and another in the place of one of them. */
const SECOND = `sed -i -e '1i // first' -e 's/n7 = 7/n7 = 70/' src/numbers.ts`;
/** Names and text with what turns or hides letters, and a file that is no text. */
const ODD = [
  String.raw`printf 'one\n' > "$(printf 'invoice\342\200\256gpj.exe')"`,
  String.raw`printf 'a\0b' > "$(printf 'beep\007.bin')"`,
  String.raw`printf 'if (admin\342\200\256) {}\n' > turned.js`,
].join(' && ');
const DONE = 'Done.\n\nthread 1: it moved\nthread 3 (commit 1a2b3c4): it is 70 now';

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a user who reviews what an agent changed', () => {
  let folder: string;
  let git: GitServer;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let owner: SignedInClient;
  let conversation: Conversation;
  let page: Page;
  let slug: string;
  const complaints: string[] = [];
  /** What the model has been asked with, and has not answered with an edit yet. */
  const reviews: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-review-'));
    await createSampleRepository(path.join(folder, 'repositories'), 'sample.git', { 'README.md': '# Sample\n' });
    git = await startGitServer(path.join(folder, 'repositories'));
    let edits = 0;
    model = await startModelServer({
      script: async (request) => {
        const text = JSON.stringify(request.body.messages);
        const directory = / is in (\S+)\. Work there/.exec(text)?.[1];
        if (directory === undefined) return { text: 'Numbers' };
        if (edits === 0) {
          edits = 1;
          const written = {
            name: 'file_editor',
            arguments: { command: 'create', path: `${directory}/schema.sql`, file_text: 'CREATE TABLE t (id int);\n' },
          };
          const shell = { name: 'terminal', arguments: { command: `cd ${directory} && ${FIRST}` } };
          return { toolCalls: [shell, written] };
        }
        if (edits === 1 && text.includes('Review: ')) {
          edits = 2;
          reviews.push(text);
          return terminal(`cd ${directory} && ${SECOND}`);
        }
        if (edits === 2 && text.includes('Write odd files')) {
          edits = 3;
          return terminal(`cd ${directory} && ${ODD}`);
        }
        return finish(edits === 2 ? DONE : 'It is written.');
      },
    });
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_BASE_URL: model.url,
        LLM_API_KEY: 'sk-of-a-test-0123456789',
        LLM_MODEL: 'scripted',
      },
      log: () => {},
      signal: AbortSignal.timeout(120_000),
    });
    owner = await signIn(stack.url);
    const org = owner.me.orgs[0] ?? { id: '', slug: '' };
    slug = org.slug;
    const started = await owner.fetch(`/api/v1/orgs/${org.id}/conversations`, {
      method: 'POST',
      json: { prompt: 'Write numbers', repository: `${git.url}/sample.git` },
    });
    expect([started.status, await started.clone().text()]).toEqual([201, expect.any(String)]);
    conversation = (await started.json()) as Conversation;
    await finished();
    browser = await launchChromium(executable ?? '');
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' });
    await context.addCookies(
      owner.cookie.split('; ').map((pair) => ({
        name: pair.slice(0, pair.indexOf('=')),
        value: pair.slice(pair.indexOf('=') + 1),
        url: stack.url,
      })),
    );
    page = await openPage(context, complaints);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await model?.close();
    await git?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const finished = () =>
    until(
      'its agent has finished',
      async () => {
        const answer = await owner.fetch(`/api/v1/orgs/${owner.me.orgs[0]?.id}/conversations/${conversation.id}`);
        return ((await answer.json()) as Conversation).status === 'finished';
      },
      SLOW,
    );
  /** Presses a line number of the diff, as `which` of those that read so. */
  const line = (number: number) =>
    page
      .locator(`[data-column-number="${number}"]`)
      .or(page.locator(`[data-line-number="${number}"]`))
      .first();
  const comment = async (file: string, number: number, text: string): Promise<void> => {
    await page.getByRole('navigation', { name: 'Changed files' }).getByRole('button', { name: file }).click();
    await page.getByRole('heading', { level: 2, name: file }).waitFor();
    await line(number).click();
    await page.getByRole('textbox', { name: /^Comment on lines/ }).fill(text);
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.getByRole('textbox', { name: /^Comment on lines/ }).waitFor({ state: 'detached' });
    await page
      .getByRole('region', { name: /^Thread/ })
      .getByText(text)
      .waitFor();
  };
  /** By keys alone: back to the first file, its first change, other lines in their place, and on to the next thread. */
  const suggestByKeys = async (): Promise<void> => {
    await page.keyboard.press('p');
    await page.keyboard.press('p');
    await page.keyboard.press('p');
    await page.getByRole('heading', { level: 2, name: 'schema.sql' }).waitFor();
    await line(1).waitFor();
    await page.keyboard.press('s');
    const lines = page.getByRole('textbox', { name: 'Suggested lines' });
    expect(await lines.inputValue()).toBe('CREATE TABLE t (id int);');
    await lines.fill('CREATE TABLE t (id bigint);');
    await page.keyboard.press('Control+Enter');
    await lines.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Thread 5 on line 1' }).getByText('+ CREATE TABLE t (id bigint);').waitFor();
    await page.keyboard.press('Shift+n');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await until('the thread has the focus', async () => (await focused()) === 'Thread 2 on line 1');
  };
  const picture = async (name: string): Promise<void> => {
    const shots = process.env['SCREENSHOTS'];
    if (shots === undefined) return;
    await mkdir(shots, { recursive: true });
    for (const [size, viewport] of [
      ['wide', WIDE],
      ['phone', { width: 390, height: 844 }],
    ] as const)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: path.join(shots, `${name}-${size}-${colorScheme}.png`) });
      }
    await page.setViewportSize(WIDE);
  };

  it('sends comments on lines of three files as one message, and sees them answered, moved or outdated', async () => {
    await page.goto(`${stack.url}/${slug}/conversations/${conversation.id}`);
    await page.getByRole('link', { name: /^Review/ }).click();
    await comment('src/numbers.ts', 4, 'Why three?');
    await comment('schema.sql', 1, 'Needs a key');
    await comment('src/numbers.ts', 8, 'Make it 70');
    await comment('src/numbers.test.ts', 1, 'Does it?');
    await page.getByRole('checkbox', { name: 'Viewed' }).check();
    await page.keyboard.press('t');
    await suggestByKeys();
    await picture('review');
    await expectClean(page, 'the review', 'everyTheme');
    await page.setViewportSize(WIDE);
    await page.getByRole('button', { name: 'Send to agent (5)' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Send to agent (0)' }).waitFor();
    await until('the model has it', () => reviews.length === 1, SLOW);
    expect(reviews[0]).toContain('Review: 5 comments in 3 files.');
    expect(reviews[0]).toContain('-CREATE TABLE t (id int);\\n+CREATE TABLE t (id bigint);');
    await finished();
    await page
      .getByRole('navigation', { name: 'Changed files' })
      .getByRole('button', { name: 'src/numbers.ts' })
      .click();
    await page.getByText('it is 70 now').waitFor();
    await page.getByRole('region', { name: 'Thread 1 on line 4' }).getByText('it moved').waitFor();
    await page.getByRole('region', { name: 'Thread 3 on line 8' }).getByText('Outdated', { exact: true }).waitFor();
    expect(await page.getByText('Outdated', { exact: true }).count()).toBe(1);
    await picture('answered');
    await expectClean(page, 'the answered review', 'everyTheme');
    expect(complaints).toEqual([]);
  });

  it('takes a change back by key, puts it back, and sees what is new since they looked', async () => {
    const files = page.getByRole('navigation', { name: 'Changed files' });
    const schema = files.getByRole('button', { name: 'schema.sql' });
    await schema.click();
    await line(1).waitFor();
    const step = await page.getByRole('link', { name: /^step \d+$/ }).getAttribute('href');
    expect(step).toMatch(/\?event=\d+$/);
    await page.getByRole('button', { name: 'Looked at all' }).click();
    await page.getByText('Marked as looked at.').waitFor({ state: 'attached' });
    await page.keyboard.press('u');
    await schema.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await schema.waitFor();
    await schema.click();
    await line(1).waitFor();
    await page.getByRole('button', { name: 'Take back' }).click();
    await schema.waitFor({ state: 'detached' });
    await page.goto(`${stack.url}/${slug}/conversations/${conversation.id}/review?against=looked`);
    await schema.waitFor();
    await line(1).waitFor();
    expect(await files.getByRole('button').count()).toBe(1);
    await picture('looked');
    await expectClean(page, 'the review of what is new', 'everyTheme');
    await page.goto(`${stack.url}/${slug}/conversations/${conversation.id}`);
    await page
      .getByText(/took a change back in "schema\.sql", lines 1/)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it('marks what turns or hides letters in names and lines, and says which file is no text', async () => {
    const files = page.getByRole('navigation', { name: 'Changed files' });
    const sent = await owner.fetch(`/api/v1/orgs/${owner.me.orgs[0]?.id}/conversations/${conversation.id}/messages`, {
      method: 'POST',
      json: { text: 'Write odd files' },
    });
    expect(sent.ok).toBe(true);
    await page.goto(`${stack.url}/${slug}/conversations/${conversation.id}/review`);
    await files.getByRole('button', { name: 'invoice⟨U+202E⟩gpj.exe' }).click({ timeout: SLOW });
    await page.getByRole('heading', { level: 2, name: 'invoice⟨U+202E⟩gpj.exe' }).waitFor();
    await line(1).waitFor();
    await files.getByRole('button', { name: 'beep⟨U+0007⟩.bin' }).click();
    await page.getByRole('heading', { level: 2, name: 'beep⟨U+0007⟩.bin' }).waitFor();
    await page.getByText(/^Binary file\. Content \S{7,}/).waitFor();
    await files.getByRole('button', { name: 'turned.js' }).click();
    await page.getByText('if (admin⟨U+202E⟩) {}').first().waitFor();
    const shown = await page.locator('main').innerText();
    for (const unseen of ['\u0007', '\u202e']) expect(shown).not.toContain(unseen);
    await picture('odd-files');
    await expectClean(page, 'the review of odd files', 'everyTheme');
    expect(complaints).toEqual([]);
  });
});
