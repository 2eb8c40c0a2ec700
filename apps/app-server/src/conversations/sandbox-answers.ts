import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NoSlot, ReadSlot } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

/** Items checked before the event loop gets a turn. A hundred take well under a millisecond. */
const SLICE = 100;
/**
 * Deepest nesting of a list's text: two are enough for a list of objects. A million brackets cost V8 twenty times what
 * the same bytes in strings do.
 */
const MAX_DEPTH = 8;
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = ['"', '\\', '[', ']', '{', '}'].map(
  (sign) => sign.charCodeAt(0),
);
/** Texts are read one after the other, with a turn of the event loop between two. */
let lastReading: Promise<void> = Promise.resolve();

/**
 * @throws SlipwayError `rate.limited` when the organization has all of its reads under way, `service.unavailable` when
 * this process has.
 */
export function slotOrThrow(slot: ReadSlot | NoSlot): ReadSlot {
  if (slot === 'org')
    throw new SlipwayError('rate.limited', 'Your organization reads from as many sandboxes at once as it may.', {
      retryAfterSeconds: 2,
    });
  if (slot === 'process')
    throw new SlipwayError('service.unavailable', 'Too many sandboxes are being read from at the moment.', {
      retryAfterSeconds: 2,
    });
  return slot;
}

/**
 * Hands each item of a JSON list to `take`, without holding up the event loop: only the first reading of the text is in
 * one piece, which its bound keeps at a few milliseconds. @throws SyntaxError and what `take` throws.
 */
export async function readInTurn(text: string, take: (item: unknown) => void): Promise<void> {
  const items = await parsedInTurn(text);
  if (!Array.isArray(items)) throw new SyntaxError('the answer is no list');
  await inSlices(items, (slice) => slice.forEach(take));
}

/** JSON text of `convert` of each item, without holding up the event loop. */
export async function textOfList<T>(items: readonly T[], convert: (item: T) => unknown): Promise<string> {
  const parts: string[] = [];
  await inSlices(items, (slice) => parts.push(slice.map((item) => JSON.stringify(convert(item))).join(',')));
  return `[${parts.join(',')}]`;
}

async function inSlices<T>(items: readonly T[], work: (slice: readonly T[]) => void): Promise<void> {
  for (let from = 0; from < items.length; from += SLICE) {
    work(items.slice(from, from + SLICE));
    await nextTurn();
  }
}

/** Resolves after a turn of the event loop that no other text was read in. */
async function parsedInTurn(text: string): Promise<unknown> {
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
