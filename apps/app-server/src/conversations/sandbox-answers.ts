import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type NoSlot, type ReadSlot, readWithin } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';

/** Items checked before the event loop gets a turn. A hundred take well under a millisecond. */
const SLICE = 100;
const MIB = 1024 * 1024;
/** Deepest nesting of a list's text: two are enough for a list of objects. A million brackets cost V8 twenty times what the same bytes in strings do. */
const MAX_DEPTH = 8;
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = ['"', '\\', '[', ']', '{', '}'].map((sign) => sign.charCodeAt(0));
/** Texts are read one after the other, with a turn of the event loop between two. */
let lastReading: Promise<void> = Promise.resolve();

/** What one answer of a sandbox may be, and whose room it takes. */
export interface AnswerBound {
  /** Bytes. */
  readonly maxBytes: number;
  readonly slot: Pick<ReadSlot, 'take'>;
}

/** @throws SlipwayError `rate.limited` when the organization has all of its reads under way, `service.unavailable` when this process has. */
export function slotOrThrow(slot: ReadSlot | NoSlot): ReadSlot {
  if (slot === 'org') throw new SlipwayError('rate.limited', 'Your organization reads from as many sandboxes at once as it may.', { retryAfterSeconds: 2 });
  if (slot === 'process') throw new SlipwayError('service.unavailable', 'Too many sandboxes are being read from at the moment.', { retryAfterSeconds: 2 });
  return slot;
}

/** The answer as text. @throws SlipwayError `file.too-large` beyond the bound, `service.unavailable` where there is no room for it. */
export async function textOf(response: IncomingMessage, { maxBytes, slot }: AnswerBound): Promise<string> {
  assertPlain(response);
  const parts = await readWithin(response as AsyncIterable<Buffer>, maxBytes, slot);
  if (typeof parts === 'string') {
    response.destroy();
    if (parts === 'too-large') throw tooLarge(maxBytes);
    throw new SlipwayError('service.unavailable', 'Answers of sandboxes take all the memory that they may.', { retryAfterSeconds: 2 });
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The answer as it comes, for whoever takes it at their own pace; nothing of it is kept. Beyond the bound it ends with an error, so that a part is never taken for the whole. */
export function bytesOf(response: IncomingMessage, maxBytes: number): Transform {
  assertPlain(response);
  let bytes = 0;
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
      bytes += chunk.length;
      if (bytes > maxBytes) done(tooLarge(maxBytes));
      else done(null, chunk);
    },
  });
  bounded.once('close', () => response.destroy());
  response.once('error', (error) => bounded.destroy(error));
  response.once('aborted', () => bounded.destroy(new Error('the sandbox broke off its answer')));
  return response.pipe(bounded);
}

/**
 * JSON text of `convert` of each item of a JSON list, without holding up the event loop: only the first reading of the text is in one piece, which its bound
 * keeps at a few milliseconds. @throws SyntaxError, ZodError.
 */
export async function convertedList<T extends z.ZodType>(text: string, schema: T, convert: (item: z.output<T>) => unknown): Promise<string> {
  const items = await readInTurn(text);
  if (!Array.isArray(items)) throw new SyntaxError('the answer is no list');
  const parts: string[] = [];
  for (let from = 0; from < items.length; from += SLICE) {
    const slice = items.slice(from, from + SLICE).map((item) => JSON.stringify(convert(schema.parse(item))));
    parts.push(slice.join(','));
    await nextTurn();
  }
  return `[${parts.join(',')}]`;
}

/** Resolves after a turn of the event loop that no other text was read in. */
async function readInTurn(text: string): Promise<unknown> {
  const turn = lastReading.then(() => nextTurn());
  lastReading = turn;
  await turn;
  if (isDeeper(text, MAX_DEPTH)) throw new SyntaxError(`the answer is nested deeper than ${MAX_DEPTH}`);
  return JSON.parse(text);
}

function isDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > most) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

/** Where the string that begins at `from` ends; of one without an end that of the text. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

function tooLarge(maxBytes: number): SlipwayError {
  return new SlipwayError(
    'file.too-large',
    maxBytes < MIB
      ? `The sandbox answered with more than ${maxBytes / 1024} KiB.`
      : `The sandbox answered with more than ${maxBytes / MIB} MiB; ask for one file at a time, or use its terminal.`,
  );
}

/** Nothing asked for compression: what it would unpack to is not known before. */
function assertPlain(response: IncomingMessage): void {
  const encoding = response.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  response.destroy();
  throw new SlipwayError('sandbox.unreachable', 'The sandbox gave an answer that cannot be read.', { internal: `content-encoding ${encoding.slice(0, 50)}` });
}
