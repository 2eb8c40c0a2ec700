import { link, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { createDirectory } from '../files/directories.js';
import { fileError } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';

/** An empty file, or a directory, where nothing is; with the directories above it. @throws SlipwayError. */
export async function createEntry(workspace: string, wanted: string, kind: 'file' | 'directory'): Promise<void> {
  const place = await ownPlace(workspace, wanted);
  await refuseTaken(place, wanted);
  if (kind === 'directory') return void (await createDirectory(workspace, wanted));
  try {
    await mkdir(path.dirname(place), { recursive: true });
    await (await open(place, 'wx', 0o644)).close();
  } catch (error) {
    throw failure(error, wanted);
  }
}

/**
 * Gives something another place in the workspace, and replaces nothing there. A link is moved, not what it leads to.
 * @throws SlipwayError.
 */
export async function renameEntry(workspace: string, wanted: string, to: string): Promise<void> {
  const [from, place] = [await ownPlace(workspace, wanted), await ownPlace(workspace, to)];
  try {
    const found = await lstat(from);
    await refuseTaken(place, to);
    await mkdir(path.dirname(place), { recursive: true });
    // A second name for it fails where there is something by now; a directory cannot have one, and replaces nothing but
    // an empty one.
    const linked = found.isFile() && (await linkedTo(from, place));
    if (linked) await rm(from);
    else await rename(from, place);
  } catch (error) {
    throw failure(error, wanted);
  }
}

/** A directory goes with all that is in it, a link alone. @throws SlipwayError. */
export async function deleteEntry(workspace: string, wanted: string): Promise<void> {
  const place = await ownPlace(workspace, wanted);
  try {
    await lstat(place);
    await rm(place, { recursive: true });
  } catch (error) {
    throw failure(error, wanted);
  }
}

/** Where the name itself is: of a link the link, not what it leads to. The folder is in the workspace. */
async function ownPlace(workspace: string, wanted: string): Promise<string> {
  const name = path.posix.basename(wanted);
  if (wanted.includes('\0') || name === '' || name === '.' || name === '..')
    throw new SlipwayError(
      'request.invalid',
      wanted === '' ? 'The workspace itself stays as it is.' : `${wanted} is no name for a file.`,
    );
  const folder = await insideWorkspace(workspace, path.dirname(path.join(workspace, wanted)));
  return path.join(folder, name);
}

async function refuseTaken(place: string, wanted: string): Promise<void> {
  if ((await lstat(place).catch(() => undefined)) !== undefined) throw taken(wanted);
}

/** False: this file system gives no second names. */
async function linkedTo(from: string, place: string): Promise<boolean> {
  try {
    await link(from, place);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    return false;
  }
}

function failure(error: unknown, wanted: string): unknown {
  return (error as NodeJS.ErrnoException).code === 'EEXIST' ? taken(wanted) : fileError(error, wanted);
}

function taken(wanted: string): SlipwayError {
  return new SlipwayError('request.invalid', `There is something called ${wanted} already.`);
}
