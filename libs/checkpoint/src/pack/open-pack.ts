import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { broken } from '../objects/broken.js';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import { type ContentId, contentIdOf } from '../objects/content-id.js';
import {
  type Footer,
  type Frame,
  footerLength,
  type Placed,
  placesById,
  TRAILER_BYTES,
  unseal,
  unsealFooter,
} from './pack-format.js';
import type { OpenPack, PackReader } from './pack-types.js';

const decompress = promisify(zstdDecompress);
/** Most packs end within so many bytes of their footer: one request then reads both. */
const FIRST_READ_BYTES = 64 * 1024;
/** Adjacent frames that are fetched in one request. Bytes. */
const RUN_BYTES = 2 * 2 ** 20;
/** Runs that are fetched ahead of the one that is read. */
const AHEAD = 1;
/** Frames of single objects that are held, of 256 KiB at most. */
const OPENED = 8;

/**
 * Reads the footer of a pack, in one or two requests.
 * @throws SlipwayError `checkpoint.broken` for a pack that is cut, altered, or not the one that this key wrote.
 */
export async function openPack(pack: OpenPack): Promise<PackReader> {
  const first = Math.min(pack.bytes, FIRST_READ_BYTES);
  const tail = await rangeOf(pack, pack.bytes - first, first);
  const length = footerLength(tail.subarray(-TRAILER_BYTES), pack.bytes);
  const end = pack.bytes - TRAILER_BYTES - length;
  const missing = length + TRAILER_BYTES - tail.length;
  const all = missing <= 0 ? tail : Buffer.concat([await rangeOf(pack, end, missing), tail]);
  const sealed = all.subarray(all.length - TRAILER_BYTES - length, all.length - TRAILER_BYTES);
  return new Pack(pack, unsealFooter(pack.identity, sealed, end));
}

interface PlacedFrame extends Frame {
  readonly number: number;
  /** In the pack, and among the plain bytes. */
  readonly offset: number;
  readonly from: number;
}

class Pack implements PackReader {
  readonly contents: readonly Placed[];
  private readonly byId: ReadonlyMap<ContentId, Placed>;
  private readonly frames: readonly PlacedFrame[];
  private readonly opened = new Map<number, Buffer[]>();

  constructor(
    private readonly pack: OpenPack,
    footer: Footer,
  ) {
    this.contents = [...footer.objects].sort(
      (one, other) => Number(one.kind === 'chunk') - Number(other.kind === 'chunk') || one.at - other.at,
    );
    this.byId = placesById(footer.objects);
    let [offset, from] = [0, 0];
    this.frames = footer.frames.map((frame, number) => {
      const placed = { ...frame, number, offset, from };
      offset += frame.stored;
      from += frame.plain;
      return placed;
    });
  }

  has(id: ContentId): boolean {
    return this.byId.has(id);
  }

  async read(id: ContentId): Promise<Uint8Array> {
    const place = this.byId.get(id);
    if (place === undefined) throw broken('an object is not in its pack');
    const run = this.framesOf(place);
    const first = (run[0] as PlacedFrame).number;
    let plain = this.opened.get(first);
    if (plain === undefined || run.length > 1) plain = await this.open(run);
    if (run.length === 1) this.remember(first, plain);
    const bytes = cutOut(run, plain, place);
    if (contentIdOf(bytes) !== id) throw broken('an object is not what its id says');
    return bytes;
  }

  /** Trees are read one after another and lie together. */
  private remember(frame: number, plain: Buffer[]): void {
    this.opened.delete(frame);
    this.opened.set(frame, plain);
    const [oldest] = this.opened.keys();
    if (this.opened.size > OPENED && oldest !== undefined) this.opened.delete(oldest);
  }

  objects(wanted: ReadonlySet<ContentId> | null): AsyncIterable<CheckpointObject> {
    return this.objectsOf(wanted === null ? this.contents : this.contents.filter(({ id }) => wanted.has(id)));
  }

  private async *objectsOf(places: readonly Placed[]): AsyncGenerator<CheckpointObject, void> {
    const runs = this.runsOf(places);
    const ahead: Promise<Buffer[]>[] = [];
    let held: { run: readonly PlacedFrame[]; plain: readonly Buffer[] } | null = null;
    let next = 0;
    for (const place of places) {
      while (held === null || !covers(held.run, place)) {
        const run = runs[next];
        if (run === undefined) throw broken('an object has no frame');
        for (let at = next + ahead.length; at <= next + AHEAD && at < runs.length; at += 1) {
          const opened = this.open(runs[at] as readonly PlacedFrame[]);
          // A reader that ends early must not leave a rejection that nobody handles.
          opened.catch(() => undefined);
          ahead.push(opened);
        }
        held = { run, plain: await (ahead.shift() as Promise<Buffer[]>) };
        next += 1;
      }
      const bytes = cutOut(held.run, held.plain, place);
      if (contentIdOf(bytes) !== place.id) throw broken('an object is not what its id says');
      yield { kind: place.kind, id: place.id, bytes };
    }
  }

  /** Frames that the objects lie in, adjacent ones together up to 2 MiB or one object. */
  private runsOf(places: readonly Placed[]): (readonly PlacedFrame[])[] {
    const runs: PlacedFrame[][] = [];
    let run: PlacedFrame[] = [];
    let stored = 0;
    for (const place of places) {
      const frames = this.framesOf(place);
      const last = run.at(-1);
      const [first] = frames as [PlacedFrame];
      if (last !== undefined && first.number <= last.number && covers(run, place)) continue;
      if (last === undefined || first.number !== last.number + 1 || stored >= RUN_BYTES) {
        run = [];
        stored = 0;
        runs.push(run);
      }
      run.push(...frames);
      stored += frames.reduce((sum, frame) => sum + frame.stored, 0);
    }
    return runs;
  }

  private framesOf({ at, length }: Placed): PlacedFrame[] {
    let [low, high] = [0, this.frames.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.frames[middle] as PlacedFrame).from <= at) low = middle;
      else high = middle - 1;
    }
    const found: PlacedFrame[] = [];
    for (let index = low; index < this.frames.length; index += 1) {
      const frame = this.frames[index] as PlacedFrame;
      if (found.length > 0 && frame.from >= at + length) break;
      found.push(frame);
    }
    if (found.length === 0) throw broken('an object has no frame');
    return found;
  }

  private async open(run: readonly PlacedFrame[]): Promise<Buffer[]> {
    const [first, last] = [run[0] as PlacedFrame, run.at(-1) as PlacedFrame];
    const bytes = await rangeOf(this.pack, first.offset, last.offset + last.stored - first.offset);
    return await Promise.all(
      run.map(async ({ offset, stored, number, plain, compressed }) => {
        const from = offset - first.offset;
        const opened = unseal(this.pack.identity, number, bytes.subarray(from, from + stored));
        // No frame gives more than its footer says, whatever its own head says.
        const whole = compressed ? await inflate(opened, plain) : opened;
        if (whole.length !== plain) throw broken('a frame of a pack has another length');
        return whole;
      }),
    );
  }
}

async function inflate(bytes: Buffer, plain: number): Promise<Buffer> {
  try {
    return await decompress(bytes, { maxOutputLength: plain });
  } catch (error) {
    throw broken('a frame of a pack cannot be unpacked', error);
  }
}

function covers(run: readonly PlacedFrame[], { at, length }: Placed): boolean {
  const [first, last] = [run[0], run.at(-1)];
  return first !== undefined && last !== undefined && first.from <= at && at + length <= last.from + last.plain;
}

function cutOut(run: readonly PlacedFrame[], plain: readonly Buffer[], { at, length }: Placed): Buffer {
  const parts: Buffer[] = [];
  for (const [index, { from, plain: size }] of run.entries()) {
    if (from + size <= at || from >= at + length) continue;
    const part = plain[index] as Buffer;
    parts.push(part.subarray(Math.max(0, at - from), Math.min(size, at + length - from)));
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

async function rangeOf({ getRange }: OpenPack, offset: number, length: number): Promise<Buffer> {
  const bytes = await getRange(offset, length);
  if (bytes.length !== length) throw broken('a pack is cut');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
