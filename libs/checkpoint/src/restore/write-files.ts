import { closeSync, fchmodSync, ftruncateSync, futimesSync, type Stats, writeSync } from 'node:fs';
import { equalStats } from '../capture/stat-numbers.js';
import { broken } from '../objects/broken.js';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import { type ContentId, contentIdOf } from '../objects/content-id.js';
import { TEMPORARY } from '../policy/policy.js';
import type { FileEntry } from '../tree/tree-entry.js';
import { FolderHandle, seconds } from './folder-handle.js';

/** Folders that are held open between two files, since their files come one after another. */
const MAX_OPEN = 64;

interface Job {
  readonly folder: string;
  readonly entry: FileEntry;
  /** Where it is written: its own name in a folder that this restore made, else a temporary one. */
  readonly name: string;
  /** What it replaces, as it was seen; `null` for nothing. */
  readonly before: Stats | null;
  /** Chunks that have not come yet. */
  missing: number;
  created: boolean;
}

/** Writes files as their chunks come, in any order. */
export class WriteFiles {
  written = 0;
  bytes = 0;
  private readonly wanted = new Map<ContentId, { job: Job; at: number }[]>();
  private readonly links: { folder: string; entry: FileEntry }[] = [];
  private readonly open = new Map<string, FolderHandle>();
  private readonly umask = process.umask();
  private temporary = 0;
  private waiting = 0;

  /**
   * @param roots directories by root name.
   * @param nonce hexadecimal, new for each restore: makes the temporary names.
   * @param overtaken gets the path of a file that was written by others between the look at it and its replacement.
   */
  constructor(
    private readonly roots: ReadonlyMap<string, string>,
    private readonly nonce: string,
    private readonly overtaken: (path: string) => void,
  ) {}

  /**
   * @param over what it replaces: `fresh` in a folder that this restore made, so that nothing can be in the way; else
   * what was seen under its name.
   */
  add(folder: string, entry: FileEntry, over: 'fresh' | Stats | null): void {
    if (entry.linkedTo !== null) {
      this.links.push({ folder, entry });
      return;
    }
    const name = over === 'fresh' ? entry.name : this.temporaryName();
    const before = over === 'fresh' ? null : over;
    const job: Job = { folder, entry, name, before, missing: 0, created: false };
    let at = 0;
    for (const { id, length } of entry.chunks) {
      if (id !== null) {
        job.missing += 1;
        const places = this.wanted.get(id);
        if (places === undefined) this.wanted.set(id, [{ job, at }]);
        else places.push({ job, at });
      }
      at += length;
    }
    if (job.missing > 0) this.waiting += 1;
    else this.write(job, null, 0);
  }

  temporaryName(): string {
    this.temporary += 1;
    return `${TEMPORARY}${this.nonce}-${this.temporary}`;
  }

  /** @throws SlipwayError `checkpoint.broken` for a false id. What nobody asked for is passed over. */
  take({ id, bytes }: CheckpointObject): void {
    const places = this.wanted.get(id);
    if (places === undefined) return;
    if (contentIdOf(bytes) !== id) throw broken('an object is not what its id says');
    this.wanted.delete(id);
    for (const { job, at } of places) {
      job.missing -= 1;
      this.write(job, bytes, at);
      if (job.missing === 0) this.waiting -= 1;
    }
  }

  /** After the last chunk. @throws SlipwayError `checkpoint.broken` when a file is not whole. */
  end(): void {
    if (this.waiting > 0) throw broken(`${this.waiting} files are not whole`);
  }

  /** Further names, after all files. @param allowed whether the first name is as the checkpoint has it. */
  link(allowed: (path: string) => boolean, refused: (path: string) => void): void {
    for (const { folder, entry } of this.links) {
      const source = entry.linkedTo as string;
      const slash = source.lastIndexOf('/');
      const [from, name] = [source.slice(0, slash), source.slice(slash + 1)];
      const found = allowed(source) ? this.handle(from)?.lstat(name) : undefined;
      if (found?.isFile() !== true || found.size !== entry.size) {
        refused(`${folder}/${entry.name}`);
        continue;
      }
      const [target, temporary] = [this.folder(folder), this.temporaryName()];
      target.link(this.folder(from), name, temporary);
      target.rename(temporary, entry.name);
      // A rename onto another name of the same file does nothing at all.
      if (target.lstat(temporary) !== undefined) target.unlink(temporary);
      this.written += 1;
    }
  }

  close(): void {
    for (const handle of this.open.values()) handle.close();
    this.open.clear();
  }

  private write(job: Job, bytes: Uint8Array | null, at: number): void {
    const { entry, name } = job;
    const folder = this.folder(job.folder);
    const file = job.created ? folder.reopen(name) : folder.create(name, job.missing > 0 ? 0o600 : entry.mode & 0o777);
    const isNew = !job.created;
    job.created = true;
    try {
      if (bytes !== null) writeAll(file, bytes, at);
      this.bytes += bytes?.length ?? 0;
      if (job.missing > 0) return;
      if (at + (bytes?.length ?? 0) < entry.size) ftruncateSync(file, entry.size);
      if (!isNew || (entry.mode & ~this.umask) !== entry.mode || entry.mode > 0o777) fchmodSync(file, entry.mode);
      futimesSync(file, seconds(entry.mtime), seconds(entry.mtime));
    } finally {
      closeSync(file);
    }
    if (name !== entry.name) {
      const now = folder.lstat(entry.name);
      if (job.before === null ? now !== undefined : now === undefined || !equalStats(job.before, now)) {
        // Saved by someone in between: theirs stays.
        folder.unlink(name);
        this.overtaken(`${job.folder}/${entry.name}`);
        return;
      }
      folder.rename(name, entry.name);
    }
    this.written += 1;
  }

  private folder(path: string): FolderHandle {
    const handle = this.handle(path);
    if (handle === null) throw broken('a folder was taken away while its files were written');
    return handle;
  }

  /** Opened name by name from its root, so that no link is followed. `null` for what is no folder now. */
  private handle(path: string): FolderHandle | null {
    const held = this.open.get(path);
    if (held !== undefined) {
      // The one that was used last is closed last.
      this.open.delete(path);
      this.open.set(path, held);
      return held;
    }
    const slash = path.lastIndexOf('/');
    let handle: FolderHandle;
    if (slash === -1) {
      const directory = this.roots.get(path);
      if (directory === undefined) return null;
      handle = FolderHandle.open(directory);
    } else {
      const parent = this.handle(path.slice(0, slash));
      if (parent === null) return null;
      try {
        handle = parent.child(path.slice(slash + 1));
      } catch {
        return null;
      }
    }
    this.open.set(path, handle);
    if (this.open.size > MAX_OPEN) this.closeOldest(path);
    return handle;
  }

  private closeOldest(except: string): void {
    for (const [path, handle] of this.open) {
      if (path === except || !path.includes('/')) continue;
      handle.close();
      this.open.delete(path);
      return;
    }
  }
}

function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}
