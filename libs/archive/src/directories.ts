import { mkdir, mkdtemp, realpath, rm, statfs, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/**
 * What an archive holds: the name that each directory has in it, and where it is here. A directory that is missing is
 * made.
 */
export type Directories = Readonly<Record<string, string>>;

/** Names of members begin with one of these; kept plain, because they are arguments of programs. */
const NAME = /^[a-z]+$/;

/**
 * Calls `work` with a folder in which each directory is reachable under its name, by a link: so one stream holds
 * several directories, which may lie on volumes of their own and keep their place. The folder is gone afterwards.
 */
export async function withLinkedDirectories<T>(
  directories: Directories,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-archive-'));
  try {
    for (const [name, directory] of Object.entries(directories)) {
      if (!NAME.test(name)) throw new Error(`${name} is no name for a directory of an archive`);
      await mkdir(directory, { recursive: true });
      await symlink(await realpath(directory), path.join(folder, name));
    }
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Size of the volume that a directory is on. Bytes: what a directory on it holds cannot be more. */
export async function volumeBytes(directory: string): Promise<number> {
  const { blocks, bsize } = await statfs(directory);
  return blocks * bsize;
}
