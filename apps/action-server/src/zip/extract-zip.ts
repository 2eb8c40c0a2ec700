import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';
import { uploadFile } from '../files/upload.js';
import { insideWorkspace } from '../files/workspace-path.js';
import { broken, contentStart, type ZipEntry, zipEntries } from './read-zip.js';

/** Most that an archive may hold, unpacked. Bytes. */
const MAX_UNPACKED = 4 * 1024 * 1024 * 1024;

/**
 * Unpacks an uploaded zip archive into a folder of the workspace; what is there under the same names is replaced. All
 * of it is unpacked and checked beside the folder first: an archive that is broken, too large, or has a name that leads
 * out leaves nothing. @throws SlipwayError `request.invalid`, `request.too-large`, `file.outside-workspace`,
 * `sandbox.disk-full`.
 */
export async function extractUpload(
  workspace: string,
  wanted: string,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<{ path: string; files: number; sizeBytes: number }> {
  const folder = await insideWorkspace(workspace, wanted);
  const there = await stat(folder).catch(() => undefined);
  if (there !== undefined && !there.isDirectory())
    throw new SlipwayError('request.invalid', `${wanted} is a file; name a directory.`);
  const work = path.join(workspace, `.unpack-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(work, { recursive: true });
    const archive = path.join(work, 'archive.zip');
    await uploadFile(workspace, archive, request);
    const handle = await open(archive, 'r');
    try {
      const entries = await zipEntries(handle, (await handle.stat()).size);
      const sizeBytes = entries.reduce((sum, { size }) => sum + size, 0);
      if (sizeBytes > MAX_UNPACKED)
        throw new SlipwayError(
          'request.too-large',
          `The archive holds ${sizeBytes} bytes; the limit is ${MAX_UNPACKED}.`,
        );
      const files = path.join(work, 'files');
      await mkdir(files);
      const made = new Set<string>();
      for (const entry of entries) {
        signal.throwIfAborted();
        const directory = path.join(files, entry.isFolder ? entry.name : path.dirname(entry.name));
        if (!made.has(directory)) await mkdir(directory, { recursive: true });
        made.add(directory);
        if (!entry.isFolder) await unpack(handle, entry, path.join(files, entry.name));
      }
      await moveIn(entries, files, folder, workspace);
      return { path: folder, files: entries.filter(({ isFolder }) => !isFolder).length, sizeBytes };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileError(error, wanted);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Most of a file, packed and unpacked, that is held whole: an archive may have a hundred thousand of them, and streams
 * for each take longer than everything else. Bytes.
 */
const SMALL = 256 * 1024;

async function unpack(handle: FileHandle, entry: ZipEntry, file: string): Promise<void> {
  const start = await contentStart(handle, entry);
  if (entry.packed <= SMALL && entry.size <= SMALL) return unpackSmall(handle, entry, start, file);
  const source =
    entry.packed === 0
      ? Readable.from([])
      : handle.createReadStream({ start, end: start + entry.packed - 1, autoClose: false, highWaterMark: 256 * 1024 });
  let [size, sum] = [0, 0];
  // More than it says of itself is not unpacked: that is how a small archive becomes a large one.
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      sum = crc32(chunk, sum);
      done(size > entry.size ? broken(`${JSON.stringify(entry.name)} is larger than its list says`) : null, chunk);
    },
  });
  const target = createWriteStream(file, { flags: 'wx', mode: entry.executable ? 0o755 : 0o644 });
  try {
    if (entry.method === 'stored') await pipeline(source, counted, target);
    else await pipeline(source, createInflateRaw(), counted, target);
  } catch (error) {
    throw /^Z_/.test((error as NodeJS.ErrnoException).code ?? '')
      ? broken(`${JSON.stringify(entry.name)} cannot be unpacked`)
      : error;
  }
  if (size !== entry.size || sum !== entry.sum) throw broken(`${JSON.stringify(entry.name)} is not what its list says`);
}

async function unpackSmall(handle: FileHandle, entry: ZipEntry, start: number, file: string): Promise<void> {
  const packed = Buffer.alloc(entry.packed);
  const { bytesRead } = await handle.read(packed, 0, packed.length, start);
  if (bytesRead < packed.length) throw broken('it is cut off');
  const content = entry.method === 'stored' ? packed : inflated(packed, entry);
  if (content.length !== entry.size || crc32(content) !== entry.sum)
    throw broken(`${JSON.stringify(entry.name)} is not what its list says`);
  await writeFile(file, content, { flag: 'wx', mode: entry.executable ? 0o755 : 0o644 });
}

function inflated(packed: Buffer, { name, size }: ZipEntry): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw broken(`${JSON.stringify(name)} is larger than its list says`);
    throw broken(`${JSON.stringify(name)} cannot be unpacked`);
  }
}

/**
 * Each path is checked, links followed, before the first is taken: a link in the folder leads nothing out of the
 * workspace.
 */
async function moveIn(entries: readonly ZipEntry[], files: string, folder: string, workspace: string): Promise<void> {
  const moves: Array<{ from: string; to: string; isFolder: boolean }> = [];
  const parents = new Map<string, string>();
  for (const { name, isFolder } of entries) {
    const to = path.join(folder, name);
    const parent = parents.get(path.dirname(to)) ?? (await insideWorkspace(workspace, path.dirname(to)));
    parents.set(path.dirname(to), parent);
    const there = await lstat(to).catch(() => undefined);
    if (there !== undefined && there.isDirectory() !== isFolder)
      throw new SlipwayError(
        'request.invalid',
        `${name} is ${isFolder ? 'a file' : 'a directory'} in the workspace, and not so in the archive.`,
      );
    moves.push({ from: path.join(files, name), to: path.join(parent, path.basename(to)), isFolder });
  }
  const made = new Set<string>();
  for (const { from, to, isFolder } of moves) {
    const directory = isFolder ? to : path.dirname(to);
    if (!made.has(directory)) await mkdir(directory, { recursive: true });
    made.add(directory);
    if (!isFolder) await rename(from, to);
  }
}
