/**
 * Every place where `wanted` stands in `all` from `from` on, also those that overlap (Knuth, Morris and Pratt). Takes
 * as long as both together are, whatever they repeat: what a model sends, and the file that it is about, may have a
 * million equal lines.
 */
function* placesOf<T>(all: ArrayLike<T>, wanted: ArrayLike<T>, from: number): Generator<number> {
  if (wanted.length === 0) return;
  /** For each length of a beginning of `wanted`: the longest shorter beginning that it ends with. */
  const shorter = new Int32Array(wanted.length + 1);
  for (let at = 1, length = 0; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = shorter[length] as number;
    if (wanted[at] === wanted[length]) length += 1;
    shorter[at + 1] = length;
  }
  for (let at = from, length = 0; at < all.length; at++) {
    while (length > 0 && all[at] !== wanted[length]) length = shorter[length] as number;
    if (all[at] === wanted[length]) length += 1;
    if (length < wanted.length) continue;
    yield at - length + 1;
    length = shorter[length] as number;
  }
}

/** The first of them, or -1. */
export function placeOf<T>(all: ArrayLike<T>, wanted: ArrayLike<T>, from: number): number {
  for (const at of placesOf(all, wanted, from)) return at;
  return -1;
}

/** A text of at most this length is searched by the engine, whose worst case grows with it. UTF-16 code units. */
const SHORT = 256;

/** Offsets, at most `limit`, of a text that may overlap itself. */
export function offsetsOf(text: string, wanted: string, limit: number): number[] {
  const found: number[] = [];
  if (wanted.length > SHORT) {
    for (const at of placesOf(unitsOf(text), unitsOf(wanted), 0)) {
      found.push(at);
      if (found.length === limit) break;
    }
  } else
    for (let at = text.indexOf(wanted); at >= 0 && found.length < limit; at = text.indexOf(wanted, at + 1))
      found.push(at);
  return found;
}

function unitsOf(text: string): Uint16Array {
  const bytes = Buffer.from(text, 'utf16le');
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
}
