import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { ArchivePart } from '@slipway/contracts/agent';
import { boundedSource, MAX_PART_BYTES } from '../../../store/bounded-source.js';
import { CHUNK_BYTES, chunked, directoryError, syncDirectory } from '../../../store/directory.js';
import { archiveKey, workspaceName } from './archive-key.js';
import { WORKSPACE_NAME, type WorkspaceStore } from './workspace-store.js';

/** Age of an unchanged draft that a killed process left behind. Milliseconds. */
const ABANDONED_MS = 60 * 60_000;

/**
 * Workspaces as folders of one directory, which several processes, also of several machines, may share.
 * A part is written as a draft, synced, and renamed: who reads sees the old one or the new one, also after a power cut.
 */
export class DirectoryStore implements WorkspaceStore {
  constructor(
    private readonly directory: string,
    private readonly maxBytes = MAX_PART_BYTES,
  ) {}

  async put(workspace: string, part: ArchivePart, source: Readable, signal: AbortSignal): Promise<{ bytes: number }> {
    const bounded = boundedSource(source, this.maxBytes, signal);
    const file = path.join(this.directory, archiveKey(workspace, part));
    const draft = path.join(path.dirname(file), `.${part}-${randomBytes(8).toString('hex')}.draft`);
    try {
      await mkdir(path.dirname(file), { recursive: true });
      await this.removeAbandoned(path.dirname(file));
      const handle = await open(draft, 'wx', 0o600);
      try {
        for await (const chunk of chunked(bounded)) await handle.writeFile(chunk);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
      await syncDirectory(path.dirname(file));
      await syncDirectory(this.directory);
      return { bytes: bounded.bytes };
    } catch (error) {
      source.destroy();
      await rm(draft, { force: true }).catch(() => {});
      throw bounded.failure ?? directoryError(error, 'workspaces', signal);
    }
  }

  async get(workspace: string, part: ArchivePart, signal: AbortSignal): Promise<Readable | null> {
    const file = path.join(this.directory, archiveKey(workspace, part));
    signal.throwIfAborted();
    try {
      const handle = await open(file, 'r');
      return createReadStream('', { fd: handle, highWaterMark: CHUNK_BYTES / 4, signal });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw directoryError(error, 'workspaces', signal);
    }
  }

  async mark(workspace: string, signal: AbortSignal): Promise<void> {
    const folder = path.join(this.directory, workspaceName(workspace));
    signal.throwIfAborted();
    try {
      await mkdir(folder, { recursive: true });
      await syncDirectory(this.directory);
    } catch (error) {
      throw directoryError(error, 'workspaces', signal);
    }
  }

  async exists(workspace: string, signal: AbortSignal): Promise<boolean> {
    const folder = path.join(this.directory, workspaceName(workspace));
    signal.throwIfAborted();
    try {
      return (await stat(folder)).isDirectory();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw directoryError(error, 'workspaces', signal);
    }
  }

  async list(signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    try {
      const entries = await readdir(this.directory, { withFileTypes: true });
      return entries
        .filter((entry) => entry.isDirectory() && WORKSPACE_NAME.test(entry.name))
        .map((entry) => entry.name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw directoryError(error, 'workspaces', signal);
    }
  }

  async delete(workspace: string, signal: AbortSignal): Promise<void> {
    const folder = path.join(this.directory, workspaceName(workspace));
    // Out of sight at once: half of a workspace must not be found.
    const doomed = path.join(this.directory, `.deleted-${workspace}-${randomBytes(8).toString('hex')}`);
    signal.throwIfAborted();
    try {
      await rename(folder, doomed).catch((error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT' ? undefined : Promise.reject(error),
      );
      await rm(doomed, { recursive: true, force: true });
      await this.removeDeleted();
    } catch (error) {
      throw directoryError(error, 'workspaces', signal);
    }
  }

  /** What an earlier `delete` that was killed left. */
  private async removeDeleted(): Promise<void> {
    const names = await readdir(this.directory).catch(() => []);
    for (const name of names.filter((name) => name.startsWith('.deleted-')))
      await rm(path.join(this.directory, name), { recursive: true, force: true });
  }

  private async removeAbandoned(folder: string): Promise<void> {
    for (const name of (await readdir(folder)).filter((name) => name.endsWith('.draft'))) {
      const found = await stat(path.join(folder, name)).catch(() => null);
      if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS)
        await rm(path.join(folder, name), { force: true });
    }
  }
}
