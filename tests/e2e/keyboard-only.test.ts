import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import type { Page } from 'playwright-core';
import { finish, terminal, workspaceOf } from '../stack/script-book.ts';
import { findChromium, openPage } from './browser.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';

const executable = findChromium();
/** A machine that is busy with other tests. Milliseconds. */
const SLOW_MS = 60_000;

jest.setTimeout(180_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('a user without a mouse', () => {
  let own: SignedInStack;
  let page: Page;
  let keys: Page['keyboard'];

  beforeAll(async () => {
    own = await startSignedInStack({ executable, name: 'keyboard', without: ['sandbox-gateway'] });
    const context = await own.browser.newContext({
      baseURL: own.stack.url,
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
    });
    page = await openPage(context, own.complaints);
    keys = page.keyboard;
  });
  afterAll(() => own?.close());

  /** What a screen reader would call the focused element, roughly. */
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const at = document.activeElement;
      const labels = at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement ? at.labels : null;
      return at?.getAttribute('aria-label') ?? labels?.[0]?.textContent ?? at?.textContent ?? '';
    });
  const focus = (name: RegExp): Promise<boolean> =>
    until(`the focus is on ${name}`, async () => name.test(await focused()), SLOW_MS);
  const tabTo = async (name: RegExp): Promise<void> => {
    for (let stops = 0; stops < 30; stops += 1) {
      await keys.press('Tab');
      if (name.test(await focused())) return;
    }
    throw new Error(`no stop of 30 is ${name}; the last is "${await focused()}"`);
  };

  it('signs in, gives a task, reviews it, sends a comment and is done, by keys alone', async () => {
    await page.goto(own.stack.url);
    await page.getByRole('link', { name: /^Sign in/ }).waitFor();
    await tabTo(/^Sign in/);
    await keys.press('Enter');
    await focus(/^User name or e-mail/);
    await keys.type('demo');
    await tabTo(/^Password/);
    await keys.type('demo');
    await keys.press('Enter');

    await focus(/^Task$/);
    await keys.type(
      own.book.write('keys', (request, number) => {
        if (number === 1) return terminal(`cd ${workspaceOf(request)} && seq 9 > numbers.txt`);
        return finish(number === 2 ? 'The numbers are written.' : 'Nine are enough.');
      }),
    );
    await keys.press('Control+Enter');
    await page.waitForURL('**/conversations/**');
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: SLOW_MS });

    await keys.press('Escape');
    await keys.press('g');
    await keys.press('r');
    await page.waitForURL('**/review');
    await page.getByRole('heading', { level: 2, name: 'numbers.txt' }).waitFor();
    await page.locator('[data-column-number="1"], [data-line-number="1"]').first().waitFor();
    await focus(/^Review: /);
    await keys.press('m');
    await focus(/^Comment on lines/);
    await keys.type('Are nine enough?');
    await keys.press('Control+Enter');
    await page.getByRole('button', { name: 'Send to agent (1)' }).waitFor();
    await keys.press('Control+Enter');
    await page.getByRole('button', { name: 'Send to agent (0)' }).waitFor();
    await until('the model was asked', () => own.book.requestsOf('keys').length > 2, SLOW_MS);
    expect(JSON.stringify(own.book.requestsOf('keys').at(-1)?.body.messages)).toContain('Are nine enough?');

    await keys.press('g');
    await keys.press('h');
    await focus(/^Task$/);
    const row = page.getByRole('region', { name: 'Ready', exact: true }).getByRole('listitem');
    await row.waitFor({ timeout: SLOW_MS });
    await keys.press('Escape');
    await until('the row has the focus', async () => {
      await keys.press('j');
      return row.evaluate((element) => element.contains(document.activeElement));
    });
    await keys.press('Enter');
    await page.waitForURL(/\/conversations\/[^/]+$/);
    await page.getByText('Nine are enough.').first().waitFor();
    const address = page.url();

    await keys.press('Escape');
    // No pause: what is typed before the palette is there is meant for it.
    await keys.press('Control+k');
    await keys.type('Archive conversation');
    const found = page.getByRole('option', { selected: true });
    await until('the command is chosen', async () => /^Archive conversation/.test(await found.innerText()));
    expect(await page.getByRole('combobox').inputValue()).toBe('Archive conversation');
    await keys.press('Enter');
    const [, slug, , id] = new URL(address).pathname.split('/');
    const me = (await (await page.request.get('/api/v1/me')).json()) as { orgs: Array<{ id: string; slug: string }> };
    const org = me.orgs.find((each) => each.slug === slug);
    await until('it is archived', async () => {
      const answer = await page.request.get(`/api/v1/orgs/${org?.id}/conversations/${id}`);
      return ((await answer.json()) as { archivedAt: string | null }).archivedAt !== null;
    });
    expect(own.complaints).toEqual([]);
  });

  /** Presses Ctrl+Enter in the very task in which the page first shows that button, faster than any hand. */
  const pressWhenShown = (label: string): Promise<void> =>
    page.evaluate(
      (wanted) =>
        new Promise<void>((resolve) => {
          const watch = new MutationObserver(() => {
            const buttons = [...document.querySelectorAll('button')];
            if (!buttons.some(({ textContent, disabled }) => textContent?.trim() === wanted && !disabled)) return;
            watch.disconnect();
            const keys = { key: 'Enter', code: 'Enter', ctrlKey: true, bubbles: true, cancelable: true };
            (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', keys));
            resolve();
          });
          watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        }),
      label,
    );

  it('sends each comment with the key that is pressed as soon as the button counts it', async () => {
    ({ page } = own);
    keys = page.keyboard;
    await page.goto(own.stack.url);
    await page
      .getByRole('textbox', { name: 'Task', exact: true })
      .fill(
        own.book.write('at-once', (request, number) =>
          number === 1 ? terminal(`cd ${workspaceOf(request)} && seq 9 > many.txt`) : finish('Read.'),
        ),
      );
    await keys.press('Control+Enter');
    await page.waitForURL('**/conversations/**');
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: SLOW_MS });
    await page.goto(`${page.url()}/review`);
    await page.locator('[data-column-number="1"], [data-line-number="1"]').first().waitFor();
    for (let round = 1; round <= 20; round += 1) {
      await keys.press('m');
      await focus(/^Comment on lines/);
      await keys.type(`Comment ${round}`);
      const pressed = pressWhenShown('Send to agent (1)');
      await keys.press('Control+Enter');
      await pressed;
      await page
        .getByRole('button', { name: 'Send to agent (0)', disabled: true })
        .waitFor()
        .catch(async (cause: unknown) => {
          throw new Error(`round ${round} was not sent; the page: ${await page.locator('body').innerText()}`, {
            cause,
          });
        });
    }
    expect(own.complaints).toEqual([]);
  });
});
