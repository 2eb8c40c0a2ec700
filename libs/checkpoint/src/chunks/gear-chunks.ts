import { createHash } from 'node:crypto';
import { MAX_CHUNK_BYTES } from '../objects/limits.js';

/** No cut before so many bytes, and one after about 1 MiB in the middle. */
const MIN_BYTES = 256 * 1024;
/** 20 bits, the highest: they depend on the last 32 bytes. */
const MASK = 0xfffff000 | 0;
/** Aligned runs of zeros that are whole blocks of so many bytes are holes. */
export const HOLE_BYTES = 64 * 1024;
const ZEROS = Buffer.alloc(HOLE_BYTES);

/** A word for each value of a byte, from a seed. Without the seed lengths of chunks say less about a file. */
export function gearTable(seed: Uint8Array): Int32Array {
  const table = new Int32Array(256);
  for (let value = 0; value < 256; value += 1)
    table[value] = createHash('sha256')
      .update('slipway gear 1\0')
      .update(seed)
      .update(Buffer.of(value))
      .digest()
      .readInt32LE();
  return table;
}

/**
 * Where the first chunk ends: by its content, so that an insertion moves the cuts next to it and no other.
 * @param data 4 MiB, or all that is left before the file or its next hole ends.
 */
export function cutAt(table: Int32Array, data: Uint8Array): number {
  const end = Math.min(data.length, MAX_CHUNK_BYTES);
  let hash = 0;
  // Bits of what is before the least length minus 32 have left the word there.
  for (let at = MIN_BYTES - 32; at < end; at += 1) {
    hash = ((hash << 1) + (table[data[at] as number] as number)) | 0;
    if ((hash & MASK) === 0 && at >= MIN_BYTES) return at + 1;
  }
  return end;
}

export function isHole(block: Uint8Array): boolean {
  return block.length === HOLE_BYTES && ZEROS.equals(block);
}
