import path from 'node:path';
import { beginningOf, type GrepAction, MAX_OBSERVATION_LENGTH, MAX_SEARCH_RESULTS } from '@slipway/contracts/actions';
import { globMatcher } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { ripgrep } from './ripgrep.js';
import { type FoundFiles, notADirectory, searchPlace } from './search-place.js';

/** Lines that are gathered before they are put in order; those of one file. */
const MAX_GATHERED = 10_000;
const MAX_OF_A_FILE = MAX_SEARCH_RESULTS;
/** Most memory for what a pattern is compiled to; one that needs more is refused at once. */
const MAX_EXPRESSION = '10M';
/** Longest part of a line that is shown. UTF-16 code units. */
const MAX_SHOWN = 400;

interface Hit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * Lines that match, by file and number. @throws SlipwayError for a place or pattern that cannot be searched, and the
 * signal's reason.
 */
export async function grep(
  action: GrepAction,
  options: { readonly program: string; readonly directory: string; readonly signal: AbortSignal },
): Promise<FoundFiles> {
  const { place, found } = await searchPlace(options.directory, action.path);
  if (!found.isDirectory() && !found.isFile()) throw notADirectory(place);
  if (action.pattern.includes('\0'))
    throw new SlipwayError(
      'request.invalid',
      'The pattern holds a NUL character; files that hold one are not searched.',
    );
  const include = action.include ?? null;
  const wanted = include === null ? () => true : globMatcher(include);
  if (wanted === undefined)
    throw new SlipwayError('request.invalid', `The braces of the pattern ${include} stand for too many patterns.`);
  const cwd = found.isDirectory() ? place : path.dirname(place);
  const hits: Hit[] = [];
  const args = [
    '--line-number',
    '--no-heading',
    '--with-filename',
    '--null',
    `--max-columns=${MAX_SHOWN * 4}`,
    '--max-columns-preview',
    `--max-count=${MAX_OF_A_FILE}`,
    `--regex-size-limit=${MAX_EXPRESSION}`,
  ];
  const { ended, failure } = await ripgrep(
    [...args, `--regexp=${action.pattern}`, '--', found.isDirectory() ? './' : path.basename(place)],
    {
      program: options.program,
      cwd,
      signal: options.signal,
      end: '\n',
      line: (line) => {
        const [, name, number, text = ''] = /^([^\0]+)\0(\d+):(.*)$/s.exec(line) ?? [];
        const relative = name?.replace(/^\.\//, '');
        if (relative !== undefined && wanted(relative))
          hits.push({ file: path.join(cwd, relative), line: Number(number), text });
        return hits.length < MAX_GATHERED;
      },
    },
  );
  if (failure !== null && hits.length === 0)
    throw new SlipwayError('request.invalid', `The pattern cannot be searched for: ${beginningOf(failure, 1_000)}`);
  hits.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const { lines, count } = shownOf(hits);
  const files = [...new Set(hits.slice(0, count).map(({ file }) => file))];
  const where = `${place}${include === null ? '' : ` (${include})`}`;
  const notes = [
    ...(count < hits.length || ended === 'enough'
      ? [
          `[Only the first ${count} of ${ended === 'enough' ? 'more than ' : ''}${hits.length} lines are shown. Use a narrower pattern, directory or include.]`,
        ]
      : []),
    ...(ended === 'timeout'
      ? ['[The search took too long and was stopped: there may be more. Search a smaller directory.]']
      : []),
  ];
  const head =
    hits.length === 0
      ? `No line matches ${action.pattern} in ${where}.`
      : `${hits.length === 1 ? '1 line matches' : `${hits.length} lines match`} in ${where}:`;
  return { text: [head, ...lines, ...notes].join('\n'), searchPath: place, files, truncated: notes.length > 0 };
}

/** As many as fit: each file's path once, below it its lines. */
function shownOf(hits: readonly Hit[]): { lines: string[]; count: number } {
  const lines: string[] = [];
  let length = 0;
  let count = 0;
  for (const [index, { file, line, text }] of hits.slice(0, MAX_SEARCH_RESULTS).entries()) {
    const own = [...(hits[index - 1]?.file === file ? [] : [file]), `  ${line}: ${beginningOf(text, MAX_SHOWN)}`];
    length += own.join('\n').length + 1;
    if (length > MAX_OBSERVATION_LENGTH - 1_500) break;
    lines.push(...own);
    count += 1;
  }
  return { lines, count };
}
