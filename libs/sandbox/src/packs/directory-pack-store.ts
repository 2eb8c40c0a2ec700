import { randomBytes } from 'node:crypto';
import { createReadStream, type Dirent } from 'node:fs';
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { SlipwayError } from '@slipway/errors';
import { boundedSource } from '../store/bounded-source.js';
import { chunked, directoryError, syncDirectory } from '../store/directory.js';
import {
  checkRange,
  MAX_PACK_BYTES,
  type PackAddress,
  type PackEntry,
  type PackRange,
  type PackStore,
  packKey,
  packOfKey,
  type StoredPack,
} from './pack-store.js';

/** Age of a draft that a killed process left behind, when `list` deletes it. Milliseconds. */
const ABANDONED_MS = 24 * 3_600_000;
/** Digits of a pack's id that name its folder: one of a large organization has thousands of files, not millions. */
const FAN_OUT = 2;
const READ_BYTES = 256 * 1024;

/**
 * Packs as files of one directory, which several processes, also of several machines, may share. A pack is written as a
 * draft, synced, and linked to its name: it is there whole or not at all, also after a power cut, and never replaced.
 */
export class DirectoryPackStore implements PackStore {
  constructor(
    private readonly directory: string,
    private readonly options: { readonly maxBytes?: number; readonly now?: () => number } = {},
  ) {}

  async put(pack: PackAddress, source: Readable, signal: AbortSignal): Promise<StoredPack> {
    const bounded = boundedSource(source, this.options.maxBytes ?? MAX_PACK_BYTES, signal);
    let draft: string | null = null;
    try {
      const file = this.fileOf(pack);
      const folder = path.dirname(file);
      signal.throwIfAborted();
      if (await sizeOf(file).then((size) => size !== null)) {
        source.destroy();
        return { outcome: 'there' };
      }
      await mkdir(folder, { recursive: true });
      draft = path.join(folder, `.${pack.packId}-${randomBytes(8).toString('hex')}.draft`);
      const handle = await open(draft, 'wx', 0o600);
      try {
        for await (const chunk of chunked(bounded)) await handle.writeFile(chunk);
        await handle.sync();
      } finally {
        await handle.close();
      }
      const won = await link(draft, file).then(
        () => true,
        (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? false : Promise.reject(error)),
      );
      await rm(draft, { force: true });
      for (const each of [folder, path.dirname(folder), this.directory]) await syncDirectory(each);
      return won ? { outcome: 'stored', bytes: bounded.bytes } : { outcome: 'there' };
    } catch (error) {
      source.destroy();
      if (draft !== null) await rm(draft, { force: true }).catch(() => {});
      throw bounded.failure ?? directoryError(error, 'packs', signal);
    }
  }

  async get(pack: PackAddress, range: PackRange | null, signal: AbortSignal): Promise<Readable | null> {
    const file = this.fileOf(pack);
    checkRange(range);
    signal.throwIfAborted();
    try {
      const handle = await open(file, 'r');
      const { size } = await handle.stat();
      const [start, length] = range === null ? [0, size] : [range.start, range.length];
      if (start + length > size) {
        await handle.close();
        throw new SlipwayError('sandbox.archive-unavailable', `A pack of the store ends at ${size} bytes.`);
      }
      // A stream that reads to `start - 1` would read everything.
      if (length === 0) {
        await handle.close();
        return Readable.from([]);
      }
      return createReadStream('', { fd: handle, start, end: start + length - 1, highWaterMark: READ_BYTES, signal });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw directoryError(error, 'packs', signal);
    }
  }

  /** Deletes drafts that killed processes left, too. */
  async *list(after: PackAddress | null, signal: AbortSignal): AsyncGenerator<PackEntry> {
    const behind = after === null ? '' : packKey(after);
    try {
      for (const org of await entriesOf(this.directory)) {
        // In the order of keys, in which the organization's name ends with its slash.
        if (!org.isDirectory() || `${org.name}/\uffff` <= behind) continue;
        for (const folder of await entriesOf(path.join(this.directory, org.name))) {
          if (!folder.isDirectory() || `${org.name}/${folder.name}\uffff` <= behind) continue;
          signal.throwIfAborted();
          yield* this.listFolder(org.name, folder.name, { behind, signal });
        }
      }
    } catch (error) {
      throw directoryError(error, 'packs', signal);
    }
  }

  async delete(pack: PackAddress, signal: AbortSignal): Promise<void> {
    const file = this.fileOf(pack);
    signal.throwIfAborted();
    try {
      await rm(file, { force: true });
    } catch (error) {
      throw directoryError(error, 'packs', signal);
    }
  }

  private async *listFolder(
    org: string,
    folder: string,
    { behind, signal }: { readonly behind: string; readonly signal: AbortSignal },
  ): AsyncGenerator<PackEntry> {
    const where = path.join(this.directory, org, folder);
    for (const { name } of await entriesOf(where)) {
      const file = path.join(where, name);
      if (name.endsWith('.draft')) await this.removeAbandoned(file);
      const found = packOfKey(`${org}/${name}`);
      if (found === null || `${org}/${name}` <= behind) continue;
      const entry = await stat(file).catch((error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT' ? null : Promise.reject(error),
      );
      if (entry !== null) yield { ...found, bytes: entry.size, storedAt: entry.mtime };
      signal.throwIfAborted();
    }
  }

  private async removeAbandoned(file: string): Promise<void> {
    const found = await stat(file).catch(() => null);
    const now = this.options.now?.() ?? Date.now();
    if (found !== null && now - found.mtimeMs > ABANDONED_MS) await rm(file, { force: true });
  }

  private fileOf(pack: PackAddress): string {
    packKey(pack);
    return path.join(this.directory, pack.orgId, pack.packId.slice(0, FAN_OUT), pack.packId);
  }
}

async function sizeOf(file: string): Promise<number | null> {
  return stat(file).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : Promise.reject(error)),
  );
}

/** In the order of bytes of their names; none when the folder is not there. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? [] : Promise.reject(error),
  );
  return entries.sort((one, two) => (keyOf(one) < keyOf(two) ? -1 : 1));
}

/** `a-b` is before `a` in a list of keys, where `a` ends with a slash. */
function keyOf(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name;
}
