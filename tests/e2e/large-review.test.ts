import { mkdtemp, rm } from 'node:fs/promises';
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
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { finish, terminal } from '../stack/script-book.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const FILES = 5_000;
/** A machine that is busy with other tests. Milliseconds. */
const SLOW = 120_000;
/** CPU of the page's main thread for one interaction, many times what it takes. Milliseconds. */
const MOST_CPU_MS = 1_000;
const FOLDERS = 'for n in $(seq 0 49); do mkdir -p src/p$n db/p$n; done';
const WRITE = `awk 'BEGIN{for(i=0;i<${FILES};i++){q=(i%10==0);f=(q?"db":"src")"/p"(i%50)"/file-"i (q?".sql":".ts");for(l=1;l<=40;l++)print "select " l " + " i ";" > f;close(f)}}'`;

jest.setTimeout(400_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a review of 5,000 changed files with 200,000 lines', () => {
  let folder: string;
  let git: GitServer;
  let model: ModelServer;
  let stack: Stack;
  let browser: Browser;
  let context: BrowserContext;
  let owner: SignedInClient;
  let conversation: Conversation;
  let page: Page;
  let review: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-large-review-'));
    await createSampleRepository(path.join(folder, 'repositories'), 'sample.git', { 'README.md': '# Sample\n' });
    git = await startGitServer(path.join(folder, 'repositories'));
    let turns = 0;
    model = await startModelServer({
      script: async (request) => {
        const text = JSON.stringify(request.body.messages);
        const directory = / is in (\S+)\. Work there/.exec(text)?.[1];
        if (directory === undefined) return { text: 'Numbers' };
        turns += 1;
        if (turns === 1) return terminal(`cd ${directory} && ${FOLDERS} && ${WRITE}`);
        return turns === 3 ? terminal(`cd ${directory} && echo more > one-more.txt`) : finish('It is written.');
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
    const started = await owner.fetch(`/api/v1/orgs/${org.id}/conversations`, {
      method: 'POST',
      json: { prompt: 'Write numbers', repository: `${git.url}/sample.git` },
    });
    expect([started.status, await started.clone().text()]).toEqual([201, expect.any(String)]);
    conversation = (await started.json()) as Conversation;
    await finished();
    review = `${stack.url}/${org.slug}/conversations/${conversation.id}/review`;
    browser = await launchChromium(executable ?? '');
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
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
  const list = () => page.getByRole('navigation', { name: 'Changed files' });

  it('filters, opens the third match and comments on it, each with little work for the page', async () => {
    await page.goto(review);
    await list().getByRole('button').first().waitFor({ timeout: SLOW });
    await page.getByText(`${FILES.toLocaleString('en')} files`).waitFor();
    // Only rows in sight are in the page.
    expect(await list().getByRole('button').count()).toBeLessThan(80);
    const session = await context.newCDPSession(page);
    // What the thread has worked, not what has passed: a busy machine takes it off its processor in between.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const timed = await meter(session);
    await timed('filter', async () => {
      await page.getByRole('searchbox', { name: 'Filter files' }).pressSequentially('*.sql');
      await list().getByText('Contract 500').waitFor();
    });
    const third = list().getByRole('button').nth(2);
    const name = (await third.textContent()) ?? '';
    expect(name).toMatch(/^db\/p\d+\/file-\d+\.sql$/);
    await timed('open the third', async () => {
      await third.click();
      await page.getByRole('heading', { level: 2, name }).waitFor();
      await page.locator('article [data-line-type="change-addition"]').first().waitFor();
    });
    await timed('begin a comment', async () => {
      await page.keyboard.press('m');
      await page.getByRole('textbox', { name: /^Comment on lines/ }).waitFor();
    });
    await timed('write it', () =>
      page.getByRole('textbox', { name: /^Comment on lines/ }).pressSequentially('Is this one needed?'),
    );
    await timed('save it', async () => {
      await page.keyboard.press('Control+Enter');
      await page
        .getByRole('region', { name: /^Thread 1/ })
        .getByText('Is this one needed?')
        .waitFor();
    });
    await timed('next file', async () => {
      await page.getByRole('heading', { level: 2, name }).click();
      await page.keyboard.press('j');
      await page.getByRole('heading', { level: 2, name }).waitFor({ state: 'detached' });
    });
    // Colours come from a worker of our own origin, under the page's own policy.
    expect(page.workers().map((worker) => new URL(worker.url()).origin)).toEqual([new URL(stack.url).origin]);
    await expectClean(page, 'the large review', 'everyTheme');
    expect(complaints).toEqual([]);
  });

  it('shows the lines also where no worker can start', async () => {
    const other = await context.newPage();
    await other.route(/worker/, (route) => route.abort());
    await other.goto(review);
    await other.locator('article [data-line-type="change-addition"]').first().waitFor({ timeout: SLOW });
    expect(other.workers()).toEqual([]);
    await other.close();
  });

  it('is read folder by folder when it is larger', async () => {
    const sent = await owner.fetch(`/api/v1/orgs/${owner.me.orgs[0]?.id}/conversations/${conversation.id}/messages`, {
      method: 'POST',
      json: { text: 'One more' },
    });
    expect(sent.status).toBeLessThan(300);
    await until('the other file is written', () => model.requests.length >= 4, SLOW);
    await finished();
    await page.goto(review);
    await page.getByText('These changes are too large for one list').waitFor({ timeout: SLOW });
    await page.getByText('5,001 files').waitFor();
    await list().getByRole('button', { name: 'one-more.txt' }).waitFor();
    await list().getByRole('button', { name: 'db/ 500 files' }).click();
    await list().getByText('Contract 500').waitFor();
    expect(new URL(page.url()).searchParams.get('folder')).toBe('db');
    await page.locator('article [data-line-type="change-addition"]').first().waitFor();
    await expectClean(page, 'a folder of the large review', 'everyTheme');
    await list().getByRole('button', { name: 'Leave db/' }).click();
    await list()
      .getByRole('button', { name: /^src\/ 4,?500 files/ })
      .waitFor();
    expect(complaints).toEqual([]);
  });
});

/** Prints how long each interaction takes, and holds the CPU of the page's main thread for it under a bound. */
async function meter(session: CDPSession) {
  const cpu = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  };
  return async (what: string, act: () => Promise<void>): Promise<void> => {
    const [before, start] = [await cpu(), performance.now()];
    await act();
    const [wall, used] = [performance.now() - start, (await cpu()) - before];
    console.log(`${what}: ${wall.toFixed(0)} ms, ${used.toFixed(0)} ms of it work of the page`);
    expect(used).toBeLessThan(MOST_CPU_MS);
  };
}
