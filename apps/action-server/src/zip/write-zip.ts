import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import path from 'node:path';
import { crc32, createDeflateRaw } from 'node:zlib';
import { type ZipMember, zipDescriptor, zipEnd, zipHeader, zipMember, zipPacked } from '@slipway/archive';

/** Parts are sent together up to about this size, and read and packed in such. Bytes. */
const PIECE = 256 * 1024;
/**
 * A file of at most this size is packed in one go: a stream for each of a hundred thousand takes most of their time.
 * Bytes.
 */
const SMALL = 64 * 1024;
/** Files that are checked, and small ones read, ahead of their turn. */
const AHEAD = 16;
/** What became a link or a pipe since it was checked is neither followed nor waited for. */
const NOT_LED_AWAY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A folder as a zip archive, as a stream of bounded memory: regular files and empty folders, names in order. Links,
 * pipes and devices are left out: no archive leads out of its folder, and none of them is waited for. A file that may
 * not be read is left out too; one that grows meanwhile is as long as it was read.
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
  const entries: ZipMember[] = [];
  let offset = 0;
  for await (const member of inAdvance(placesBelow(folder, ''), memberAt)) {
    signal.throwIfAborted();
    if (member === null) continue;
    const entry = entryOf(member, offset);
    for await (const part of member.content === null
      ? streamed(member, entry, signal)
      : [zipPacked(member.content, entry)]) {
      offset += part.length;
      yield part;
    }
    entries.push(entry);
  }
  yield* zipEnd(entries, offset);
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

function entryOf({ relative, found }: Member, offset: number): ZipMember {
  return zipMember(relative, { mode: found.mode, time: found.mtime, size: found.isFile() ? found.size : 0, offset });
}

async function* streamed({ file, found }: Member, entry: ZipMember, signal: AbortSignal): AsyncGenerator<Buffer> {
  const handle = await open(file, NOT_LED_AWAY);
  try {
    yield zipHeader(entry);
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
    yield zipDescriptor(entry);
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
  const directory = await opendir(folder, { bufferSize: 512 }).catch((error: unknown) =>
    prefix === '' ? Promise.reject(error) : undefined,
  );
  if (directory === undefined) return;
  for await (const entry of directory)
    if (entry.isDirectory() || entry.isFile()) names.push({ name: entry.name, isDirectory: entry.isDirectory() });
  names.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, isDirectory } of names) {
    const file = path.join(folder, name);
    yield { relative: `${prefix}${name}${isDirectory ? '/' : ''}`, file };
    if (isDirectory) yield* placesBelow(file, `${prefix}${name}/`);
  }
}
