import { copyFile, lstat, mkdir, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileError } from '../files/disk-space.js';
import { CONTENT_TIMEOUT_MS, gitOutput } from './git.js';
import { inSlices, statOf } from './own-count.js';
import type { Repository } from './repository.js';

/** A file over this is not read to see whether it changed: that it was touched is enough. Bytes. */
const LARGE_BYTES = 64 * 1024 * 1024;
/**
 * All new content is one pack: a file of its own for each of thousands takes most of the time. It is read back soon,
 * and little is gained by making it small.
 */
const INTO_ONE_PACK = ['-c', 'core.bigFileThreshold=1', '-c', 'pack.compression=1'];

/** A file that was touched and is too large to be read, by itself or with all the others. */
export interface LargeFile {
  readonly path: string;
  /** Two alike mean the same content: size and time of the last write, which an archive gives back. */
  readonly stamp: string;
  readonly tracked: boolean;
}

/** Environment under which git sees all of the worktree as its index. */
export interface WorktreeIndex {
  readonly env: Readonly<Record<string, string>>;
  readonly large: readonly LargeFile[];
  /** Size of the files that were read. */
  readonly readBytes: number;
  /** Bytes of the names of files that git does not know and that are not in the index; see `apartFrom`. */
  readonly apart: readonly string[];
  /** Puts files into the index, too. */
  take(names: readonly string[]): Promise<void>;
  dispose(): Promise<void>;
}

export interface WorktreeIndexOptions {
  /**
   * Folder for the index and the objects that are made for it; one that exists is kept by whoever gives it. Absent: one
   * of its own, gone with `dispose`.
   */
  readonly folder?: string | undefined;
  /** Object stores to read beside the repository's. */
  readonly alternates?: readonly string[] | undefined;
  /** From the top folder: all others are taken as they are in the repository's index. */
  readonly only?: string | undefined;
  /** Large files are read, too: for a patch that must be whole. */
  readonly whole?: boolean | undefined;
  /** Most that is read of all files together; those beyond count as large. Bytes. Absent: no bound. */
  readonly maxReadBytes?: number | undefined;
  /** Paths that count as large whatever their size: of what they are compared with, only a stamp is known. */
  readonly knownLarge?: ReadonlyMap<string, string> | undefined;
  /** From so many on, files that git does not know stay out of the index. */
  readonly apartFrom?: number | undefined;
}

/**
 * An index of everything in the worktree that is not ignored, staged or not, in a folder of its own: the repository's
 * index, its locks and its object store stay as the user left them. A repository inside the repository is left out: its
 * files are not this one's.
 */
export async function indexOfWorktree(
  repository: Repository,
  options: WorktreeIndexOptions = {},
): Promise<WorktreeIndex> {
  const { root, gitDirectory, signal, env: outer } = repository;
  const folder = options.folder ?? (await temporaryFolder());
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const env = {
      ...outer,
      GIT_INDEX_FILE: path.join(folder, 'index'),
      GIT_OBJECT_DIRECTORY: path.join(folder, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: [path.join(gitDirectory, 'objects'), ...(options.alternates ?? [])]
        .map((each) => JSON.stringify(each))
        .join(':'),
    };
    await mkdir(env.GIT_OBJECT_DIRECTORY, { recursive: true });
    const [own] = (
      await gitOutput(['rev-parse', '--path-format=absolute', '--git-path', 'index'], { cwd: root, signal, env: outer })
    )
      .toString()
      .split('\n');
    // With what git already knows of the files' times, only changed ones are read. A repository may have no index yet.
    await copyIndex(own as string, env.GIT_INDEX_FILE).catch((error: unknown) =>
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Promise.reject(fileError(error, folder)),
    );
    const listed = async (...args: string[]): Promise<string[]> => {
      const names = (await gitOutput([...args, ...pathspec(options.only)], { cwd: root, signal, env }))
        .toString('latin1')
        .split('\0');
      // A name that ends in a slash is a repository of its own.
      return [...new Set(names)].filter((name) => name !== '' && !name.endsWith('/'));
    };
    const [touched, untracked] = await Promise.all([
      listed('diff-files', '--name-only', '-z', '--ignore-submodules=all'),
      listed('ls-files', '-z', '--others', '--exclude-standard'),
    ]);
    const { large, readBytes } =
      options.whole === true ? { large: [], readBytes: 0 } : await largeOf(repository, { touched, untracked }, options);
    const left = new Set(large.map(({ path: name }) => Buffer.from(name).toString('latin1')));
    const take = async (names: readonly string[]): Promise<void> => {
      if (names.length === 0) return;
      const input = Buffer.from(`${names.join('\0')}\0`, 'latin1');
      await gitOutput([...INTO_ONE_PACK, 'update-index', '--add', '--remove', '--replace', '-z', '--stdin'], {
        cwd: root,
        signal,
        env,
        input,
        ...(options.whole === true ? { timeoutMs: CONTENT_TIMEOUT_MS } : {}),
      });
    };
    const unknown = untracked.filter((name) => !left.has(name));
    const apart = unknown.length >= (options.apartFrom ?? Number.POSITIVE_INFINITY) ? unknown : [];
    await take([...touched.filter((name) => !left.has(name)), ...(apart.length === 0 ? unknown : [])]);
    return { env, large, readBytes, apart, take, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * With its time of writing: git reads a file again whose time is not before the index's, since it may have been written
 * in the same second and with the same size. With a newer time on the copy, such a change would not be seen. Read
 * before the copy: an index that is replaced meanwhile only has more files read.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to);
  await utimes(to, atime, mtime);
}

/** As `LargeFile.stamp`, of a file that is there now; `null` when there is none. @param name from the top folder. */
export async function stampOf(root: string, name: string): Promise<string | null> {
  const found = await lstat(path.join(root, name)).catch(() => undefined);
  return found?.isFile() ? stamp(found) : null;
}

function stamp({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): string {
  return `${size} ${mtimeMs}`;
}

async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(path.join(os.tmpdir(), 'slipway-index-'));
  } catch (error) {
    throw fileError(error, os.tmpdir());
  }
}

function pathspec(only: string | undefined): string[] {
  return only === undefined ? [] : ['--', `:(top,literal)${only}`];
}

/** @param names bytes of file names, one a character. */
async function largeOf(
  { root, signal }: Repository,
  names: { readonly touched: readonly string[]; readonly untracked: readonly string[] },
  { maxReadBytes = Number.POSITIVE_INFINITY, knownLarge }: WorktreeIndexOptions,
): Promise<{ large: LargeFile[]; readBytes: number }> {
  const large: LargeFile[] = [];
  const folder = Buffer.from(`${root}/`);
  let readBytes = 0;
  for (const [list, tracked] of [[names.touched, true] as const, [names.untracked, false] as const])
    await inSlices(list, signal, (name) => {
      const bytes = Buffer.from(name, 'latin1');
      const shown = bytes.toString();
      const found = statOf(Buffer.concat([folder, bytes]));
      if (!found?.isFile()) return;
      if (found.size > Math.min(LARGE_BYTES, maxReadBytes - readBytes) || knownLarge?.has(shown) === true)
        large.push({ path: shown, stamp: stamp(found), tracked });
      else readBytes += found.size;
    });
  return { large, readBytes };
}
