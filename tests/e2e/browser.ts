import { accessSync, constants, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect } from 'expect';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/**
 * The Chromium of this machine: CHROMIUM_PATH, or the first of the usual names on the PATH; `null` when there is none.
 */
export function findChromium(): string | null {
  const given = process.env['CHROMIUM_PATH'];
  if (given !== undefined) return given;
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // Not here.
      }
    }
  }
  return null;
}

/** @param more further flags of Chromium. */
export function launchChromium(executablePath: string, more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
}

/** Longest of one step in a page: a machine that is busy with other files beside this one. Milliseconds. */
export const PATIENCE_MS = 60_000;

/** A page whose errors, thrown or written to the console, are put into `complaints`. */
export async function openPage(context: BrowserContext, complaints: string[]): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A browser complains about every answer that is not a success, expected or not.
    if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  return page;
}

/** The file that the browser is given when this is pressed. */
export async function downloadOf(page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly string[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of axe that another theme can break: the rest holds in every theme of one page at one size. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * What axe finds on the page, of every impact; `colours` asks only what another theme can change. What it finds is
 * looked for once more: elements that a page takes out while axe reads it count as hidden.
 */
export async function violations(page: Page, only: 'colours' | false = false): Promise<Violation[]> {
  const found = await axeViolations(page, only);
  return found.length === 0 ? found : axeViolations(page, only);
}

async function axeViolations(page: Page, only: 'colours' | false): Promise<Violation[]> {
  // Evaluated from outside: the page's own policy forbids scripts that are not its own.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const asked = { resultTypes: ['violations'], ...(only === 'colours' && { runOnly: COLOURS }) };
  return page.evaluate(async (options) => {
    const axe = (
      globalThis as unknown as {
        axe: {
          run: (
            options: object,
          ) => Promise<{ violations: Array<{ id: string; impact: string; nodes: Array<{ html: string }> }> }>;
        };
      }
    ).axe;
    const { violations } = await axe.run(options);
    // A menu or a tooltip stands at the end of the page, in no landmark of its own: it belongs to a button that is in
    // one. The rule is axe's advice and no rule of WCAG. (axe shortens long attributes.)
    const isOverlay = (html: string): boolean => html.startsWith('<div data-radix-popper-co');
    return violations.flatMap(({ id, impact, nodes }) => {
      const found = nodes.flatMap(({ html }) => (id === 'region' && isOverlay(html) ? [] : [html.slice(0, 200)]));
      return found.length === 0 ? [] : [{ id, impact, nodes: found }];
    });
  }, asked);
}

const PHONE = { width: 390, height: 844 };
const WIDE = { width: 1440, height: 900 };

/**
 * Nothing for axe, and nothing wider than the screen: on a phone in the dark, on a desk in the light;
 * `everyTheme` tries all four.
 */
export async function expectClean(page: Page, where: string, everyTheme?: 'everyTheme'): Promise<void> {
  for (const [viewport, usual] of [
    [PHONE, 'dark'],
    [WIDE, 'light'],
  ] as const) {
    await page.setViewportSize(viewport);
    expect({ where, width: await page.evaluate(() => document.documentElement.scrollWidth) }).toEqual({
      where,
      width: viewport.width,
    });
    for (const [number, colorScheme] of (everyTheme === undefined ? [usual] : (['dark', 'light'] as const)).entries()) {
      await page.emulateMedia({ colorScheme });
      const found = await violations(page, number > 0 && 'colours');
      expect({ where, ...viewport, colorScheme, violations: found }).toEqual({
        where,
        ...viewport,
        colorScheme,
        violations: [],
      });
    }
  }
}
