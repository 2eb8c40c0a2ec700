import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const PAGES = path.resolve(import.meta.dirname, '../../docs/operate');
/** Longest that one block of commands may take. Milliseconds. */
const TIMEOUT_MS = 240_000;

/**
 * The block of commands of a page of docs/operate that stands below `<!-- tested: NAME -->`. @throws Error when there
 * is no such block: the page and its test have parted.
 */
export function documentedCommands(page: string, name: string): string {
  const text = readFileSync(path.join(PAGES, page), 'utf8');
  const block = new RegExp(`<!-- tested: ${name} -->\\n+\`\`\`sh\\n([^]*?)\`\`\``).exec(text)?.[1];
  if (block === undefined) throw new Error(`docs/operate/${page} has no block that is tested as ${name}`);
  return block;
}

/**
 * Runs the page's own words in bash, so that what an operator types is what was tried.
 * @param env beside PATH and HOME, all that the commands see.
 * @throws Error with what the commands printed.
 */
export async function runDocumented(
  page: string,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const commands = documentedCommands(page, name);
  try {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      timeout: TIMEOUT_MS,
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`docs/operate/${page}, ${name}, did not work:\n${commands}\n${stdout}${stderr}`, { cause: error });
  }
}
