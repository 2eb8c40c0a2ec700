import { createWriteStream } from 'node:fs';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';

/**
 * Writes a tar that `fill` packs, through the given stages, to `file`.
 * @throws whatever fails first, `fill` or a stage; nothing is left running then, and `file` is of no use.
 */
export async function writeTar(
  file: string,
  fill: (tar: Pack) => Promise<void>,
  stages: readonly Transform[],
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const tar = pack();
  // Who reports is `pipeline`; an error that comes after it has ended would otherwise end the process.
  tar.on('error', () => {});
  const filled = fill(tar).then(
    () => tar.finalize(),
    (error: unknown) => {
      // A reader must not wait for more.
      tar.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    },
  );
  const written = pipeline([tar as unknown as NodeJS.ReadableStream, ...stages, createWriteStream(file)], { signal });
  // The writer must not wait for a reader that is gone.
  written.catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))));
  const [fills, writes] = await Promise.allSettled([filled, written]);
  if (writes.status === 'rejected') throw writes.reason;
  if (fills.status === 'rejected') throw fills.reason;
}
