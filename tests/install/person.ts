import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../e2e/browser.ts';
import type { OpenInstall } from './open-install.ts';

const URL = 'https://slipway.test';

/** The demo person at a Chromium of this machine, to whom the front door's names lead where its address is. */
export class Person {
  readonly page: Page;
  private readonly browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.browser = browser;
    this.page = page;
  }

  static async open(install: OpenInstall): Promise<Person> {
    const browser = await launchChromium(findChromium() ?? 'chromium', [`--host-resolver-rules=MAP *.test ${install.doorAddress}`]);
    // Nobody told this browser of the authority; pods were told, and look.
    const context: BrowserContext = await browser.newContext({ viewport: { width: 1440, height: 900 }, ignoreHTTPSErrors: true, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    return new Person(browser, page);
  }

  async signIn(): Promise<void> {
    const { page } = this;
    await page.goto(URL);
    await page.waitForURL('**/login**');
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.getByLabel('User name or e-mail').fill('demo');
    await page.getByLabel('Password').fill('demo');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'New task' }).waitFor();
  }

  /** Returns when its page is there. */
  async giveTask(prompt: string, repositoryUrl: string): Promise<void> {
    const { page } = this;
    await page.goto(URL);
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(prompt);
    await page.getByRole('textbox', { name: 'Repository', exact: true }).fill(repositoryUrl);
    await page.getByRole('textbox', { name: 'Branch', exact: true }).fill('main');
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
  }

  /** What the timeline shows; none of it needs a reload. */
  async sees(text: string | RegExp, timeout = 60_000): Promise<void> {
    await this.page.getByRole('log', { name: 'Timeline' }).getByText(text).first().waitFor({ timeout });
  }

  async statusIs(name: string, timeout = 60_000): Promise<void> {
    await this.page.locator('header').getByText(name, { exact: true }).first().waitFor({ timeout });
  }

  async send(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
    await this.page.getByRole('button', { name: /^Send/ }).click();
  }

  /** Opens the changes of a file and sees its lines. */
  async opensDiff(file: RegExp): Promise<string> {
    await this.page.getByRole('button', { name: file }).last().click();
    const code = this.page.locator('[data-code]').first();
    await code.waitFor();
    return code.innerText();
  }

  /** The conversation's log as the API has it, page by page: without gaps, nothing twice. @returns texts of what the person wrote, in order. */
  async wholeLog(): Promise<string[]> {
    const lines = await this.page.evaluate(readLog);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect(new Set(lines.map(({ event }) => event.id)).size).toBe(lines.length);
    return lines.flatMap(({ event }) => (event.kind === 'MessageEvent' && event.source === 'user' ? [event.llm_message?.content[0]?.text ?? ''] : []));
  }

  /** Waits until the conversation rests with every message in its log. */
  async allTaken(messages: readonly string[], timeout: number): Promise<void> {
    await until(
      'every message is in the log',
      async () => {
        const taken = await this.wholeLog();
        if (messages.every((message) => taken.includes(message))) return true;
        throw new Error(`the log has ${JSON.stringify(taken)}`);
      },
      timeout,
    );
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

interface Line {
  readonly seq: number;
  readonly event: {
    readonly id: string;
    readonly kind: string;
    readonly source: string;
    readonly llm_message?: { readonly content: readonly { readonly text?: string }[] };
  };
}

/** In the page. */
async function readLog(): Promise<Line[]> {
  const conversation = location.pathname.split('/').at(-1);
  const { orgs } = (await (await fetch('/api/v1/me')).json()) as { orgs: { id: string }[] };
  const lines: Line[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const route = `/api/v1/orgs/${orgs[0]?.id}/conversations/${conversation}/events?limit=1000&after=${after}`;
    const page = (await (await fetch(route)).json()) as { data: Line[]; page: { nextAfter: number | null } };
    lines.push(...page.data);
    after = page.page.nextAfter;
  }
  return lines;
}
