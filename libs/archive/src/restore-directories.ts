import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { SlipwayError } from '@slipway/errors';
import { CHUNK_BYTES } from './archive-directories.js';
import { reasonOf, startProgram } from './child-program.js';
import { type Directories, withLinkedDirectories } from './directories.js';
import { metered } from './metered.js';

/**
 * tar itself refuses `..`, makes absolute names relative, and makes a link that leads elsewhere only when all else is
 * there.
 */
const TAR = [
  '--extract',
  '--file=-',
  '--preserve-permissions',
  '--no-same-owner',
  '--delay-directory-restore',
  '--warning=no-timestamp',
  '--warning=no-unknown-keyword',
  '--blocking-factor=128',
];

/** How long tar may take to end once its input has been cut off. Milliseconds. */
const KILL_AFTER_MS = 2_000;

/**
 * Puts an archive of `archiveDirectories` in place of what the directories hold. The same again has the same result.
 * When it rejects, what is in them is a part of it, and of no use: `sandbox.archive-broken` (cut, altered, not ours, or
 * a name that leads out), `sandbox.archive-too-large` (more than `maxBytes` when unpacked), `sandbox.disk-full`, or the
 * signal's reason.
 */
export async function restoreDirectories(
  directories: Directories,
  source: Readable,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<void> {
  await withLinkedDirectories(directories, async (folder) => {
    await empty(folder, Object.keys(directories));
    signal.throwIfAborted();
    const tar = await startProgram('tar', TAR, folder);
    tar.stdout.resume();
    let failure: Error | undefined;
    try {
      await pipeline(
        source,
        createZstdDecompress({ chunkSize: CHUNK_BYTES }),
        metered(maxBytes),
        (chunks) => feed(tar.stdin, chunks),
        { signal },
      );
    } catch (error) {
      failure = error as Error;
    }
    // Its input has ended, and with it tar; the timer is for one that hangs in the file system.
    if (failure !== undefined) tar.stdin.destroy();
    const killing = failure === undefined ? undefined : setTimeout(tar.kill, KILL_AFTER_MS);
    const { code, said } = await tar.ended;
    clearTimeout(killing);
    if (failure !== undefined || code !== 0) throw restoreError(failure, said, signal);
  });
}

/**
 * Writes all and ends. Does not wait until the end has been taken note of: a program that has read it may be gone
 * sooner, which is no failure. Rejects when the program closes its input before.
 */
async function feed(stdin: Writable, chunks: AsyncIterable<Buffer>): Promise<void> {
  const closed = new Promise<'closed'>((resolve) => stdin.once('close', () => resolve('closed')));
  for await (const chunk of chunks) {
    if (stdin.destroyed) throw new ProgramGone();
    if (stdin.write(chunk)) continue;
    const drained = new Promise<'drained'>((resolve) => stdin.once('drain', () => resolve('drained')));
    if ((await Promise.race([drained, closed])) === 'closed') throw new ProgramGone();
  }
  stdin.end();
}

/** It gave up before it had read everything, and has said why. */
class ProgramGone extends Error {}

function restoreError(failure: Error | undefined, said: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (failure instanceof SlipwayError) return failure;
  if (said.includes('No space left on device') || said.includes('Disk quota exceeded'))
    return new SlipwayError('sandbox.disk-full', 'The kept files do not fit into this sandbox.', { cause: failure });
  const reason =
    failure === undefined || failure instanceof ProgramGone
      ? reasonOf(said, 'tar')
      : `it is cut off or altered (${failure.message})`;
  return new SlipwayError('sandbox.archive-broken', `The archive cannot be unpacked: ${reason}.`, { cause: failure });
}

/** Removes what is in the directories, also from below directories that may not be written to. */
async function empty(folder: string, names: readonly string[]): Promise<void> {
  const starts = names.map((name) => `${name}/`);
  const run = async (...argv: string[]): Promise<{ code: number | null; said: string }> => {
    const find = await startProgram('find', [...starts, '-mindepth', '1', ...argv], folder);
    find.stdin.end();
    find.stdout.resume();
    return find.ended;
  };
  if ((await run('-delete')).code === 0) return;
  await run('-type', 'd', '!', '(', '-readable', '-writable', '-executable', ')', '-exec', 'chmod', 'u+rwx', '{}', ';');
  const { code, said } = await run('-delete');
  if (code !== 0)
    throw new SlipwayError(
      'sandbox.archive-broken',
      `What was there before cannot be removed: ${reasonOf(said, 'find')}.`,
    );
}
