import { randomBytes } from 'node:crypto';
import { constants, readFileSync, renameSync, statSync } from 'node:fs';
import { link, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type FileState, MAX_LIVE_TEXT_BYTES } from '@slipway/contracts/live';
import { SlipwayError } from '@slipway/errors';
import { encoded, type TextFile } from '../editor/text-file.js';
import { fileError } from '../files/disk-space.js';
import { leftBeside, prepareReplacement, type Replacement } from '../files/replacement.js';
import { insideWorkspace } from '../files/workspace-path.js';
import { readFileState, versionOfBytes } from './file-state.js';

/** Ends the names of what lies beside a file while it is saved; such names are not listed. */
export const SAVING_SUFFIX = '.slipway-saving';

export interface Save {
  readonly path: string;
  readonly text: string;
  readonly encoding: TextFile['encoding'];
  /** The version that the text was made from; `null`: there was no file. */
  readonly base: string | null;
}

export type Saved = { readonly written: string } | { readonly conflict: FileState };

/**
 * Replaces the version that a user's text was made from, in one step. Another version is left unchanged and returned.
 * Links stay links, and a file keeps what it has beside its content, other names too (`prepareReplacement`). What a
 * program writes between the check and the step is found afterwards, and put back. Of a file with other names the bytes
 * themselves are written over, some microseconds after the check.
 * @throws SlipwayError when it cannot be written.
 */
export async function saveFile(workspace: string, save: Save): Promise<Saved> {
  const { base } = save;
  const bytes = bytesOf(save);
  const version = versionOfBytes(bytes);
  const now = await readFileState(workspace, save.path);
  if (now.kind === 'text' && now.version === version) return { written: version };
  if (now.kind === 'refused') throw new SlipwayError('request.invalid', now.detail);
  if ((now.kind === 'text' ? now.version : null) !== base || (now.kind !== 'text' && now.kind !== 'gone'))
    return { conflict: now };
  const file = await insideWorkspace(workspace, save.path);
  try {
    const replaced = base === null ? await placeNew(file, bytes) : await replace(file, bytes, base);
    return replaced ? { written: version } : { conflict: await readFileState(workspace, save.path) };
  } catch (error) {
    throw fileError(error, save.path);
  }
}

function bytesOf({ path: file, text, encoding }: Save): Buffer {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of Latin-1
  if (encoding === 'latin1' && /[^\x00-\xff]/.test(text))
    throw new SlipwayError('request.invalid', `${file} is in Latin-1, which has no sign for some of the new text.`);
  const bytes = encoded(text, encoding);
  if (bytes.length > MAX_LIVE_TEXT_BYTES)
    throw new SlipwayError(
      'request.too-large',
      `A file may have ${MAX_LIVE_TEXT_BYTES / 1024 / 1024} MiB here; use the terminal for a larger one.`,
    );
  return bytes;
}

/** False: something is there by now. */
async function placeNew(file: string, bytes: Buffer): Promise<boolean> {
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = beside(file);
  try {
    await writeFile(temporary, bytes, { flag: 'wx' });
    await link(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** False: what is there is not `base`. */
async function replace(file: string, bytes: Buffer, base: string): Promise<boolean> {
  const [temporary, old] = [beside(file), beside(file)];
  let replacement: Replacement | undefined;
  try {
    await writeFile(temporary, bytes, { flag: 'wx' });
    replacement = await prepareReplacement(temporary, file);
    if (replacement.way === 'over-bytes') {
      if (!holds(file, base)) return false;
      replacement.step();
      return true;
    }
    const { ino } = await stat(temporary);
    // Keeps what is replaced reachable until it is certain that it was `base`.
    const kept = await link(file, old).then(
      () => true,
      () => false,
    );
    // Synchronously: no program of the sandbox gets more than a few microseconds between the last check and the step.
    if ((kept && statSync(file).ino !== statSync(old).ino) || !holds(file, base)) return false;
    replacement.step();
    if (!kept || holds(old, base)) return true;
    if (statSync(file, { throwIfNoEntry: false })?.ino === ino) renameSync(old, file);
    return false;
  } catch (error) {
    if (replacement?.keepsSource === true) throw leftBeside(file, temporary, error);
    // It went away meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  } finally {
    if (replacement?.keepsSource !== true) await rm(temporary, { force: true });
    await rm(old, { force: true });
  }
}

/** Whether a file has this version now. Nothing is waited for: a pipe has none. */
function holds(file: string, version: string): boolean {
  const found = statSync(file);
  if (!found.isFile() || found.size > MAX_LIVE_TEXT_BYTES) return false;
  return versionOfBytes(readFileSync(file, { flag: constants.O_RDONLY | constants.O_NONBLOCK })) === version;
}

/** In the same folder, and so on the same file system; of a name that no file has. */
function beside(file: string): string {
  return path.join(path.dirname(file), `.${randomBytes(8).toString('hex')}${SAVING_SUFFIX}`);
}
