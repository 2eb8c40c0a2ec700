import { accessSync, constants, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** As Debian and others install it; the one without a screen is the smaller. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const NO_CHROMIUM =
  'There is no browser in this sandbox: its image has no Chromium. Read pages with curl in the terminal. A sandbox image with the option `browser` has one.';
const NO_DRIVER =
  'There is no browser in this sandbox: its image has no playwright-core beside action-server. Read pages with curl in the terminal.';

/** The program, or the sentence that says what is missing. Starts nothing: it checks names only. */
export function findChromium(
  env: Readonly<Record<string, string | undefined>>,
): { readonly program: string } | { readonly missing: string } {
  const program = [env['CHROMIUM_PATH'], ...inPath(env['PATH'] ?? ''), ...ofPlaywright(env)].find(
    (file) => file !== undefined && isExecutable(file),
  );
  if (program === undefined) return { missing: NO_CHROMIUM };
  return hasDriver() ? { program } : { missing: NO_DRIVER };
}

function inPath(searched: string): string[] {
  return searched
    .split(path.delimiter)
    .flatMap((folder) => (path.isAbsolute(folder) ? NAMES.map((name) => path.join(folder, name)) : []));
}

/** Where playwright's own installer puts it. */
function ofPlaywright({
  PLAYWRIGHT_BROWSERS_PATH: given,
  HOME: home,
}: Readonly<Record<string, string | undefined>>): string[] {
  const root = given ?? (home === undefined ? undefined : path.join(home, '.cache/ms-playwright'));
  if (root === undefined || !path.isAbsolute(root)) return [];
  const versions = entriesOf(root).filter((name) => /^chromium(?:_headless_shell)?-\d+$/.test(name));
  return versions
    .sort()
    .reverse()
    .flatMap((version) => {
      const folder = path.join(root, version);
      return entriesOf(folder).flatMap((name) => [
        path.join(folder, name, 'chrome-headless-shell'),
        path.join(folder, name, 'chrome'),
      ]);
    });
}

function hasDriver(): boolean {
  try {
    createRequire(import.meta.url).resolve('playwright-core');
    return true;
  } catch {
    return false;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
