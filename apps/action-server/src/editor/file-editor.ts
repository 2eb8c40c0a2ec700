import { lstat, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  beginningOf,
  clippedFrom,
  type FileEditorAction,
  type FileEditorObservation,
} from '@slipway/contracts/actions';
import type { ImageContent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import { fileError } from '../files/disk-space.js';
import { viewDirectory } from './directory-view.js';
import { EditHistory } from './edit-history.js';
import { offsetsOf } from './find-sequence.js';
import { OneAtATime } from './one-at-a-time.js';
import { readPicture } from './picture.js';
import { clipped, lineAt, lineCount, nearMiss, numbered, numberedFile, offsetAfter, snippet } from './snippets.js';
import { MAX_TEXT_BYTES, readLines, readTextFile, type TextFile, tooLarge, writeTextFile } from './text-file.js';

type Action = z.output<typeof FileEditorAction>;
type Observation = z.output<typeof FileEditorObservation>;

/** Contents longer than this are not repeated in the observation. UTF-16 code units. */
const MAX_CONTENT = 200_000;
/** Most places of a text that is not unique that are named. */
const MAX_NAMED = 100;
const REVIEW = 'Review the changes and make sure they are as expected. Edit the file again if necessary.';

interface Result {
  readonly text: string;
  readonly picture?: ImageContent;
  readonly existed: boolean;
  readonly before?: string;
  readonly after?: string;
}

/**
 * The agent's file editor, in the words that models were trained on. A failure is an observation with `is_error` and a
 * sentence; it has `error_code` when it is one of the typed ones. It touches whatever the user of this process may
 * touch, as the terminal does.
 */
export class FileEditor {
  constructor(
    private readonly history = new EditHistory(),
    private readonly turns = new OneAtATime(),
  ) {}

  /** One after another: two edits of one file never overlap. */
  execute(action: Action): Promise<Observation> {
    return this.turns.run(() => this.#execute(action));
  }

  async #execute(action: Action): Promise<Observation> {
    try {
      const result = await this.#perform(action);
      const answer = observation(action, clipped(result.text), {
        prev_exist: result.existed,
        old_content: bounded(result.before),
        new_content: bounded(result.after),
      });
      return result.picture === undefined ? answer : { ...answer, content: [...answer.content, result.picture] };
    } catch (thrown) {
      const error = fileError(thrown, action.path);
      if (!(error instanceof SlipwayError)) throw error;
      return { ...observation(action, clipped(error.detail), {}), is_error: true, error_code: error.code };
    }
  }

  #perform(action: Action): Promise<Result> {
    if (!path.isAbsolute(action.path))
      throw refused(
        `The path ${action.path} is not absolute: it must start with /. Maybe you meant ${path.join('/', action.path)}?`,
      );
    if (action.path.includes('\0')) throw refused('The path holds a NUL character.');
    switch (action.command) {
      case 'view':
        return view(action);
      case 'create':
        return this.#create(action);
      case 'str_replace':
        return this.#replace(action);
      case 'insert':
        return this.#insert(action);
      case 'undo_edit':
        return this.#undo(action.path);
    }
  }

  async #create({ path: file, file_text: text }: Action): Promise<Result> {
    if (typeof text !== 'string') throw refused('Parameter `file_text` is required for command: create.');
    const there = await lstat(file).catch((error: unknown) =>
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Promise.reject(fileError(error, file)),
    );
    if (there?.isDirectory()) throw refused(`${file} is a directory.`);
    if (there !== undefined)
      throw refused(
        `File already exists at: ${file}. Cannot overwrite files using command \`create\`; use \`str_replace\` or \`insert\`.`,
      );
    await mkdir(path.dirname(file), { recursive: true }).catch((error: unknown) =>
      Promise.reject(fileError(error, file)),
    );
    await writeTextFile(file, { text, encoding: 'utf8' });
    this.history.push(file, null);
    return { text: `File created successfully at: ${file}`, existed: false, after: text };
  }

  async #replace({ path: file, old_str: wanted, new_str: replacement }: Action): Promise<Result> {
    if (typeof wanted !== 'string') throw refused('Parameter `old_str` is required for command: str_replace.');
    if (wanted === '') throw refused('Parameter `old_str` is empty. Use `insert` to add text.');
    if (wanted === (replacement ?? ''))
      throw refused('No replacement was performed: `new_str` and `old_str` must be different.');
    const before = await readTextFile(file);
    const places = offsetsOf(before.text, wanted, MAX_NAMED);
    const [at] = places;
    if (at === undefined)
      throw refused(
        `No replacement was performed, old_str \`${quoted(wanted)}\` did not appear verbatim in ${file}.${nearMiss(before.text, wanted)}`,
      );
    const lines = places.map((offset) => lineAt(before.text, offset));
    if (lines.length > 1)
      throw refused(
        `No replacement was performed. Multiple occurrences of old_str \`${quoted(wanted)}\` in lines [${lines.join(', ')}]. Please ensure it is unique.`,
      );
    const text = before.text.slice(0, at) + (replacement ?? '') + before.text.slice(at + wanted.length);
    return this.#write(file, before, text, {
      line: lineAt(before.text, at),
      count: (replacement ?? '').split('\n').length,
    });
  }

  async #insert({ path: file, insert_line: after, new_str: inserted }: Action): Promise<Result> {
    if (typeof after !== 'number') throw refused('Parameter `insert_line` is required for command: insert.');
    if (typeof inserted !== 'string') throw refused('Parameter `new_str` is required for command: insert.');
    const before = await readTextFile(file);
    const count = lineCount(before.text);
    if (after > count)
      throw refused(
        `Invalid \`insert_line\` parameter: ${after}. The file has ${count} lines: it should be within [0, ${count}].`,
      );
    const at = offsetAfter(before.text, after);
    const [head, tail] = [before.text.slice(0, at), before.text.slice(at)];
    // A last line without its end gets one, and what is put after it then has none either.
    const text =
      head === '' || head.endsWith('\n')
        ? `${head}${inserted.replace(/\n$/, '')}\n${tail}`
        : `${head}\n${inserted.replace(/\n$/, '')}`;
    return this.#write(file, before, text, { line: after + 1, count: inserted.split('\n').length });
  }

  async #undo(file: string): Promise<Result> {
    const last = this.history.last(file);
    if (last === undefined) throw refused(`No edit history found for ${file}.`);
    const now = await readTextFile(file).catch(() => undefined);
    if (last === null)
      await rm(file, { force: true }).catch((error: unknown) => Promise.reject(fileError(error, file)));
    else await writeTextFile(file, last);
    this.history.forget(file);
    const shown =
      last === null
        ? 'The file was created by that edit and is gone now.'
        : `Here's the result of running \`cat -n\` on ${file}:\n${numberedFile(last.text)}`;
    return {
      text: `Last edit to ${file} undone successfully. ${shown}`,
      existed: now !== undefined,
      ...(now === undefined ? {} : { before: now.text }),
      ...(last === null ? {} : { after: last.text }),
    };
  }

  async #write(
    file: string,
    before: TextFile,
    text: string,
    changed: { line: number; count: number },
  ): Promise<Result> {
    if (Buffer.byteLength(text) > MAX_TEXT_BYTES) throw tooLarge(file, Buffer.byteLength(text));
    await writeTextFile(file, { text, encoding: before.encoding });
    this.history.push(file, before);
    const shown = `The file ${file} has been edited. Here's the result of running \`cat -n\` on a snippet of ${file}:\n${snippet(text, changed.line, changed.count)}\n${REVIEW}`;
    return { text: shown, existed: true, before: before.text, after: text };
  }
}

async function view({ path: file, view_range: range }: Action): Promise<Result> {
  const found = await stat(file).catch((error: unknown) => Promise.reject(fileError(error, file)));
  if (found.isDirectory()) {
    if (range) throw refused('The `view_range` parameter is not allowed when `path` points to a directory.');
    return { text: await viewDirectory(file), existed: true };
  }
  if (!found.isFile()) throw refused(`${file} is neither a file nor a directory.`);
  const picture = await readPicture(file).catch((error: unknown) => Promise.reject(fileError(error, file)));
  if (picture !== undefined)
    return {
      text: `${file} is a picture (${picture.type}, ${picture.bytes} bytes).`,
      picture: picture.content,
      existed: true,
    };
  const title = `Here's the result of running \`cat -n\` on ${file}:\n`;
  if (!range) return { text: title + numberedFile((await readTextFile(file)).text), existed: true };
  const [first, last] = range;
  if (first < 1) throw refused(`Invalid \`view_range\`: [${first}, ${last}]. Lines begin at 1.`);
  if (last !== -1 && last < first)
    throw refused(
      `Invalid \`view_range\`: [${first}, ${last}]. The second number must be greater than or equal to the first, or -1 for the end.`,
    );
  // A range is read from files of any size, so a little more than can be shown is enough.
  const { lines, cut } = await readLines(file, first, last, MAX_CONTENT).catch((error: unknown) =>
    Promise.reject(fileError(error, file)),
  );
  if (lines.length === 0)
    throw refused(`Invalid \`view_range\`: [${first}, ${last}]. The file has fewer than ${first} lines.`);
  return {
    text: title + numbered(lines, first) + (cut ? clippedFrom('the range is longer than can be shown') : ''),
    existed: true,
  };
}

function refused(detail: string): SlipwayError {
  return new SlipwayError('request.invalid', detail);
}

function quoted(text: string): string {
  return beginningOf(text, 2_000);
}

function bounded(content: string | undefined): string | null {
  return content === undefined || content.length > MAX_CONTENT ? null : content;
}

function observation(action: Action, text: string, more: Partial<Observation>): Observation {
  return {
    kind: 'FileEditorObservation',
    content: [{ type: 'text', text }],
    is_error: false,
    command: action.command,
    path: action.path,
    prev_exist: true,
    old_content: null,
    new_content: null,
    ...more,
  };
}
