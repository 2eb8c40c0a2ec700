import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import { FRAME_BYTES, type Frame, MAX_OBJECTS, PACK_BYTES, type Placed, seal, sealFooter } from './pack-format.js';
import type { PackIdentity, WritePacks, WrittenPack } from './pack-types.js';

const compress = promisify(zstdCompress);
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** What does not shrink in its first part is stored as it is. Bytes. */
const TRIED_BYTES = 4_096;

/**
 * Writes all objects into as many packs as they need, one after another, with the memory of two frames and one object.
 * An empty input writes no pack.
 */
export async function writePacks({ objects, nextPack, store, signal }: WritePacks): Promise<readonly WrittenPack[]> {
  const source = toIterator(objects);
  const written: WrittenPack[] = [];
  try {
    for (let next = await source.next(); next.done !== true; ) {
      signal.throwIfAborted();
      const pack = new PackWriter(await nextPack());
      const rest: { next: IteratorResult<CheckpointObject, unknown> } = { next };
      await store(pack.identity, pack.body(source, rest, signal));
      if (!pack.finished) throw new Error('a pack’s body was not read to its end');
      written.push(pack.summary());
      next = rest.next;
    }
  } finally {
    await source.return?.();
  }
  return written;
}

async function* fromSync<T>(items: Iterable<T>): AsyncGenerator<T, void> {
  yield* items;
}

function toIterator<T>(items: AsyncIterable<T> | Iterable<T>): AsyncIterator<T> {
  return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : fromSync(items);
}

/** Trees and chunks have frames of their own, so that trees are read without the chunks between them. */
class PackWriter {
  finished = false;
  private readonly frames: Frame[] = [];
  private readonly objects: (Omit<Placed, 'at'> & { slot: Slot; from: number })[] = [];
  private readonly slots: Record<'tree' | 'chunk', OpenFrame> = { tree: new OpenFrame(), chunk: new OpenFrame() };
  private plain = 0;
  private bytes = 0;

  constructor(readonly identity: PackIdentity) {}

  summary(): WrittenPack {
    return { packId: this.identity.packId, bytes: this.bytes, plainBytes: this.plain, objects: this.objects.length };
  }

  async *body(
    source: AsyncIterator<CheckpointObject>,
    rest: { next: IteratorResult<CheckpointObject, unknown> },
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void> {
    while (rest.next.done !== true && this.plain < PACK_BYTES && this.objects.length < MAX_OBJECTS) {
      signal.throwIfAborted();
      const { kind, id, bytes } = rest.next.value;
      const open = this.slots[kind];
      // An object lies in one frame, or in frames of its own that follow each other.
      const whole = bytes.length <= FRAME_BYTES;
      if (!whole || open.length + bytes.length > FRAME_BYTES) yield* this.close(open);
      this.objects.push({ kind, id, length: bytes.length, slot: open.slot, from: open.length });
      this.plain += bytes.length;
      for (let at = 0; at < bytes.length; ) {
        at += open.add(bytes.subarray(at));
        if (!whole) yield* this.close(open);
      }
      rest.next = await source.next();
    }
    yield* this.close(this.slots.tree);
    yield* this.close(this.slots.chunk);
    const footer = sealFooter(this.identity, { frames: this.frames, objects: this.placed() });
    this.bytes += footer.length;
    yield footer;
    this.finished = true;
  }

  private async *close(open: OpenFrame): AsyncGenerator<Buffer, void> {
    if (open.length === 0) return;
    const { plain, slot } = open.take();
    const packed = await shrink(plain);
    slot.frame = this.frames.length;
    const sealed = seal(this.identity, slot.frame, packed ?? plain);
    this.frames.push({ stored: sealed.length, plain: plain.length, compressed: packed !== null });
    this.bytes += sealed.length;
    yield sealed;
  }

  private placed(): Placed[] {
    const starts: number[] = [];
    let at = 0;
    for (const { plain } of this.frames) {
      starts.push(at);
      at += plain;
    }
    return this.objects
      .map(({ kind, id, length, slot, from }) => ({ kind, id, length, at: (starts[slot.frame] ?? 0) + from }))
      .sort((one, other) => one.at - other.at);
  }
}

/** The frame that an object begins in; its number is known when it is written. */
interface Slot {
  frame: number;
}

class OpenFrame {
  slot: Slot = { frame: 0 };
  length = 0;
  private readonly buffer = Buffer.allocUnsafeSlow(FRAME_BYTES);

  add(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, FRAME_BYTES - this.length);
    this.buffer.set(bytes.subarray(0, count), this.length);
    this.length += count;
    return count;
  }

  /** Empties it. */
  take(): { plain: Buffer; slot: Slot } {
    const taken = { plain: Buffer.from(this.buffer.subarray(0, this.length)), slot: this.slot };
    this.slot = { frame: 0 };
    this.length = 0;
    return taken;
  }
}

/** `null` when it would not become smaller. */
async function shrink(plain: Buffer): Promise<Buffer | null> {
  if (plain.length > TRIED_BYTES) {
    const tried = await compress(plain.subarray(0, TRIED_BYTES), OPTIONS);
    if (tried.length >= TRIED_BYTES) return null;
  }
  const packed = await compress(plain, OPTIONS);
  return packed.length < plain.length ? packed : null;
}
