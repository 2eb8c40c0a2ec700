import { MAX_FOUND_FILES } from '@slipway/contracts/live';
import { SlipwayError } from '@slipway/errors';
import { ripgrep, ripgrepIn } from '../search/ripgrep.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';

/** Most files that match which are compared. */
const MAX_COMPARED = 5_000;

/**
 * Files whose path holds the letters in this order, the nearest first; hidden ones too, ignored ones not. @throws
 * SlipwayError `sandbox.tool-unavailable`.
 */
export async function findFiles(
  workspace: string,
  query: string,
  { environment, signal }: { readonly environment: ShellEnvironment; readonly signal: AbortSignal },
): Promise<{ paths: string[]; complete: boolean }> {
  const program = ripgrepIn(environment.variables()['PATH'] ?? '');
  if (program === null)
    throw new SlipwayError(
      'sandbox.tool-unavailable',
      'Files cannot be searched: the image of this sandbox has no ripgrep.',
    );
  const wanted = query.toLowerCase().replaceAll(/\s+/g, '');
  const found: Array<{ path: string; distance: number }> = [];
  const { ended } = await ripgrep(['--files', '--null'], {
    program,
    cwd: workspace,
    signal,
    end: '\0',
    line: (file) => {
      const distance = distanceTo(file.toLowerCase(), wanted);
      if (distance !== null) found.push({ path: file, distance });
      return found.length < MAX_COMPARED;
    },
  });
  found.sort((a, b) => a.distance - b.distance || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return {
    paths: found.slice(0, MAX_FOUND_FILES).map((one) => one.path),
    complete: ended === 'all' && found.length <= MAX_FOUND_FILES,
  };
}

/**
 * Less is nearer; `null`: the letters are not there. In the name is nearer than in the folders, together nearer than
 * apart.
 */
export function distanceTo(file: string, wanted: string): number | null {
  const name = file.slice(file.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (file.includes(wanted)) return 2;
  const inName = spread(name, wanted);
  if (inName !== null) return 3 + inName;
  const inPath = spread(file, wanted);
  return inPath === null ? null : 1_000 + inPath;
}

/** How far apart the letters are, each at its first place after the one before. */
function spread(text: string, wanted: string): number | null {
  let at = -1;
  let first = -1;
  for (const letter of wanted) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return null;
    if (first < 0) first = at;
  }
  return at - first;
}
