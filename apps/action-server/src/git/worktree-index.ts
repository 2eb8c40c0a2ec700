import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileError } from '../files/disk-space.js';
import { gitOutput } from './git.js';
import type { Repository } from './repository.js';

/** Environment under which git sees all of the worktree as its index. */
export interface WorktreeIndex {
  readonly env: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

/**
 * An index of everything in the worktree that is not ignored, staged or not, in a folder of its own: the repository's index, and its
 * object store, stay as the user left them. A repository inside the repository is left out: its files are not this one's.
 */
export async function indexOfWorktree({ root, gitDirectory, signal, env: outer }: Repository): Promise<WorktreeIndex> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-index-')).catch((error: unknown) => Promise.reject(fileError(error, os.tmpdir())));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const env = {
      ...outer,
      GIT_INDEX_FILE: path.join(folder, 'index'),
      GIT_OBJECT_DIRECTORY: path.join(folder, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(path.join(gitDirectory, 'objects')),
    };
    await mkdir(env.GIT_OBJECT_DIRECTORY);
    const [own] = (await gitOutput(['rev-parse', '--path-format=absolute', '--git-path', 'index'], { cwd: root, signal, env: outer })).toString().split('\n');
    // With what git already knows of the files' times, only changed ones are read. A repository may have no index yet.
    await copyFile(own as string, env.GIT_INDEX_FILE).catch((error: unknown) =>
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Promise.reject(fileError(error, folder)),
    );
    await gitOutput(['add', '--update', '--', ':/'], { cwd: root, signal, env });
    const untracked = (await gitOutput(['ls-files', '-z', '--others', '--exclude-standard'], { cwd: root, signal, env })).toString('latin1').split('\0');
    // A name that ends in a slash is a repository of its own.
    const files = untracked.filter((name) => name !== '' && !name.endsWith('/'));
    if (files.length > 0)
      await gitOutput(['update-index', '--add', '-z', '--stdin'], { cwd: root, signal, env, input: Buffer.from(`${files.join('\0')}\0`, 'latin1') });
    return { env, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
