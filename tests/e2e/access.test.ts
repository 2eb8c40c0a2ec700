import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import type { Page } from 'playwright-core';
import { finish, terminal, workspaceOf } from '../stack/script-book.ts';
import { findChromium, violations } from './browser.ts';
import { hiddenStops, smallTargets } from './focus-and-targets.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';

const executable = findChromium();
const APP = path.join(import.meta.dirname, '..', '..', 'apps', 'web', 'src', 'app');
/** Each page there is, by its folder: a new one cannot be forgotten. */
const ROUTES = readdirSync(APP, { recursive: true, encoding: 'utf8' })
  .filter((file) => path.basename(file) === 'page.tsx')
  .map((file) => `/${path.dirname(file)}`.replace('/.', '/'))
  .sort();
const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];

jest.setTimeout(240_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('every page, for whoever cannot see it, point at it or tell its colours apart', () => {
  let own: SignedInStack;
  let page: Page;
  /** The addresses that were asked for something. */
  const asked = new Set<string>();
  /** What stands for the parts of an address that are data. */
  const parts: Record<string, string> = {};

  beforeAll(async () => {
    own = await startSignedInStack({ executable, name: 'access', without: ['sandbox-gateway'] });
    ({ page } = own);
    const { stack, book } = own;
    const task = book.write('access', (request, number) =>
      number === 1
        ? terminal(`cd ${workspaceOf(request)} && seq 200 > numbers.txt`)
        : finish('# Done\n\nThe numbers are *written*.\n\n| a | b |\n|---|---|\n| 1 | 2 |'),
    );
    const post = async <T>(rest: string, data: object): Promise<T> => {
      const answer = await page.request.post(`${stack.url}/api/v1/orgs${rest}`, {
        data,
        headers: { origin: stack.url },
      });
      expect({ rest, ok: answer.ok(), body: await answer.text() }).toEqual({
        rest,
        ok: true,
        body: expect.any(String),
      });
      return (await answer.json()) as T;
    };
    const org = await post<{ id: string; slug: string }>('', { name: 'Acme Robotics', slug: 'acme-robotics' });
    await page.goto(`${stack.url}/${org.slug}`);
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(task);
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: 60_000 });
    const invited = await post<{ data: Array<{ link: string }> }>(`/${org.id}/invitations`, {
      emails: ['grace@example.test'],
      role: 'member',
    });
    const { connection } = await post<{ connection: { id: string } }>(`/${org.id}/integrations/connections`, {
      provider: 'gitlab',
      name: 'GitLab of the shop',
      host: 'gitlab.example',
      settings: { baseUrl: 'https://gitlab.example' },
    });
    await post(`/${org.id}/secrets`, {
      name: 'DEPLOY_TOKEN',
      value: 'a-value-of-a-test',
      description: 'For the deploys',
    });
    await post(`/${org.id}/egress-rules`, { host: '*.example.com', action: 'allow', reason: 'For the builds' });
    await post(`/${org.id}/mcp-servers`, { name: 'clock', transport: 'stdio', command: 'true' });
    Object.assign(parts, {
      '[org]': org.slug,
      '[id]': page.url().split('/').at(-1) ?? '',
      '[connection]': connection.id,
      '[token]': invited.data[0]?.link.split('/').at(-1) ?? '',
    });
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    page.on('websocket', (socket) => asked.add(new URL(socket.url()).origin.replace(/^ws/, 'http')));
  });
  afterAll(() => own?.close());

  const open = async (route: string): Promise<void> => {
    const address = route.replaceAll(/\[\w+\]/g, (part) => parts[part] ?? `no ${part}`);
    expect(address).not.toContain('no [');
    // Headings are there before anything is read.
    await page.goto(own.stack.url + address, { waitUntil: 'networkidle' });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await settled();
  };
  const settled = () =>
    until('nothing is being read', async () =>
      page.evaluate(
        () =>
          document.querySelector('[aria-busy="true"]') === null &&
          ![...document.querySelectorAll('[role="status"], main *')].some(
            ({ children, textContent }) => children.length === 0 && textContent === 'Loading…',
          ),
      ),
    );
  const picture = async (name: string): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    await mkdir(folder, { recursive: true });
    await page.screenshot({ path: path.join(folder, `${name.replaceAll(/\W+/g, '-')}.png`) });
  };

  it('finds the pages of the app', () => {
    expect(ROUTES).toContain('/[org]/conversations/[id]/review');
    expect(ROUTES.length).toBeGreaterThan(30);
  });

  it('sees a button without a name, two that are too small, one that is covered, and a pale text', async () => {
    await open('/settings/profile');
    await page.evaluate(() => {
      const small = 'position: fixed; left: 100px; width: 12px; height: 12px; padding: 0; z-index: 1';
      document.body.insertAdjacentHTML(
        'afterbegin',
        `<div><button id="nameless" style="${small}; top: 100px"></button>
          <button style="${small}; top: 114px">b</button>
          <button id="covered" style="position: fixed; left: 200px; top: 200px; width: 40px; height: 40px">c</button>
          <div style="position: fixed; left: 190px; top: 190px; width: 60px; height: 60px; z-index: 2"></div>
          <p style="color: #777; background: #888">pale</p></div>`,
      );
    });
    expect((await violations(page)).map(({ id }) => id)).toContain('button-name');
    expect((await violations(page, 'colours')).map(({ id }) => id)).toEqual(['color-contrast']);
    const small = (await smallTargets(page)).join('\n');
    expect(small).toContain('id="nameless"');
    expect(small).not.toContain('id="covered"');
    expect((await hiddenStops(page, 10)).hidden.join('\n')).toContain('id="covered"');
  });

  it.each(ROUTES)('has nothing for axe on %s, nothing sideways, no error, no small target', async (route) => {
    await open(route);
    const found: object[] = [];
    for (const viewport of SIZES) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await settled();
        const where = { width: viewport.width, colorScheme };
        for (const violation of await violations(page, colorScheme === 'dark' && 'colours'))
          found.push({ ...where, ...violation });
        await picture(`${route} ${viewport.width} ${colorScheme}`);
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > viewport.width) found.push({ ...viewport, wide });
      for (const target of await smallTargets(page)) found.push({ width: viewport.width, target });
    }
    expect(found).toEqual([]);
    expect(own.complaints.splice(0)).toEqual([]);
  });

  it('asks nobody but the server of the stack for anything', () => {
    expect([...asked]).toEqual([own.stack.url.replace(/\/$/, '')]);
  });

  it.each(['/[org]', '/[org]/conversations', '/[org]/conversations/[id]', '/[org]/conversations/[id]/review'])(
    'hides no focused element of %s under another, at either size',
    async (route) => {
      for (const viewport of SIZES) {
        await page.setViewportSize(viewport);
        await open(route);
        const { hidden, stops } = await hiddenStops(page, 40);
        expect({ ...viewport, hidden }).toEqual({ ...viewport, hidden: [] });
        expect(stops).toBeGreaterThan(5);
      }
    },
  );

  it('stops first at "Skip to content", which leads past the navigation', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open('/[org]/admin/members');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true);
  });

  it('moves the focus to the heading of a page that a link has led to', async () => {
    await open('/[org]/conversations');
    await page.getByRole('link', { name: 'Admin', exact: true }).first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin/**');
    await until('the heading has the focus', () =>
      page.evaluate(() => document.activeElement?.matches('main h1') === true),
    );
  });

  it('shows where the focus is with forced colours', async () => {
    await open('/[org]/conversations');
    await page.emulateMedia({ forcedColors: 'active' });
    const bare: string[] = [];
    let stops = 0;
    for (let press = 0; press < 20; press += 1) {
      await page.keyboard.press('Tab');
      const found = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === null || at === document.body) return 'none';
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0 ? null : at.outerHTML.slice(0, 160);
      });
      if (found !== 'none') stops += 1;
      if (found !== null && found !== 'none') bare.push(found);
    }
    await picture('forced colours');
    await page.emulateMedia({ forcedColors: 'none' });
    expect(bare).toEqual([]);
    expect(stops).toBeGreaterThan(10);
  });

  it('lets a password be filled in by a manager or pasted', async () => {
    const context = await own.browser.newContext();
    try {
      const stranger = await context.newPage();
      await stranger.goto(own.stack.url);
      await stranger.getByRole('link', { name: /^Sign in/ }).click();
      const name = stranger.getByLabel('User name or e-mail');
      const password = stranger.getByLabel('Password');
      expect(await name.getAttribute('autocomplete')).toBe('username');
      expect(await password.getAttribute('autocomplete')).toBe('current-password');
      const goesOn = await password.evaluate((field) =>
        field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true })),
      );
      expect(goesOn).toBe(true);
      await password.fill('wrong');
      await name.fill('demo');
      await stranger.getByRole('button', { name: 'Sign in' }).click();
      await stranger.getByRole('alert').waitFor();
      // What was right is not asked for again.
      expect(await name.inputValue()).toBe('demo');
    } finally {
      await context.close();
    }
  });
});
