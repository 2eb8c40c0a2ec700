import { accessSync, constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The Chromium of this machine: CHROMIUM_PATH, or the first of the usual names on the PATH; `null` when there is none. */
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

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly string[];
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds on the page that is serious or critical. */
export async function seriousViolations(page: Page): Promise<Violation[]> {
  // Evaluated from outside: the page's own policy forbids scripts that are not its own.
  await page.evaluate(await readFile(AXE, 'utf8'));
  return page.evaluate(async () => {
    const axe = (
      globalThis as unknown as {
        axe: { run: (options: object) => Promise<{ violations: Array<{ id: string; impact: string; nodes: Array<{ html: string }> }> }> };
      }
    ).axe;
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html.slice(0, 200)) }));
  });
}
