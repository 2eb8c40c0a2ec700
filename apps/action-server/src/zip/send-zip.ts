import { stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';
import { zipOf } from './write-zip.js';

/**
 * Streams a folder of the workspace as a zip archive. A failure after the first byte breaks the answer off: half an
 * archive must not pass for a whole one.
 */
export async function sendZip(
  workspace: string,
  wanted: string,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const folder = await insideWorkspace(workspace, wanted);
  const found = await stat(folder).catch((error: unknown) => Promise.reject(fileError(error, wanted)));
  if (!found.isDirectory()) throw new SlipwayError('request.invalid', `${wanted} is a file; download it as it is.`);
  response.writeHead(200, {
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(path.basename(folder) || 'workspace')}.zip`,
  });
  await pipeline(Readable.from(zipOf(folder, signal), { objectMode: false }), response);
}
