import { execFile } from 'node:child_process';
import { closeSync, constants, ftruncateSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { access, chmod, chown, lstat, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { SlipwayError } from '@slipway/errors';
import { freeBytes, isDiskFull } from './disk-space.js';

const run = promisify(execFile);
/** Longest time in which attributes are copied. Milliseconds. */
const COPY_TIMEOUT_MS = 5_000;
/** Copied at a time. Bytes. */
const BLOCK_BYTES = 1024 * 1024;
/** Links that are followed one after another, as Linux has it. */
const MAX_LINKS = 40;

/**
 * The step that puts a written file in the place of another. Synchronous, so that a caller may check the target right
 * before it.
 * @throws on failure: then the file is unchanged, or the new content is left beside it, whole (`keepsSource`).
 */
export interface Replacement {
  readonly way: 'by-name' | 'over-bytes';
  step(): void;
  /**
   * Whether the written file is to be left where it is, since the step began to write over the other and did not end.
   */
  readonly keepsSource: boolean;
}

/**
 * Gives `written` what `target` has beside its content (mode, owner, extended attributes with the access list), and
 * chooses how to put it there:
 * - In one step, by its name. A crash leaves the one or the other, whole.
 * - Over the bytes of `target`, where it has several names, which would be different files then, or an owner that
 *   cannot be given to another file. A crash in the midst
 *   of that leaves `written` beside it, whole; that there is room for it has been seen before.
 * @throws SlipwayError `request.invalid` for a file that may not be written, `sandbox.disk-full`.
 */
export async function prepareReplacement(written: string, target: string): Promise<Replacement> {
  const [there, own] = [await stat(target).catch(() => undefined), await stat(written)];
  if (there === undefined) return byName(written, target);
  await access(target, constants.W_OK).catch(() => {
    throw new SlipwayError(
      'request.invalid',
      `${target} may not be written: permission denied. If it is to be changed, change its mode first (chmod u+w).`,
    );
  });
  const ownerKept =
    (there.uid === own.uid && there.gid === own.gid) ||
    (await chown(written, there.uid, there.gid).then(
      () => true,
      () => false,
    ));
  // What has no such program still gets the mode.
  await chmod(written, there.mode & 0o7777);
  await run('cp', ['--attributes-only', '--preserve=mode,xattr', '--no-target-directory', '--', target, written], {
    timeout: COPY_TIMEOUT_MS,
  }).catch(() => {});
  if (there.nlink === 1 && ownerKept) return byName(written, target);
  // What it has now is given back before what it gets is taken.
  if (own.size - there.size > (await freeBytes(path.dirname(target))))
    throw new SlipwayError('sandbox.disk-full', `${target} was not written: the disk of the sandbox is full.`);
  return overBytes(written, target);
}

function byName(written: string, target: string): Replacement {
  return { way: 'by-name', step: () => renameSync(written, target), keepsSource: false };
}

function overBytes(written: string, target: string): Replacement {
  let begun = false;
  return {
    way: 'over-bytes',
    get keepsSource() {
      return begun;
    },
    step: () => {
      copyOver(written, target, () => {
        begun = true;
      });
      begun = false;
    },
  };
}

/** @param begins called before the first byte of `target` changes. */
function copyOver(written: string, target: string, begins: () => void): void {
  const from = openSync(written, 'r');
  let to: number | undefined;
  try {
    to = openSync(target, 'r+');
    begins();
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    let size = 0;
    for (let read = readSync(from, block); read > 0; read = readSync(from, block)) {
      for (let done = 0; done < read; ) done += writeSync(to, block, done, read - done, size + done);
      size += read;
    }
    ftruncateSync(to, size);
  } finally {
    closeSync(from);
    if (to !== undefined) closeSync(to);
  }
}

/** The failure of a step that keeps its source. */
export function leftBeside(file: string, written: string, cause: unknown): SlipwayError {
  return new SlipwayError(
    isDiskFull(cause) ? 'sandbox.disk-full' : 'request.invalid',
    `${file} was written in part: ${String((cause as Error).message)}. All of what was to be written is in ${written}.`,
    { cause },
  );
}

/**
 * Where something that is written to this path comes to lie: what a link leads to, also one that leads to nothing yet.
 */
export async function placeOf(file: string): Promise<string> {
  let place = file;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const real = await realpath(place).catch(() => undefined);
    if (real !== undefined) return real;
    if (!(await lstat(place).catch(() => undefined))?.isSymbolicLink()) return place;
    place = path.resolve(await realpath(path.dirname(place)), await readlink(place));
  }
  return place;
}
