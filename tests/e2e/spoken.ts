import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '@slipway/testing';
import { expect } from 'expect';
import { finish } from '../stack/script-book.ts';
import { expectClean } from './browser.ts';
import type { Watching } from './watching.test.ts';

const GOLDEN = path.join(import.meta.dirname, 'spoken', 'one-task.txt');
/** A word of what the agent writes. */
const WRITTEN = 'streamingword';

/**
 * What a screen reader hears of a task, from the live regions of the page, is a file that is read like any diff:
 * that it works, that it asks, that it is done; not a word of what the agent writes.
 */
export async function hearATask({ page, write, status, timeline, picture }: Watching): Promise<void> {
  const card = page.getByRole('region', { name: 'Approval' });
  const [first, second] = [gate(), gate()];
  const task = write('spoken', async (_request, number) => {
    await (number === 1 ? first : second).opened;
    if (number > 1) return finish(`All ${WRITTEN}s are written.`);
    const text = Array.from({ length: 200 }, () => WRITTEN).join(' ');
    return { text, toolCalls: [{ name: 'terminal', arguments: { command: 'echo spoken' } }] };
  });
  await page.getByRole('button', { name: 'Asks for approval' }).click();
  await page.getByRole('menuitemradio', { name: 'Before every step' }).click();
  // The end of the task before is said up to a second later; it is no part of this one.
  await page.locator('[aria-live="polite"]', { hasText: 'The agent is done' }).waitFor({ state: 'attached' });
  const heard = await listen(page);

  await heard.mark('A user sends a message.');
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(task);
  await page.getByRole('button', { name: /^Send/ }).click();
  await heard.until('The agent works', 1);
  await seeWhatItCosts({ page, status, picture });
  first.open();
  await card.waitFor({ timeout: 30_000 });
  await heard.until('The agent asks for your approval', 1);
  await heard.mark('The user allows the command.');
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  await heard.until('The agent works', 2);
  second.open();
  await status('Finished').waitFor({ timeout: 30_000 });
  await heard.until('The agent is done', 1);

  const spoken = await heard.lines();
  expect(await timeline().getByText(WRITTEN).count()).toBeGreaterThan(0);
  expect(spoken.join('\n')).not.toContain(WRITTEN);
  const golden = await readFile(GOLDEN, 'utf8');
  expect(
    `${golden
      .split('\n')
      .filter((line) => line.startsWith('#'))
      .join('\n')}\n${spoken.join('\n')}\n`,
  ).toBe(golden);
  await page.getByRole('button', { name: 'Asks for approval' }).click();
  await page.getByRole('menuitemradio', { name: 'Never' }).click();
}

/** While it works: for how long, once a second; and how full its model's context is and what it cost, opened. */
async function seeWhatItCosts({ page, picture }: Pick<Watching, 'page' | 'status' | 'picture'>): Promise<void> {
  const elapsed = page.getByRole('timer');
  const now = await elapsed.innerText();
  expect(now).toMatch(/^(?:\d+ min )?\d+ s$/);
  await until('the time goes on', async () => (await elapsed.innerText()) !== now);
  const gauge = page.getByRole('button', { name: /Cost/ });
  await gauge.click();
  const opened = page.getByRole('dialog', { name: 'Context and cost' });
  await opened.getByText(/tokens read, .* written$/).waitFor();
  await picture('gauge');
  await expectClean(page, 'what a conversation costs', 'everyTheme');
  await page.keyboard.press('Escape');
  await opened.waitFor({ state: 'detached' });
  expect(await gauge.evaluate((button) => button === document.activeElement)).toBe(true);
  await page.getByRole('button', { name: 'More actions' }).click();
  const menu = page.getByRole('menu');
  const entries = (name: string) =>
    menu.getByRole('group', { name, exact: true }).getByRole('menuitem').allInnerTexts();
  expect([await entries('Conversation'), await entries('Agent'), await entries('Work')]).toEqual([
    ['Rename conversation', 'Pin conversation', 'Archive conversation'],
    ['Ask a side question…', 'Summarize earlier steps', 'Approval rules…'],
    ['Open a port', 'Download diff', 'Download trajectory'],
  ]);
  expect((await menu.getByRole('menuitem').allInnerTexts()).at(-1)).toBe('Delete conversation');
  await picture('menu');
  await expectClean(page, 'the menu of a conversation', 'everyTheme');
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

interface Heard {
  readonly mark: (line: string) => Promise<void>;
  /** Waits until a line was heard so many times. */
  readonly until: (line: string, times: number) => Promise<void>;
  readonly lines: () => Promise<readonly string[]>;
}

/** Writes down each text that a live region of the page comes to hold, as "polite: …" or "assertive: …". */
async function listen(page: Watching['page']): Promise<Heard> {
  await page.evaluate(() => {
    const spoken: string[] = [];
    Object.assign(globalThis, { spoken });
    const last = new WeakMap<Element, string>();
    const REGIONS = '[aria-live], [role="status"], [role="alert"], [role="log"]';
    const loudness = (region: Element): string =>
      region.getAttribute('aria-live') ?? (region.getAttribute('role') === 'alert' ? 'assertive' : 'polite');
    const read = (region: Element): void => {
      const how = loudness(region);
      const text = (region.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
      if (how === 'off' || text === last.get(region)) return;
      const isNew = !last.has(region);
      last.set(region, text);
      // A region that comes with its text is spoken only where it is an alert.
      if (text !== '' && (!isNew || how === 'assertive')) spoken.push(`${how}: ${text}`);
    };
    for (const region of document.querySelectorAll(REGIONS)) last.set(region, (region.textContent ?? '').trim());
    new MutationObserver((changes) => {
      const regions = new Set<Element>();
      for (const { target, addedNodes } of changes) {
        const within = (target instanceof Element ? target : target.parentElement)?.closest(REGIONS);
        if (within != null) regions.add(within);
        for (const node of addedNodes)
          if (node instanceof Element)
            for (const region of [node, ...node.querySelectorAll(REGIONS)])
              if (region.matches(REGIONS)) regions.add(region);
      }
      for (const region of regions) read(region);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  const lines = (): Promise<readonly string[]> =>
    page.evaluate(() => (globalThis as unknown as { spoken: string[] }).spoken);
  return {
    lines,
    mark: (line) =>
      page.evaluate((text) => void (globalThis as unknown as { spoken: string[] }).spoken.push(`— ${text}`), line),
    until: async (line, times) => {
      const isHeard = async () => (await lines()).filter((each) => each.endsWith(`: ${line}`)).length >= times;
      await until(`"${line}" is heard ${times} times`, isHeard, 30_000);
    },
  };
}
