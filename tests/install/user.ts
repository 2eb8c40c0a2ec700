import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { OpenInstall } from '../../deploy/cluster/open-install.ts';
import { findChromium, launchChromium } from '../e2e/browser.ts';

const HOME = 'https://slipway.test';

/** Why no browser can be used here, as one sentence; `null` when one can. */
export const missingForBrowser = (): string | null =>
  findChromium() === null
    ? 'No Chromium is on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH.'
    : null;

/** The issuer's user at a Chromium of this machine, to whom the ingress's names lead where its address is. */
export class User {
  readonly page: Page;
  private readonly browser: Browser;
  private readonly account: OpenInstall['issuer']['account'];

  private constructor(browser: Browser, page: Page, account: User['account']) {
    this.browser = browser;
    this.page = page;
    this.account = account;
  }

  static async open(install: OpenInstall): Promise<User> {
    const browser = await launchChromium(findChromium() ?? 'chromium', [
      `--host-resolver-rules=MAP *.test ${install.ingressAddress}`,
    ]);
    // This browser does not know the authority; pods do, and check it.
    const context: BrowserContext = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      ignoreHTTPSErrors: true,
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    return new User(browser, page, install.issuer.account);
  }

  /** @returns what the page was on which the password was asked for. */
  async signIn(): Promise<{ readonly url: string; readonly title: string }> {
    const { page } = this;
    await page.goto(HOME);
    await page.waitForURL('**/login**');
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.locator('input[name="username"]').fill(this.account.username);
    await page.locator('input[name="password"]').fill(this.account.password);
    const asked = { url: page.url(), title: await page.title() };
    await page.getByRole('button', { name: /^sign in$/i }).click();
    await page.getByRole('heading', { name: 'New task' }).waitFor();
    return asked;
  }

  /** Gives the conversation's sandbox back; its workspace is in the store when this returns. */
  async pause(): Promise<void> {
    await this.page.evaluate(pauseInPage);
    await until('the workspace is put away', () => this.page.evaluate(isPutAway), 90_000);
  }

  /** Returns when its page is there. */
  async giveTask(prompt: string, repositoryUrl: string): Promise<void> {
    const { page } = this;
    await page.goto(HOME);
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(prompt);
    await page.getByRole('combobox', { name: 'Repository', exact: true }).fill(repositoryUrl);
    await page.getByRole('combobox', { name: 'Branch', exact: true }).fill('main');
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

  /**
   * Presses Send until it is taken in: what fails leaves the text where it is, and the same text is the same message.
   */
  async send(text: string): Promise<void> {
    const box = this.page.getByRole('textbox', { name: 'Message', exact: true });
    await box.fill(text);
    await until(
      `${text}: taken in`,
      async () => {
        if ((await box.inputValue()) === '') return true;
        await this.page.getByRole('button', { name: /^Send/ }).click();
        await this.page.waitForFunction(isAnswered, undefined, { timeout: 40_000 });
        return false;
      },
      60_000,
    );
  }

  /** Opens the changes of a file and sees its lines. */
  async opensDiff(file: RegExp): Promise<string> {
    // Not the timeline's card of the same file, which may be there sooner.
    await this.page.getByRole('list', { name: 'Changed files' }).getByRole('button', { name: file }).click();
    const code = this.page.locator('[data-code]').first();
    await code.waitFor();
    return code.innerText();
  }

  /**
   * The conversation's log as the API has it, page by page: without gaps, nothing twice. @returns texts of what the
   * user wrote, in order.
   */
  async wholeLog(): Promise<string[]> {
    const lines = await this.page.evaluate(readLog);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect(new Set(lines.map(({ event }) => event.id)).size).toBe(lines.length);
    return lines.flatMap(({ event }) =>
      event.kind === 'MessageEvent' && event.source === 'user' ? [event.llm_message?.content[0]?.text ?? ''] : [],
    );
  }

  /** A way into a port of the conversation's sandbox. */
  async grantSandbox(port: string): Promise<Grant> {
    return this.page.evaluate(grantInPage, port);
  }

  /** In a page of its own, beside. */
  async opens(url: string): Promise<Opened> {
    const page = await this.page.context().newPage();
    const response = await page.goto(url);
    const opened = { status: response?.status() ?? 0, url: page.url(), text: await page.innerText('body') };
    await page.close();
    return opened;
  }

  /** Posts the ticket as the pages of Slipway do, from the conversation's page to a page of its own. */
  async entersSandbox(ticket: Grant['ticket'], path: string): Promise<Opened> {
    const opening = this.page.context().waitForEvent('page');
    await this.page.evaluate(postTicket, { ticket, path });
    const page = await opening;
    await page.waitForURL(`**${path}`);
    const opened = {
      status: (await page.reload())?.status() ?? 0,
      url: page.url(),
      text: await page.innerText('body'),
    };
    await page.close();
    return opened;
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** In the page: the button is no longer busy, or there is nothing left to send. */
function isAnswered(): boolean {
  const form = document.querySelector('form[aria-label="Message to the agent"]');
  return form?.querySelector('textarea')?.value === '' || form?.querySelector('button[aria-busy="true"]') === null;
}

interface Grant {
  readonly url: string;
  readonly ticket: { readonly value: string; readonly url: string };
}

interface Opened {
  readonly status: number;
  readonly url: string;
  readonly text: string;
}

/** In the page. */
async function grantInPage(port: string): Promise<Grant> {
  const conversation = location.pathname.split('/').at(-1);
  const { orgs } = (await (await fetch('/api/v1/me')).json()) as { orgs: { id: string }[] };
  const route = `/api/v1/orgs/${orgs[0]?.id}/conversations/${conversation}/sandbox-access`;
  const response = await fetch(route, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ port }),
  });
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return response.json() as Promise<Grant>;
}

/** In the page. */
function postTicket({ ticket, path }: { readonly ticket: Grant['ticket']; readonly path: string }): void {
  const form = Object.assign(document.createElement('form'), { method: 'post', action: ticket.url, target: '_blank' });
  for (const [name, value] of Object.entries({ ticket: ticket.value, path }))
    form.append(Object.assign(document.createElement('input'), { name, value }));
  document.body.append(form);
  form.submit();
}

/** In the page. */
async function pauseInPage(): Promise<void> {
  const conversation = location.pathname.split('/').at(-1);
  const { orgs } = (await (await fetch('/api/v1/me')).json()) as { orgs: { id: string }[] };
  const response = await fetch(`/api/v1/orgs/${orgs[0]?.id}/conversations/${conversation}/pause`, { method: 'POST' });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

/** In the page. */
async function isPutAway(): Promise<boolean> {
  const conversation = location.pathname.split('/').at(-1);
  const { orgs } = (await (await fetch('/api/v1/me')).json()) as { orgs: { id: string }[] };
  const response = await fetch(`/api/v1/orgs/${orgs[0]?.id}/conversations/${conversation}`);
  return ((await response.json()) as { sandboxStatus: string }).sandboxStatus === 'PAUSED';
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
