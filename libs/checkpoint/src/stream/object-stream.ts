import { broken, tooLarge } from '../objects/broken.js';
import type { CheckpointObject, ObjectKind } from '../objects/checkpoint-object.js';
import { contentIdOf, ID_BYTES } from '../objects/content-id.js';
import { MAX_CHUNK_BYTES, MAX_TREE_BYTES } from '../objects/limits.js';

/** `[kind 1][id 32][length 4, little-endian][bytes]`; the last record is the end, whose bytes are JSON. */
const HEAD_BYTES = 1 + ID_BYTES + 4;
const KIND_BYTES: Readonly<Record<ObjectKind, number>> = { tree: 1, chunk: 2 };
const END = 0xff;
const MAX_TRAILER_BYTES = 2 ** 20;

/** What is written at a time; small objects together. Bytes. */
const BLOCK_BYTES = 64 * 1024;

/**
 * Objects as one stream. `trailer` is asked once, after the last object, and its answer ends the stream as JSON of at
 * most 1 MiB. A stream whose objects reject has no end record, so that its reader rejects too. Bytes of an object are
 * copied before the next one is asked for.
 */
export async function* writeObjectStream(
  objects: AsyncIterable<CheckpointObject> | Iterable<CheckpointObject>,
  trailer: () => unknown,
): AsyncGenerator<Buffer, void> {
  let [block, held] = [Buffer.allocUnsafe(BLOCK_BYTES), 0];
  function* full(record: Uint8Array): Generator<Buffer, void> {
    for (let at = 0; at < record.length; ) {
      const part = record.subarray(at, at + BLOCK_BYTES - held);
      block.set(part, held);
      held += part.length;
      at += part.length;
      if (held < BLOCK_BYTES) return;
      yield block;
      [block, held] = [Buffer.allocUnsafe(BLOCK_BYTES), 0];
    }
  }
  for await (const { kind, id, bytes } of objects) {
    yield* full(head(KIND_BYTES[kind], id, bytes.length));
    yield* full(bytes);
  }
  const last = Buffer.from(JSON.stringify(trailer() ?? null));
  if (last.length > MAX_TRAILER_BYTES) throw tooLarge('the end of its stream is over 1 MiB');
  yield* full(head(END, contentIdOf(last), last.length));
  yield* full(last);
  if (held > 0) yield block.subarray(0, held);
}

function head(kind: number, id: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES);
  bytes[0] = kind;
  bytes.write(id, 1, ID_BYTES, 'hex');
  bytes.writeUInt32LE(length, 1 + ID_BYTES);
  return bytes;
}

export interface ObjectStream {
  /** Iterate once and to its end. Each object's id was recomputed. */
  readonly objects: AsyncIterable<CheckpointObject>;
  /** What the end record carries, parsed and not checked further. @throws before the stream has ended. */
  trailer(): unknown;
}

/**
 * Reads what `writeObjectStream` wrote, from a sender that is not trusted: ids are recomputed, and lengths are bounded
 * before anything is allocated for them. The memory of one object.
 * @param maxBytes of the whole stream.
 * @throws SlipwayError `checkpoint.broken` for a false id, an unknown kind, a cut or prolonged stream;
 * `checkpoint.too-large` beyond a bound.
 */
export function readObjectStream(source: AsyncIterable<Uint8Array>, maxBytes: number): ObjectStream {
  let ended: { value: unknown } | null = null;
  async function* objects(): AsyncGenerator<CheckpointObject, void> {
    const reader = new StreamReader(source, maxBytes);
    for (;;) {
      const record = await reader.record();
      if (record.kind !== 'end') {
        yield record;
        continue;
      }
      await reader.end();
      ended = { value: parse(record.bytes) };
      return;
    }
  }
  return {
    objects: objects(),
    trailer: () => {
      if (ended === null) throw broken('its stream has not ended');
      return ended.value;
    },
  };
}

class StreamReader {
  private readonly source: AsyncIterator<Uint8Array>;
  private readonly parts: Buffer[] = [];
  private held = 0;
  private total = 0;

  constructor(
    source: AsyncIterable<Uint8Array>,
    private readonly maxBytes: number,
  ) {
    this.source = source[Symbol.asyncIterator]();
  }

  async record(): Promise<CheckpointObject | { kind: 'end'; bytes: Buffer }> {
    const top = await this.take(HEAD_BYTES);
    const [code, id, length] = [top[0], top.toString('hex', 1, 1 + ID_BYTES), top.readUInt32LE(1 + ID_BYTES)];
    const kind = code === END ? 'end' : code === KIND_BYTES.tree ? 'tree' : code === KIND_BYTES.chunk ? 'chunk' : null;
    if (kind === null) throw broken('its stream has an unknown record');
    const most = { end: MAX_TRAILER_BYTES, tree: MAX_TREE_BYTES, chunk: MAX_CHUNK_BYTES }[kind];
    if (length > most) throw tooLarge(`a ${kind} of more than ${most} bytes`);
    const bytes = await this.take(length);
    if (contentIdOf(bytes) !== id) throw broken('an object is not what its id says');
    return kind === 'end' ? { kind, bytes } : { kind, id, bytes };
  }

  /** @throws when there is more. */
  async end(): Promise<void> {
    if (this.held > 0) throw broken('its stream goes on behind its end');
    for (let next = await this.source.next(); next.done !== true; next = await this.source.next())
      if (next.value.length > 0) throw broken('its stream goes on behind its end');
  }

  private async take(length: number): Promise<Buffer> {
    while (this.held < length) {
      const next = await this.source.next();
      if (next.done === true) throw broken('its stream is cut');
      this.total += next.value.length;
      if (this.total > this.maxBytes) throw tooLarge(`more than ${this.maxBytes} bytes in one transfer`);
      if (next.value.length === 0) continue;
      this.parts.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
      this.held += next.value.length;
    }
    this.held -= length;
    const first = this.parts[0];
    if (first === undefined) return Buffer.alloc(0);
    if (first.length > length) {
      this.parts[0] = first.subarray(length);
      return first.subarray(0, length);
    }
    const taken: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const part = this.parts.shift() as Buffer;
      if (part.length > left) this.parts.unshift(part.subarray(left));
      taken.push(part.length > left ? part.subarray(0, left) : part);
      left -= Math.min(left, part.length);
    }
    return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken, length);
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw broken('the end of its stream is no JSON', error);
  }
}
