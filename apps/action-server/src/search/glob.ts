import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type GlobAction, MAX_OBSERVATION_LENGTH, MAX_SEARCH_RESULTS } from '@slipway/contracts/actions';
import { globMatcher } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { ripgrep } from './ripgrep.js';
import { type FoundFiles, notADirectory, searchPlace } from './search-place.js';

/** Most matching files whose times are compared. */
const MAX_COMPARED = 50_000;
/** Files whose times are asked for at once. */
const AT_ONCE = 64;

/**
 * Files that match, the one that was changed last first. @throws SlipwayError for a place or pattern that cannot be
 * searched, and the signal's reason.
 */
export async function glob(
  action: GlobAction,
  options: { readonly program: string; readonly directory: string; readonly signal: AbortSignal },
): Promise<FoundFiles> {
  const { place, found } = await searchPlace(options.directory, action.path);
  if (!found.isDirectory()) throw notADirectory(place);
  const { folder, rest } = fixedPart(place, action.pattern);
  const matches = globMatcher(rest);
  if (matches === undefined)
    throw new SlipwayError(
      'request.invalid',
      `The braces of the pattern ${action.pattern} stand for too many patterns.`,
    );
  const all: string[] = [];
  const isThere = (await stat(folder).catch(() => undefined))?.isDirectory() === true;
  const { ended } = isThere
    ? await ripgrep(['--files', '--null'], {
        program: options.program,
        cwd: folder,
        signal: options.signal,
        end: '\0',
        line: (name) => {
          if (matches(name)) all.push(path.join(folder, name));
          return all.length < MAX_COMPARED;
        },
      })
    : { ended: 'all' as const };
  const sorted = await newestFirst(all, options.signal);
  const files: string[] = [];
  let length = 0;
  for (const file of sorted.slice(0, MAX_SEARCH_RESULTS)) {
    length += file.length + 1;
    if (length > MAX_OBSERVATION_LENGTH - 500) break;
    files.push(file);
  }
  return {
    text: textOf(action.pattern, place, { files, count: all.length, ended }),
    searchPath: place,
    files,
    truncated: ended !== 'all' || files.length < all.length,
  };
}

/** The folders that a pattern begins with are where the search begins; the remaining pattern is searched from there. */
function fixedPart(place: string, pattern: string): { folder: string; rest: string } {
  const segments = pattern.split('/');
  let fixed = 0;
  while (fixed < segments.length - 1 && !/[*?[\]{}\\]/.test(segments[fixed] as string)) fixed++;
  if (fixed === 0) return { folder: place, rest: pattern };
  return {
    folder: path.resolve(place, `${segments.slice(0, fixed).join('/')}/`),
    rest: `/${segments.slice(fixed).join('/')}`,
  };
}

function textOf(
  pattern: string,
  place: string,
  { files, count, ended }: { files: readonly string[]; count: number; ended: string },
): string {
  const partial =
    ended === 'timeout'
      ? ' The search took too long and was stopped: there may be more. Search a smaller directory.'
      : '';
  if (count === 0) return `No files match ${pattern} in ${place}.${partial}`;
  const more =
    files.length < count || ended === 'enough'
      ? `\n[Only the ${files.length} files changed last are listed; ${ended === 'enough' ? 'at least ' : ''}${count} match. Use a narrower pattern.]`
      : '';
  return `${count === 1 ? '1 file matches' : `${count} files match`} ${pattern} in ${place}:\n${files.join('\n')}${more}${partial === '' ? '' : `\n[${partial.trim()}]`}`;
}

async function newestFirst(files: readonly string[], signal: AbortSignal): Promise<string[]> {
  const times: Array<{ file: string; time: number }> = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    signal.throwIfAborted();
    times.push(
      ...(await Promise.all(
        files
          .slice(at, at + AT_ONCE)
          .map(async (file) => ({ file, time: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 })),
      )),
    );
  }
  return times.sort((a, b) => b.time - a.time || (a.file < b.file ? -1 : 1)).map(({ file }) => file);
}
