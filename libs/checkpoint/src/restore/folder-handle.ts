import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { diskPath } from '../capture/disk-path.js';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Names a folder without a right to read it. Node has no constant for it; Linux has this one on all its platforms. */
const O_PATH = 0o10000000;
const OWN = 0o700;

/**
 * A folder by its descriptor. Every path is one name below it, through `/proc/self/fd`, and no link is followed: what
 * moves the folder or puts a link in its place meanwhile leads nothing elsewhere.
 */
export class FolderHandle {
  private constructor(private readonly file: number) {}

  /** A root: its path is the platform's own. */
  static open(directory: string): FolderHandle {
    return new FolderHandle(openSync(directory, O_RDONLY | O_DIRECTORY));
  }

  /** @throws when the name is no folder, or a link. Makes it accessible to its owner. */
  child(name: string): FolderHandle {
    const path = this.path(name);
    let file: number;
    try {
      file = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
      makeAccessible(path);
      file = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    }
    const handle = new FolderHandle(file);
    const { mode } = fstatSync(file);
    if ((mode & OWN) !== OWN) fchmodSync(file, (mode & 0o1777) | OWN);
    return handle;
  }

  close(): void {
    closeSync(this.file);
  }

  stat(): Stats {
    return fstatSync(this.file);
  }

  /** Mode and time of the folder itself. @param mtime microseconds. */
  set(mode: number, mtime: number): void {
    fchmodSync(this.file, mode);
    futimesSync(this.file, seconds(mtime), seconds(mtime));
  }

  names(): string[] {
    return readdirSync(`/proc/self/fd/${this.file}`, { encoding: 'latin1' });
  }

  lstat(name: string): Stats | undefined {
    return lstatSync(this.path(name), { throwIfNoEntry: false });
  }

  readlink(name: string): string {
    return readlinkSync(this.path(name), { encoding: 'latin1' });
  }

  openFile(name: string): number {
    return openSync(this.path(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** A new file: an error when the name is taken, also by a link. */
  create(name: string, mode: number): number {
    return openSync(this.path(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  }

  /** An own file that is not whole yet. */
  reopen(name: string): number {
    return openSync(this.path(name), O_WRONLY | O_NOFOLLOW);
  }

  mkdir(name: string): void {
    mkdirSync(this.path(name), OWN);
  }

  symlink(target: string, name: string): void {
    symlinkSync(diskPath(target), this.path(name));
  }

  /** A further name for a file of another folder. A link is not followed. */
  link(source: FolderHandle, from: string, name: string): void {
    linkSync(source.path(from), this.path(name));
  }

  rename(from: string, to: string): void {
    renameSync(this.path(from), this.path(to));
  }

  unlink(name: string): void {
    unlinkSync(this.path(name));
  }

  /** @returns whether it was empty. */
  rmdir(name: string): boolean {
    try {
      rmdirSync(this.path(name));
      return true;
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }

  /** Mode of a file, opened without following a link. */
  chmod(name: string, mode: number): void {
    const file = openSync(this.path(name), O_PATH | O_NOFOLLOW);
    try {
      // Of a link this would be its target's: the descriptor is then that of the link, and the call fails.
      chmodSync(`/proc/self/fd/${file}`, mode);
    } finally {
      closeSync(file);
    }
  }

  /** Time of an entry of any kind; of a link itself. */
  utimes(name: string, mtime: number): void {
    lutimesSync(this.path(name), seconds(mtime), seconds(mtime));
  }

  private path(name: string): string | Buffer {
    return diskPath(`/proc/self/fd/${this.file}/${name}`);
  }
}

/** Node takes a negative number for now, and a negative text for what it says. */
export function seconds(microseconds: number): number | string {
  const value = microseconds / 1e6;
  return value < 0 ? String(value) : value;
}

function makeAccessible(path: string | Buffer): void {
  const file = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${file}`, (fstatSync(file).mode & 0o1777) | OWN);
  } finally {
    closeSync(file);
  }
}
