import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SlipwayError } from '@slipway/errors';
import { fileError } from './disk-space.js';
import { insideWorkspace } from './workspace-path.js';

/** Read at a time: each is a trip to the thread pool. Bytes. */
const READ_BYTES = 512 * 1024;

/** Streams one file of the workspace, as long as it was when it was opened: one that grows meanwhile does not run over. */
export async function downloadFile(workspace: string, wanted: string, response: ServerResponse): Promise<void> {
  const file = await insideWorkspace(workspace, wanted);
  // Opening a pipe must not wait for somebody to write into it.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => Promise.reject(fileError(error, wanted)));
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new SlipwayError('file.not-found', `${wanted} is not a file.`);
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': found.size,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(path.basename(file))}`,
    });
    if (found.size === 0) response.end();
    else await pipeline(handle.createReadStream({ start: 0, end: found.size - 1, autoClose: false, highWaterMark: READ_BYTES }), response);
  } finally {
    await handle.close();
  }
}
