import { Transform, type TransformCallback } from 'node:stream';
import { MIN_BYTES, type Needle } from './needles.js';

/** Called for each value that was found and masked. */
export type Found = (needle: Needle) => void;

/** Masks values in a stream, across the borders of its chunks. Holds back only what may be the beginning of one. */
export class Masking extends Transform {
  private tail: Buffer = Buffer.alloc(0);

  constructor(
    private readonly needles: readonly Needle[],
    private readonly found: Found,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const data = this.tail.length === 0 ? chunk : Buffer.concat([this.tail, chunk]);
    const { parts, rest } = mask(data, this.needles, this.found);
    const held = heldBack(rest, this.needles);
    for (const part of parts) this.push(part);
    if (rest.length > held) this.push(rest.subarray(0, rest.length - held));
    this.tail = Buffer.from(rest.subarray(rest.length - held));
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.tail.length > 0) this.push(this.tail);
    done();
  }
}

/** Masks values in a header. */
export function maskText(text: string, needles: readonly Needle[], found: Found): string {
  if (text.length < MIN_BYTES) return text;
  const data = Buffer.from(text, 'latin1');
  const masked = maskBytes(data, needles, found);
  return masked === data ? text : masked.toString('latin1');
}

/** Masks values in all of a body. */
export function maskBytes(data: Buffer, needles: readonly Needle[], found: Found): Buffer {
  const { parts, rest } = mask(data, needles, found);
  return parts.length === 0 ? data : Buffer.concat([...parts, rest]);
}

/** @returns what is complete up to the last value, and what follows it. */
function mask(data: Buffer, needles: readonly Needle[], found: Found): { parts: Buffer[]; rest: Buffer } {
  const parts: Buffer[] = [];
  let from = 0;
  const next = needles.map(({ bytes }) => data.indexOf(bytes));
  for (;;) {
    let first = -1;
    for (const [index, at] of next.entries()) if (at >= 0 && (first < 0 || at < (next[first] ?? 0))) first = index;
    const needle = needles[first];
    const at = next[first];
    if (needle === undefined || at === undefined) return { parts, rest: data.subarray(from) };
    parts.push(data.subarray(from, at), needle.mask);
    found(needle);
    from = at + needle.bytes.length;
    for (const [index, each] of next.entries())
      if (each >= 0 && each < from) next[index] = data.indexOf(needles[index]?.bytes ?? '', from);
  }
}

/** How many bytes at the end may be the beginning of a value. */
function heldBack(data: Buffer, needles: readonly Needle[]): number {
  let held = 0;
  for (const { bytes } of needles) {
    const start = bytes[0] ?? 0;
    const least = Math.max(0, data.length - bytes.length + 1);
    for (let at = data.indexOf(start, least); at >= 0 && data.length - at > held; at = data.indexOf(start, at + 1))
      if (data.subarray(at).equals(bytes.subarray(0, data.length - at))) held = data.length - at;
  }
  return held;
}
