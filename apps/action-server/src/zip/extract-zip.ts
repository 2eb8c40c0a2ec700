import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';
import { uploadFile } from '../files/upload.js';
import { insideWorkspace } from '../files/workspace-path.js';
import { broken, contentStart, type ZipEntry, zipEntries } from './read-zip.js';

/** Most that an archive may hold, unpacked. Bytes. */
const MAX_UNPACKED = 4 * 1024 * 1024 * 1024;

/**
 * Unpacks an uploaded zip archive into a folder of the workspace; what is there under the same names is replaced. All of it is unpacked and checked beside the folder first: an archive
 * that is broken, too large, or has a name that leads out leaves nothing. @throws SlipwayError `request.invalid`, `request.too-large`, `file.outside-workspace`, `sandbox.disk-full`.
 */
export async function extractUpload(
  workspace: string,
  wanted: string,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<{ path: string; files: number; sizeBytes: number }> {
  const folder = await insideWorkspace(workspace, wanted);
  const there = await stat(folder).catch(() => undefined);
  if (there !== undefined && !there.isDirectory()) throw new SlipwayError('request.invalid', `${wanted} is a file; name a directory.`);
  const work = path.join(workspace, `.unpack-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(work, { recursive: true });
    const archive = path.join(work, 'archive.zip');
    await uploadFile(workspace, archive, request);
    const handle = await open(archive, 'r');
    try {
      const entries = await zipEntries(handle, (await handle.stat()).size);
      const sizeBytes = entries.reduce((sum, { size }) => sum + size, 0);
      if (sizeBytes > MAX_UNPACKED) throw new SlipwayError('request.too-large', `The archive holds ${sizeBytes} bytes; the limit is ${MAX_UNPACKED}.`);
      const files = path.join(work, 'files');
      await mkdir(files);
      for (const entry of entries) {
        signal.throwIfAborted();
        await unpack(handle, entry, files);
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

async function unpack(handle: FileHandle, entry: ZipEntry, files: string): Promise<void> {
  const file = path.join(files, entry.name);
  if (entry.isFolder) return void (await mkdir(file, { recursive: true }));
  await mkdir(path.dirname(file), { recursive: true });
  const start = await contentStart(handle, entry);
  const source =
    entry.packed === 0 ? Readable.from([]) : handle.createReadStream({ start, end: start + entry.packed - 1, autoClose: false, highWaterMark: 256 * 1024 });
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
    throw /^Z_/.test((error as NodeJS.ErrnoException).code ?? '') ? broken(`${JSON.stringify(entry.name)} cannot be unpacked`) : error;
  }
  if (size !== entry.size || sum !== entry.sum) throw broken(`${JSON.stringify(entry.name)} is not what its list says`);
}

/** Each place is looked at, links followed, before the first is taken: a link in the folder leads nothing out of the workspace. */
async function moveIn(entries: readonly ZipEntry[], files: string, folder: string, workspace: string): Promise<void> {
  const moves: Array<{ from: string; to: string; isFolder: boolean }> = [];
  for (const { name, isFolder } of entries) {
    const to = path.join(folder, name);
    const parent = await insideWorkspace(workspace, path.dirname(to));
    const there = await lstat(to).catch(() => undefined);
    if (there !== undefined && there.isDirectory() !== isFolder)
      throw new SlipwayError('request.invalid', `${name} is ${isFolder ? 'a file' : 'a directory'} in the workspace, and not so in the archive.`);
    moves.push({ from: path.join(files, name), to: path.join(parent, path.basename(to)), isFolder });
  }
  for (const { from, to, isFolder } of moves) {
    await mkdir(isFolder ? to : path.dirname(to), { recursive: true });
    if (!isFolder) await rename(from, to);
  }
}
