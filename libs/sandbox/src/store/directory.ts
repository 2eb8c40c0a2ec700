import { open } from 'node:fs/promises';
import { SlipwayError } from '@slipway/errors';

/** Bytes written before the next are asked for. */
export const CHUNK_BYTES = 1024 * 1024;

/** Small chunks together: a write is a trip to the disk's thread. */
export async function* chunked(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [parts, bytes]: [Buffer[], number] = [[], 0];
  for await (const chunk of source) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(parts, bytes);
    [parts, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes);
}

/** Names in it are there after a power cut. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** As `sandbox.archive-unavailable`; the signal's reason when that ended it. @param of as the error names the store. */
export function directoryError(error: unknown, of: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof SlipwayError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
  const reason = code === 'ENOSPC' || code === 'EDQUOT' ? 'its disk is full' : `its directory cannot be used (${code})`;
  return new SlipwayError('sandbox.archive-unavailable', `The store of ${of} does not work: ${reason}.`, {
    cause: error,
  });
}
