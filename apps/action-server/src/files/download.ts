import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { fileError } from './disk-space.js';
import { insideWorkspace } from './workspace-path.js';

/** Read at a time: each is a trip to the thread pool. Bytes. */
const READ_BYTES = 512 * 1024;
/**
 * Pieces of memory for one file, used in turn: one is read into while others are written. New memory for each read
 * costs the kernel as much as the copy.
 */
const PIECES = 3;

/**
 * Streams one file of the workspace, as long as it was when it was opened: one that grows meanwhile does not run over.
 */
export async function downloadFile(workspace: string, wanted: string, response: ServerResponse): Promise<void> {
  const file = await insideWorkspace(workspace, wanted);
  // Opening a pipe must not wait for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) =>
    Promise.reject(fileError(error, wanted)),
  );
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new SlipwayError('file.not-found', `${wanted} is not a file.`);
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': found.size,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(path.basename(file))}`,
    });
    await send(handle, found.size, response);
  } finally {
    await handle.close();
  }
}

/**
 * Ends the response after `size` bytes. A client that leaves ends it, too; a file that has become shorter breaks it
 * off, so that a part never passes for the whole.
 */
async function send(file: FileHandle, size: number, response: ServerResponse): Promise<void> {
  const free = Array.from({ length: Math.min(PIECES, Math.ceil(size / READ_BYTES)) }, () =>
    Buffer.allocUnsafeSlow(Math.min(size, READ_BYTES)),
  );
  let wake = (): void => {};
  const left = new Promise<void>((resolve) => response.once('close', resolve));
  for (let at = 0; at < size && !response.destroyed; ) {
    const memory = free.pop();
    if (memory === undefined) {
      await Promise.race([left, new Promise<void>((resolve) => (wake = resolve))]);
      continue;
    }
    const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, size - at), at);
    if (bytesRead === 0) return void response.destroy();
    at += bytesRead;
    response.write(memory.subarray(0, bytesRead), () => {
      free.push(memory);
      wake();
    });
  }
  response.end();
}
