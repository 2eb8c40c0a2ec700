import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';
import { leftBeside, placeOf, prepareReplacement, type Replacement } from '../files/replacement.js';

/** Largest file that is read whole. Bytes. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;
/** Read to distinguish text from binary. Bytes. */
const SAMPLE_BYTES = 8 * 1024;
/** Neither opening a pipe nor reading what the kernel has yet to say (`/proc/kmsg`) waits for a writer. */
export const NEVER_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;

export interface TextFile {
  readonly text: string;
  /** As it was read, and as it must be written: nothing but the edited part may change. */
  readonly encoding: 'utf8' | 'latin1' | 'utf16le' | 'utf16be';
}

/**
 * A whole text file. @throws SlipwayError `file.not-found`, `file.binary`, `file.too-large` (decided before it is
 * read).
 */
export async function readTextFile(file: string): Promise<TextFile> {
  try {
    const handle = await open(file, NEVER_WAITING);
    try {
      const found = await handle.stat();
      if (!found.isFile() && !found.isDirectory())
        throw new SlipwayError('request.invalid', `${file} is neither a file nor a directory.`);
      const { size } = found;
      if (size > MAX_TEXT_BYTES) throw tooLarge(file, size);
      const sample = Buffer.alloc(Math.min(SAMPLE_BYTES, size));
      await handle.read(sample, 0, sample.length, 0);
      if (sample.includes(0) && markOf(sample) === undefined) throw binary(file);
      // A file of /proc says 0 and has content; a file may grow meanwhile.
      const bytes = await readAtMost(handle.createReadStream({ start: 0, end: MAX_TEXT_BYTES, autoClose: false }));
      if (bytes.length > MAX_TEXT_BYTES) throw tooLarge(file, bytes.length);
      const wide = markOf(bytes);
      if (wide !== undefined)
        return {
          text: wide === 'utf16le' ? bytes.toString('utf16le') : swapped(bytes).toString('utf16le'),
          encoding: wide,
        };
      if (bytes.includes(0)) throw binary(file);
      return decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileError(error, file);
  }
}

/**
 * Lines `first` to `last` (from 1) of a file of any size; `last` -1 is its end. Stops reading after `maxLength` code
 * units.
 */
export async function readLines(
  file: string,
  first: number,
  last: number,
  maxLength: number,
): Promise<{ lines: string[]; cut: boolean }> {
  const lines: string[] = [];
  let length = 0;
  let number = 1;
  let rest = '';
  const stream = (await open(file, NEVER_WAITING)).createReadStream({ encoding: 'utf8', highWaterMark: 256 * 1024 });
  for await (const chunk of stream as AsyncIterable<string>) {
    if (number === 1 && chunk.slice(0, SAMPLE_BYTES).includes('\0')) throw binary(file);
    const parts = chunk.split('\n');
    for (const [index, part] of parts.entries()) {
      const wanted = number >= first && (last === -1 || number <= last);
      if (wanted) rest += part;
      if (wanted && length + rest.length > maxLength) {
        lines.push(rest.slice(0, maxLength - length));
        return { lines, cut: true };
      }
      if (index === parts.length - 1) break;
      if (wanted) {
        lines.push(rest);
        length += rest.length + 1;
      }
      rest = '';
      number += 1;
      if (last !== -1 && number > last) return { lines, cut: false };
    }
  }
  if (rest !== '') lines.push(rest);
  return { lines, cut: false };
}

/** Replaces the content as `prepareReplacement` does: a full disk leaves the file as it was. A link stays a link. */
export async function writeTextFile(file: string, content: TextFile): Promise<void> {
  await (await stageTextFile(file, content)).commit();
}

/**
 * As `writeTextFile`, up to the step itself: what may fail for want of room or rights has been done beside the file.
 * @param newMode of a file that is not there.
 */
export async function stageTextFile(
  file: string,
  { text, encoding }: TextFile,
  newMode?: number,
): Promise<{ commit(): Promise<void>; discard(): Promise<void> }> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of Latin-1
  if (encoding === 'latin1' && /[^\x00-\xff]/.test(text))
    throw new SlipwayError('request.invalid', `${file} is in Latin-1, which has no sign for some of the new text.`);
  const target = await placeOf(file);
  const temporary = path.join(
    path.dirname(target),
    `.${path.basename(target).slice(0, 50)}.${randomBytes(4).toString('hex')}`,
  );
  const discard = (): Promise<void> => rm(temporary, { force: true });
  let prepared: Replacement | undefined;
  try {
    await writeFile(temporary, encoded(text, encoding), {
      flag: 'wx',
      ...(newMode === undefined ? {} : { mode: newMode & 0o7777 }),
    });
    prepared = await prepareReplacement(temporary, target);
  } catch (error) {
    await discard().catch(() => undefined);
    throw fileError(error, file);
  }
  const { step } = prepared;
  const commit = async (): Promise<void> => {
    try {
      step();
    } catch (error) {
      if (prepared.keepsSource) throw leftBeside(file, temporary, error);
      await discard().catch(() => undefined);
      throw fileError(error, file);
    }
    await discard().catch(() => undefined);
  };
  return { commit, discard };
}

export function binary(file: string): SlipwayError {
  return new SlipwayError('file.binary', `${file} is not a text file.`);
}

export function tooLarge(file: string, bytes: number): SlipwayError {
  return new SlipwayError(
    'file.too-large',
    `${file} has ${Math.ceil(bytes / 1024 / 1024)} MiB; the limit is ${MAX_TEXT_BYTES / 1024 / 1024} MiB. View a range of its lines, or use the terminal.`,
  );
}

async function readAtMost(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): TextFile {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), encoding: 'utf8' };
  } catch {
    return { text: bytes.toString('latin1'), encoding: 'latin1' };
  }
}

/**
 * UTF-16 by the mark that such a file begins with; without one, NUL bytes are a sign of no text. An odd byte at the end
 * is of no UTF-16.
 */
function markOf(bytes: Buffer): 'utf16le' | 'utf16be' | undefined {
  if (bytes.length < 2 || bytes.length % 2 !== 0) return undefined;
  const mark = bytes.readUInt16BE(0);
  return mark === 0xfffe ? 'utf16le' : mark === 0xfeff ? 'utf16be' : undefined;
}

/** The bytes of a file that is to hold this text. */
export function encoded(text: string, encoding: TextFile['encoding']): Buffer {
  return encoding === 'utf16be' ? swapped(Buffer.from(text, 'utf16le')) : Buffer.from(text, encoding);
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes).swap16();
}
