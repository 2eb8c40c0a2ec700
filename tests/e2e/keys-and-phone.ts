import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Page } from 'playwright-core';
import { expectClean } from './browser.ts';
import type { Watching } from './watching.test.ts';

const LONG_NAME = 'A company whose name is longer than a phone is wide, as such names are';

/** The keys that lead about, and the names that tabs of the browser have. */
export async function useTheKeys({ page, url, picture }: Watching): Promise<void> {
  const conversation = page.url();
  await page.reload();
  const composer = page.getByRole('textbox', { name: 'Message', exact: true });
  await composer.waitFor();
  await until('the composer has the focus', () => composer.evaluate((field) => document.activeElement === field));
  await page.keyboard.type('?/c');
  expect(await composer.inputValue()).toBe('?/c');
  await composer.fill('');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.getByText('Go to conversations').waitFor();
  await expectClean(page, 'the list of keys', 'everyTheme');
  await picture('list-of-keys');
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await useThePalette(page);
  await page.keyboard.press('/');
  await page.waitForURL(/\/conversations$/);
  const search = page.getByRole('searchbox', { name: 'Search titles' });
  await until('the search has the focus', () => search.evaluate((field) => document.activeElement === field));
  await until('the tab has the name of the page', async () => (await page.title()) === 'Conversations · Slipway');
  for (const [path, name] of [
    ['/settings/profile', 'Profile'],
    ['/settings/sessions', 'Sessions'],
    ['/settings/keys', 'Keyboard'],
    ['/settings/connections', 'Connections'],
    ['/settings/linked-accounts', 'Linked accounts'],
  ]) {
    await page.goto(`${url}${path}`);
    expect(await page.title()).toBe(`${name} · Slipway`);
  }
  await changeKeys(page, url);
  await page.goto(conversation);
}

/** Commands of the page and conversations are found by letters, also while a field has the focus. */
async function useThePalette(page: Page): Promise<void> {
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
  await page.keyboard.press('ControlOrMeta+k');
  await palette.getByRole('option', { name: 'New task' }).waitFor();
  await expectClean(page, 'the command palette', 'everyTheme');
  await page.keyboard.type('no such thing anywhere');
  await palette.getByText('No command, page or conversation matches.').waitFor();
  await palette.getByRole('combobox').fill('details');
  await palette.getByRole('option', { name: 'Show details' }).waitFor();
  await page.keyboard.press('Enter');
  await palette.waitFor({ state: 'detached' });
  await page.waitForURL(/tab=details/);
  await page.keyboard.press('Escape');
}

/** A key is recorded, one that is taken is refused, and single keys can be switched off. */
async function changeKeys(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/settings/keys`);
  await page.getByRole('button', { name: 'Change keys of New task' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change keys of New task' });
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await dialog.getByText('Used by Go to conversations.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await expectClean(page, 'the recording of keys', 'everyTheme');
  await dialog.getByRole('button', { name: 'Start again' }).click();
  await dialog.getByLabel('Recorded keys').focus();
  await page.keyboard.press('w');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expectClean(page, 'the keys', 'everyTheme');
  await page.keyboard.press('w');
  await page.waitForURL((at) => /^\/[^/]+$/.test(at.pathname));
  // The page is there when its box has the focus.
  const task = page.getByRole('textbox', { name: 'Task', exact: true });
  await until('the box has the focus', () => task.evaluate((field) => document.activeElement === field));
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.waitForURL(/\/admin/);
  await page.goto(`${url}/settings/keys`);
  await page.getByRole('button', { name: 'Reset all' }).click();
  // `c` alone is another command.
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.waitForURL(/\/conversations$/);
  await page.goto(`${url}/settings/keys`);
  await page.getByRole('checkbox', { name: 'Use single-key shortcuts' }).uncheck();
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.keyboard.press('w');
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/settings/keys');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Reset all' }).click();
}

/** On a phone: the tab that is open is in sight, what can be pressed is large enough, and a long name breaks. */
export async function useAPhone({ page, url }: Watching): Promise<void> {
  const conversation = page.url();
  const org = new URL(conversation).pathname.split('/')[1];
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.route('**/api/v1/me', async (route) => {
    const response = await route.fetch();
    const me = (await response.json()) as { orgs: object[] };
    await route.fulfill({
      response,
      json: { ...me, orgs: me.orgs.map((one) => ({ ...one, name: LONG_NAME, kind: 'company' })) },
    });
  });
  try {
    for (const tab of ['changes', 'details']) {
      await page.goto(`${conversation}?tab=${tab}`);
      const open = page.getByRole('tablist', { name: 'Panels' }).getByRole('tab', { selected: true });
      await open.waitFor();
      await until(`the tab ${tab} is in sight`, async () => {
        const box = await open.boundingBox();
        return box !== null && box.x >= 0 && box.x + box.width <= 390;
      });
    }
    for (const place of ['audit', 'usage', 'sandboxes', 'danger']) {
      await page.goto(`${url}/${org}/admin/${place}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect({ place, hardToPress: await hardToPress(page) }).toEqual({ place, hardToPress: [] });
    }
  } finally {
    await page.unroute('**/api/v1/me');
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  await page.goto(conversation);
}

/**
 * Buttons and links of the page that are lower than 24 pixels, or reach past the edge of what holds them. Those of a
 * sentence do not count, nor those in a row that scrolls.
 */
function hardToPress(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('main button, main a[href]')].flatMap((element) => {
      const { height, right } = element.getBoundingClientRect();
      if (height === 0 || element.closest('p, nav') !== null) return [];
      const edge = element.parentElement?.getBoundingClientRect().right ?? 0;
      return height < 24 || right > edge + 1
        ? [`${element.textContent} ${Math.round(height)} high, ${Math.round(right - edge)} past the edge`]
        : [];
    }),
  );
}
