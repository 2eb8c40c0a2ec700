import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import path from 'node:path';
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';

/** From here on a number needs the wide form of the format. */
const WIDE = 0xffff_ffff;
const WIDE_COUNT = 0xffff;
/** UTF-8 names; sizes and sum follow the content. */
const FLAGS = 0x0808;

/** Parts are sent together up to about this size, and read and packed in such. Bytes. */
const PIECE = 256 * 1024;
/** A file of at most this size is packed in one go: a stream for each of a hundred thousand takes most of their time. Bytes. */
const SMALL = 64 * 1024;
/** Files that are looked at, and small ones read, ahead of their turn. */
const AHEAD = 16;
/** What became a link or a pipe since it was looked at is neither followed nor waited for. */
const NOT_LED_AWAY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface Entry {
  readonly name: Buffer;
  readonly mode: number;
  readonly time: number;
  readonly offset: number;
  readonly wide: boolean;
  sum: number;
  packed: number;
  size: number;
}

/**
 * A folder as a zip archive, as a stream of bounded memory: regular files and empty folders, names in order. Links, pipes and devices are left out: no archive leads out of
 * its folder, and none of them is waited for. A file that may not be read is left out too; one that grows meanwhile is as long as it was read.
 */
export async function* zipOf(folder: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for await (const part of partsOf(folder, signal)) {
    gathered.push(part);
    bytes += part.length;
    if (bytes < PIECE) continue;
    yield Buffer.concat(gathered, bytes);
    gathered = [];
    bytes = 0;
  }
  yield Buffer.concat(gathered, bytes);
}

async function* partsOf(folder: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const entries: Entry[] = [];
  let offset = 0;
  for await (const member of inAdvance(placesBelow(folder, ''), memberAt)) {
    signal.throwIfAborted();
    if (member === null) continue;
    const entry = entryOf(member, offset);
    for await (const part of member.content === null ? streamed(member, entry, signal) : [packed(member.content, entry)]) {
      offset += part.length;
      yield part;
    }
    entries.push(entry);
  }
  const start = offset;
  for (const entry of entries) {
    const row = centralHeader(entry);
    yield row;
    offset += row.length;
  }
  yield ending(entries.length, start, offset - start);
}

interface Place {
  /** From the folder, with `/`; a folder ends in one. */
  readonly relative: string;
  readonly file: string;
}

interface Member extends Place {
  readonly found: Stats;
  /** Of a small file, and nothing of a folder; `null` for a large file, which is read when its turn has come. */
  readonly content: Buffer | null;
}

function entryOf({ relative, found }: Member, offset: number): Entry {
  const wide = found.isFile() && found.size >= WIDE - 1024 * 1024;
  return { name: Buffer.from(relative), mode: found.mode, time: dosTime(found.mtime), offset, wide, sum: 0, packed: 0, size: 0 };
}

function packed(content: Buffer, entry: Entry): Buffer {
  // What it works with is no larger than the content: for a hundred thousand files the defaults would fill the memory before it is looked through.
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(content.length + 1))));
  const body = deflateRawSync(content, { level: 1, chunkSize: content.length + 64, windowBits, memLevel: Math.min(8, windowBits - 6) });
  Object.assign(entry, { sum: crc32(content), size: content.length, packed: body.length });
  return Buffer.concat([localHeader(entry), body, descriptor(entry)]);
}

async function* streamed({ file, found }: Member, entry: Entry, signal: AbortSignal): AsyncGenerator<Buffer> {
  const handle = await open(file, NOT_LED_AWAY);
  try {
    yield localHeader(entry);
    const content = handle.createReadStream({ autoClose: false, highWaterMark: PIECE, end: found.size - 1 });
    const deflate = createDeflateRaw({ level: 1, chunkSize: PIECE });
    const feed = async (): Promise<void> => {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        entry.sum = crc32(chunk, entry.sum);
        entry.size += chunk.length;
        if (!deflate.write(chunk)) await new Promise((resolve) => deflate.once('drain', resolve));
      }
      deflate.end();
    };
    const fed = feed();
    fed.catch((error: unknown) => deflate.destroy(error as Error));
    for await (const chunk of deflate as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      entry.packed += chunk.length;
      yield chunk;
    }
    await fed;
    yield descriptor(entry);
  } finally {
    await handle.close();
  }
}

/** What is at a place, a small file with its content; `null` for what is left out. */
async function memberAt({ relative, file }: Place): Promise<Member | null> {
  if (relative.endsWith('/')) {
    const found = await lstat(file).catch(() => undefined);
    return found?.isDirectory() ? { relative, file, found, content: Buffer.alloc(0) } : null;
  }
  const handle = await open(file, NOT_LED_AWAY).catch(() => null);
  if (handle === null) return null;
  try {
    const found = await handle.stat();
    if (!found.isFile()) return null;
    return { relative, file, found, content: found.size <= SMALL ? await beginningOf(handle, found.size) : null };
  } finally {
    await handle.close();
  }
}

/** At most `length` bytes; a file may have become shorter. */
async function beginningOf(handle: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** The results of `work` in the order of what it is done to, a few of them begun ahead of their turn. */
async function* inAdvance<T, R>(items: AsyncIterable<T>, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const begun: Array<Promise<R>> = [];
  for await (const item of items) {
    const result = work(item);
    result.catch(() => {});
    begun.push(result);
    if (begun.length >= AHEAD) yield await (begun.shift() as Promise<R>);
  }
  for (const result of begun) yield await result;
}

async function* placesBelow(folder: string, prefix: string): AsyncGenerator<Place> {
  const names: Array<{ name: string; isDirectory: boolean }> = [];
  const directory = await opendir(folder, { bufferSize: 512 }).catch((error: unknown) => (prefix === '' ? Promise.reject(error) : undefined));
  if (directory === undefined) return;
  for await (const entry of directory) if (entry.isDirectory() || entry.isFile()) names.push({ name: entry.name, isDirectory: entry.isDirectory() });
  names.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, isDirectory } of names) {
    const file = path.join(folder, name);
    yield { relative: `${prefix}${name}${isDirectory ? '/' : ''}`, file };
    if (isDirectory) yield* placesBelow(file, `${prefix}${name}/`);
  }
}

function localHeader(entry: Entry): Buffer {
  const extra = entry.wide ? wideExtra([0, 0]) : Buffer.alloc(0);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(entry.wide ? 45 : 20, 4);
  head.writeUInt16LE(FLAGS, 6);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(entry.time, 10);
  if (entry.wide) head.fill(0xff, 18, 26);
  head.writeUInt16LE(entry.name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, entry.name, extra]);
}

function descriptor({ sum, packed, size, wide }: Entry): Buffer {
  const tail = Buffer.alloc(wide ? 24 : 16);
  tail.writeUInt32LE(0x08074b50, 0);
  tail.writeUInt32LE(sum, 4);
  if (wide) {
    tail.writeBigUInt64LE(BigInt(packed), 8);
    tail.writeBigUInt64LE(BigInt(size), 16);
  } else {
    tail.writeUInt32LE(packed, 8);
    tail.writeUInt32LE(size, 12);
  }
  return tail;
}

function centralHeader(entry: Entry): Buffer {
  const wide = entry.wide || entry.offset >= WIDE;
  const extra = wide ? wideExtra([entry.size, entry.packed, entry.offset]) : Buffer.alloc(0);
  const row = Buffer.alloc(46);
  row.writeUInt32LE(0x02014b50, 0);
  row.writeUInt16LE((3 << 8) | (wide ? 45 : 20), 4);
  row.writeUInt16LE(wide ? 45 : 20, 6);
  row.writeUInt16LE(FLAGS, 8);
  row.writeUInt16LE(8, 10);
  row.writeUInt32LE(entry.time, 12);
  row.writeUInt32LE(entry.sum, 16);
  row.writeUInt32LE(wide ? WIDE : entry.packed, 20);
  row.writeUInt32LE(wide ? WIDE : entry.size, 24);
  row.writeUInt16LE(entry.name.length, 28);
  row.writeUInt16LE(extra.length, 30);
  row.writeUInt32LE(((entry.mode & 0xffff) << 16) >>> 0, 38);
  row.writeUInt32LE(wide ? WIDE : entry.offset, 42);
  return Buffer.concat([row, entry.name, extra]);
}

function wideExtra(numbers: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + numbers.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(numbers.length * 8, 2);
  for (const [index, value] of numbers.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + index * 8);
  return extra;
}

/** The end of the archive; before it the wide form of it, where the numbers need that. */
function ending(count: number, start: number, length: number): Buffer {
  const wide = count >= WIDE_COUNT || start >= WIDE || length >= WIDE;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  for (const at of [8, 10]) end.writeUInt16LE(Math.min(count, WIDE_COUNT), at);
  end.writeUInt32LE(Math.min(length, WIDE), 12);
  end.writeUInt32LE(Math.min(start, WIDE), 16);
  if (!wide) return end;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  for (const at of [12, 14]) record.writeUInt16LE(45, at);
  for (const at of [24, 32]) record.writeBigUInt64LE(BigInt(count), at);
  record.writeBigUInt64LE(BigInt(length), 40);
  record.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(start + length), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator, end]);
}

/** To two seconds, from 1980 on, in the zone of the machine: the format has no other. */
function dosTime(time: Date): number {
  const year = Math.min(2107, Math.max(1980, time.getFullYear()));
  const date = ((year - 1980) << 9) | ((time.getMonth() + 1) << 5) | time.getDate();
  return ((date << 16) | (time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1)) >>> 0;
}
