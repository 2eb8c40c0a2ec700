import { type FSWatcher, statSync, watch } from 'node:fs';

/** `renamed`: a name came, went or leads to something else. `name` null: anything may have happened. */
export type DirectoryEvent = { readonly name: string | null; readonly renamed: boolean };

interface Watched {
  readonly watcher: FSWatcher;
  /** Which directory it is: one that is made again under the same name is another. */
  readonly identity: string;
  readonly listeners: Set<(event: DirectoryEvent) => void>;
}

/**
 * Watches directories by the kernel's notices, one watch a directory for any number of listeners; subdirectories are
 * not watched. On failure: where the kernel gives no more watches, no change is reported, and listeners poll now and
 * then.
 */
export class DirectoryWatches {
  readonly #watched = new Map<string, Watched>();

  /** Until the answer is called. A directory that is not there is not watched. @param directory a real path. */
  watch(directory: string, listener: (event: DirectoryEvent) => void): () => void {
    const watched = this.#current(directory);
    watched?.listeners.add(listener);
    return () => {
      if (watched === undefined || !watched.listeners.delete(listener) || watched.listeners.size > 0) return;
      watched.watcher.close();
      if (this.#watched.get(directory) === watched) this.#watched.delete(directory);
    };
  }

  /** Whether what is watched under this path is still what is there. */
  isCurrent(directory: string): boolean {
    const identity = identityOf(directory);
    return identity !== undefined && this.#watched.get(directory)?.identity === identity;
  }

  #current(directory: string): Watched | undefined {
    const identity = identityOf(directory);
    const existing = this.#watched.get(directory);
    if (identity === undefined || existing?.identity === identity) return identity === undefined ? undefined : existing;
    try {
      const listeners = new Set<(event: DirectoryEvent) => void>();
      const tell = (event: DirectoryEvent): void => {
        for (const each of [...listeners]) each(event);
      };
      const watcher = watch(directory, { persistent: false }, (type, name) =>
        tell({ name, renamed: type === 'rename' }),
      );
      const watched: Watched = { watcher, identity, listeners };
      watcher.on('error', () => {
        watcher.close();
        if (this.#watched.get(directory) === watched) this.#watched.delete(directory);
        tell({ name: null, renamed: true });
      });
      this.#watched.set(directory, watched);
      return watched;
    } catch {
      return undefined;
    }
  }
}

/** Inodes are used again; with the time of birth they are not. */
function identityOf(directory: string): string | undefined {
  const found = statSync(directory, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() === true ? `${found.dev}:${found.ino}:${found.birthtimeNs}` : undefined;
}
