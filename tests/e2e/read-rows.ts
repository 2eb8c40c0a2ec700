import { until } from '@slipway/testing';
import { expect } from 'expect';
import { expectClean } from './browser.ts';
import type { ReadingDesk } from './reading.test.ts';

/** Name of the row that has the focus. */
const focused = (page: ReadingDesk['page']): Promise<string> =>
  page.evaluate(() => document.activeElement?.closest('article')?.getAttribute('aria-label') ?? '');

/** Waits until the row with the focus has such a name. */
async function reads(page: ReadingDesk['page'], name: RegExp): Promise<void> {
  await until(`a row ${name} has the focus`, async () => name.test(await focused(page)), 20_000).catch(() => {});
  expect(await focused(page)).toMatch(name);
}

/** Rows are articles with a name; arrows, ↵ and `y` work where the focus is on one. */
export async function goThroughRows({ page, address, picture }: ReadingDesk): Promise<void> {
  await page.goto(address);
  const timeline = page.getByRole('log', { name: 'Timeline' });
  await timeline.getByRole('article').last().waitFor();
  await timeline.focus();
  await page.keyboard.press('ArrowUp');
  await reads(page, /^Agent, \d\d:\d\d, (ran|edited) /);
  const last = await focused(page);
  for (let press = 0; press < 60; press += 1) await page.keyboard.press('ArrowUp');
  await until('another row has the focus', async () => (await focused(page)) !== last);
  // However far: the row with the focus stays, and is in sight.
  await until('the row is in sight', () => inSight(page));
  await page.keyboard.press('Shift+[');
  await reads(page, /^Agent, .*ran \.\/check part-\d+ 15, failed$/);
  const link = await copied(page);
  expect(link).toMatch(/\?event=\d+$/);
  await page.keyboard.press('[');
  await reads(page, /^Demo, \d\d:\d\d, Turn \d+: look at part \d+\.$/);
  const turn = Number(/Turn (\d+)/.exec(await focused(page))?.[1]);
  await page.keyboard.press(']');
  await reads(page, new RegExp(`Turn ${turn + 1}:`));
  await page.keyboard.press('ArrowDown');
  await reads(page, /^Agent, .*ran \.\/check part-/);
  const opens = page.locator('article:focus [aria-expanded]').first();
  expect(await opens.getAttribute('aria-expanded')).toBe('false');
  await page.keyboard.press('Enter');
  await until('the row is open', async () => (await opens.getAttribute('aria-expanded')) === 'true');
  await picture('row-with-focus');
  await expectClean(page, 'a long conversation', 'everyTheme');
}

/** `?event=` opens, loads around it, scrolls and gives the row the focus. */
export async function followLinks({ page, address, picture }: ReadingDesk): Promise<void> {
  await page.goto(`${address}?event=3000`);
  await reads(page, /part-\d+/);
  await until('the row is in sight', () => inSight(page));
  expect(await copied(page)).toBe(`${address}?event=${await eventOf(page)}`);
  for (const none of ['999999', '0', 'nonsense']) {
    await page.goto(`${address}?event=${none}`);
    await page.getByText(`This conversation has no event ${none}.`).waitFor();
  }
  await picture('no-such-event');
  await expectClean(page, 'a link to no event', 'everyTheme');
  await page.getByRole('status').getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText('This conversation has no event').waitFor({ state: 'detached' });
  expect(page.url()).toBe(address);
}

async function copied(page: ReadingDesk['page']): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.keyboard.press('y');
  await until('the link is copied', () => page.evaluate(async () => (await navigator.clipboard.readText()) !== ''));
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The event that the focused row's link names, at most the one that was asked for. */
async function eventOf(page: ReadingDesk['page']): Promise<string> {
  const link = await copied(page);
  const event = /event=(\d+)$/.exec(link)?.[1] ?? '';
  expect(Number(event)).toBeGreaterThan(2_980);
  expect(Number(event)).toBeLessThanOrEqual(3_000);
  return event;
}

const inSight = (page: ReadingDesk['page']): Promise<boolean> =>
  page.evaluate(() => {
    const row = document.activeElement?.getBoundingClientRect();
    const list = document.querySelector('[role="log"]')?.getBoundingClientRect();
    return row !== undefined && list !== undefined && row.bottom > list.top && row.top < list.bottom;
  });

/** The turns of the whole log are in the palette, found by words of their messages. */
export async function jumpToTurn({ page, address, picture }: ReadingDesk): Promise<void> {
  await page.goto(address);
  await page.getByRole('log', { name: 'Timeline' }).getByRole('article').last().waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  await palette.getByRole('combobox').fill('jump to');
  await palette.getByRole('option', { name: 'Jump to turn…' }).click();
  const turns = page.getByRole('dialog', { name: 'Turns' });
  await turns.getByRole('option').first().waitFor();
  await picture('turns');
  await expectClean(page, 'the turns in the palette', 'everyTheme');
  await turns.getByRole('combobox').fill('turn 7:');
  await turns.getByRole('option', { name: 'Turn 7: look at part 7.' }).waitFor();
  await page.keyboard.press('Enter');
  await turns.waitFor({ state: 'detached' });
  await reads(page, /^Demo, .*Turn 7: look at part 7\.$/);
  await until('the row is in sight', () => inSight(page));
  // Only what is around it is loaded: what is missing on the way is read, and no turn is left out.
  for (let turn = 8; turn <= 14; turn += 1) {
    await page.keyboard.press(']');
    await reads(page, new RegExp(`^Demo, .*Turn ${turn}: look at part ${turn}\\.$`));
    await until('the row is in sight', () => inSight(page));
  }
}
