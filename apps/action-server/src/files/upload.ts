import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { fileError } from './disk-space.js';
import { fileOfForm, multipartBoundary } from './multipart.js';
import { leftBeside, prepareReplacement, type Replacement } from './replacement.js';
import { insideWorkspace } from './workspace-path.js';

/** Largest upload. Bytes. */
export const MAX_UPLOAD_BYTES = 1024 * 1024 * 1024;

/**
 * Writes the body, or the field `file` of a form, to a file of the workspace. It appears whole or not at all, and keeps
 * what a file that is there has beside its content.
 */
export async function uploadFile(
  workspace: string,
  wanted: string,
  request: IncomingMessage,
): Promise<{ path: string; sizeBytes: number }> {
  const file = await insideWorkspace(workspace, wanted);
  const there = await stat(file).catch(() => undefined);
  if (there?.isDirectory()) throw new SlipwayError('request.invalid', `${wanted} is a directory; name the file.`);
  if (there !== undefined && !there.isFile())
    throw new SlipwayError('request.invalid', `${wanted} is a pipe, a socket or a device, not a file.`);
  // Destroying the request would take the answer's connection with it.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const boundary = multipartBoundary(request.headers['content-type']);
  const temporary = path.join(path.dirname(file), `.upload-${randomBytes(6).toString('hex')}`);
  let replacement: Replacement | undefined;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    const handle = await open(temporary, 'wx', 0o644);
    const writes = new GatheredWrites(handle);
    let sizeBytes = 0;
    try {
      for await (const chunk of boundary === undefined ? body : fileOfForm(body, boundary)) {
        sizeBytes += chunk.length;
        if (sizeBytes > MAX_UPLOAD_BYTES)
          throw new SlipwayError('request.too-large', `A file may have ${MAX_UPLOAD_BYTES / 1024 / 1024} MiB.`);
        await writes.add(chunk);
      }
      await writes.end();
    } finally {
      await writes.settled();
      await handle.close();
    }
    replacement = await prepareReplacement(temporary, file);
    replacement.step();
    await rm(temporary, { force: true });
    return { path: file, sizeBytes };
  } catch (error) {
    if (replacement?.keepsSource === true) throw leftBeside(wanted, temporary, error);
    await rm(temporary, { force: true }).catch(() => undefined);
    throw fileError(error, wanted);
  }
}

/** What is written together: chunks of a connection are small, and each write is a trip to the thread pool. Bytes. */
const GATHERED_BYTES = 1024 * 1024;

/** Writes to a file in order, while what follows arrives: twice `GATHERED_BYTES` are held at most. */
class GatheredWrites {
  private waiting: Buffer[] = [];
  private bytes = 0;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly handle: FileHandle) {}

  /** Rejects with the failure of an earlier write. */
  async add(chunk: Buffer): Promise<void> {
    this.waiting.push(chunk);
    this.bytes += chunk.length;
    if (this.bytes >= GATHERED_BYTES) await this.begin();
  }

  async end(): Promise<void> {
    await this.begin();
    await this.writing;
  }

  /** Resolves when nothing is being written any more, however that ended. */
  async settled(): Promise<void> {
    await this.writing.catch(() => undefined);
  }

  private async begin(): Promise<void> {
    await this.writing;
    const chunk = Buffer.concat(this.waiting, this.bytes);
    this.waiting = [];
    this.bytes = 0;
    this.writing = this.handle.writeFile(chunk);
    this.writing.catch(() => undefined);
  }
}
