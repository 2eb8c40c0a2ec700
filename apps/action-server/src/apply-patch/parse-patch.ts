import { SlipwayError } from '@slipway/errors';

/**
 * One place of a file: `before` stands there (context and removed lines), `after` takes its place (context and added
 * lines).
 */
export interface Chunk {
  /** Lines after `@@`, each to be found in turn before the chunk. */
  readonly anchors: readonly string[];
  readonly lines: ReadonlyArray<{ readonly sign: ' ' | '+' | '-'; readonly text: string }>;
  /** The chunk ends the file. */
  readonly atEnd: boolean;
}

export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo: string | null;
      readonly chunks: readonly Chunk[];
    };

/** Most files of one patch. */
const MAX_FILES = 500;
const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;

/**
 * Reads `*** Begin Patch … *** End Patch`; a code fence or a here-document around it is passed over. @throws
 * SlipwayError `request.invalid` that names the line.
 */
export function parsePatch(text: string): FilePatch[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const first = lines.findIndex((line) => line.trim() === BEGIN);
  const last = lines.findLastIndex((line) => line.trim() === END);
  if (first < 0) throw wrong(1, `a patch begins with the line "${BEGIN}"`);
  if (last < first) throw wrong(lines.length, `a patch ends with the line "${END}"`);
  const files: FilePatch[] = [];
  for (let at = first + 1; at < last; ) {
    const line = lines[at] as string;
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const [, verb, given = ''] = FILE.exec(line.trim()) ?? [];
    if (verb === undefined)
      throw wrong(
        at + 1,
        `expected "*** Add File: …", "*** Update File: …" or "*** Delete File: …", found "${shortened(line)}"`,
      );
    if (files.length === MAX_FILES) throw wrong(at + 1, `a patch may change ${MAX_FILES} files`);
    const path = given.trim();
    if (path.includes('\0')) throw wrong(at + 1, 'the path holds a NUL character');
    let end = at + 1;
    while (end < last && !FILE.test((lines[end] as string).trim())) end += 1;
    files.push(fileOf(verb, path, lines.slice(at + 1, end), at + 2));
    at = end;
  }
  if (files.length === 0) throw wrong(first + 1, 'the patch names no file');
  return files;
}

function fileOf(verb: string, path: string, body: readonly string[], number: number): FilePatch {
  if (verb === 'Delete') {
    const extra = body.findIndex((line) => line.trim() !== '');
    if (extra >= 0) throw wrong(number + extra, `"*** Delete File: ${path}" takes no lines`);
    return { kind: 'delete', path };
  }
  if (verb === 'Add') {
    const lines = withoutEmptyEnd(body);
    const bare = lines.findIndex((line) => !line.startsWith('+'));
    if (bare >= 0) throw wrong(number + bare, 'each line of an added file begins with +');
    return { kind: 'add', path, lines: lines.map((line) => line.slice(1)) };
  }
  const [, moved] = MOVE.exec((body[0] ?? '').trim()) ?? [];
  const chunks = chunksOf(moved === undefined ? body : body.slice(1), moved === undefined ? number : number + 1);
  if (moved === undefined && chunks.length === 0) throw wrong(number, `"*** Update File: ${path}" has no changes`);
  return { kind: 'update', path, moveTo: moved?.trim() ?? null, chunks };
}

function chunksOf(body: readonly string[], number: number): Chunk[] {
  const chunks: Chunk[] = [];
  let anchors: string[] = [];
  let lines: Array<Chunk['lines'][number]> = [];
  const close = (atEnd: boolean): void => {
    if (lines.length > 0) chunks.push({ anchors, lines, atEnd });
    if (lines.length > 0) anchors = [];
    lines = [];
  };
  for (const [index, line] of withoutEmptyEnd(body).entries()) {
    if (line.trim() === '*** End of File') close(true);
    else if (/^@@(?: |$)/.test(line)) {
      close(false);
      const anchor = line.slice(3);
      if (anchor.trim() !== '') anchors.push(anchor);
    } else if (line === '') lines.push({ sign: ' ', text: '' });
    else {
      const sign = line[0];
      if (sign !== ' ' && sign !== '+' && sign !== '-')
        throw wrong(number + index, `each line begins with a space, + or -, found "${shortened(line)}"`);
      lines.push({ sign, text: line.slice(1) });
    }
  }
  close(false);
  return chunks;
}

/** Models leave empty lines between files. */
function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && lines[end - 1] === '') end -= 1;
  return lines.slice(0, end);
}

function wrong(line: number, what: string): SlipwayError {
  return new SlipwayError('request.invalid', `Nothing was changed. Line ${line} of the patch: ${what}.`);
}

function shortened(line: string): string {
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
}
