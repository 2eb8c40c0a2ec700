import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { TreeEntry } from '@slipway/contracts/live';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';
import type { DirectoryEvent, DirectoryWatches } from './directory-watches.js';
import type { IgnoredByGit } from './ignored-by-git.js';
import { Paced } from './paced.js';
import { SAVING_SUFFIX } from './save-file.js';

type Kind = 'directory' | 'file' | 'link' | 'other';
interface Name {
  readonly name: string;
  readonly kind: Kind;
}

export interface OpenDirectoryOptions {
  readonly workspace: string;
  /** As the user names it. */
  readonly path: string;
  readonly watches: DirectoryWatches;
  readonly ignored: IgnoredByGit;
  /** The names are others now. */
  readonly changed: (generation: number, gone: boolean) => void;
  /** Something came, went, or led elsewhere in it. */
  readonly happened: (event: DirectoryEvent) => void;
}

/**
 * One directory that a user has open: its names are held, in their order, and read again when the kernel reports a
 * change.
 */
export class OpenDirectory {
  readonly #look: Paced;
  #real = '';
  #names: readonly Name[] | undefined;
  #gone = false;
  #anew = false;
  #seen = '';
  #generation = 0;
  #stop: (() => void) | undefined;
  #reading: Promise<void> | undefined;
  #closed = false;

  constructor(private readonly options: OpenDirectoryOptions) {
    this.#look = new Paced(() => this.#again());
  }

  /** One page. @throws SlipwayError `file.not-found`, `file.outside-workspace`, `request.invalid`. */
  async page(
    offset: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<{ generation: number; total: number; entries: TreeEntry[] }> {
    if (this.#names === undefined || this.#gone) await this.#first();
    const names = this.#names ?? [];
    const [generation, total] = [this.#generation, names.length];
    const page = await Promise.all(names.slice(offset, offset + limit).map((name) => this.#described(name)));
    const ignored = await this.options.ignored.of(
      this.#real,
      page.map(({ name }) => name),
      signal,
    );
    return { generation, total, entries: page.map((entry) => ({ ...entry, ignored: ignored.has(entry.name) })) };
  }

  /** It may be another. */
  look(): void {
    this.#look.ask();
  }

  /** For changes that the kernel did not report: checks only the directory itself. */
  async glance(): Promise<void> {
    if (this.#names !== undefined && this.#seen !== (await directorySignature(this.#real))) this.#look.ask();
  }

  /** The same names, but they have to be sent again. */
  renew(): void {
    this.#anew = true;
    this.#look.ask();
  }

  close(): void {
    this.#closed = true;
    this.#look.close();
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Those who ask at the same time wait for the same reading. */
  #first(): Promise<void> {
    this.#reading ??= this.#read()
      .then(() => {
        if (this.#gone) this.#generation += 1;
        this.#gone = false;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #again(): Promise<number> {
    const [before, wasGone, anew] = [this.#names, this.#gone, this.#anew];
    this.#anew = false;
    try {
      await this.#read();
      this.#gone = false;
    } catch {
      this.#names = [];
      this.#gone = true;
      // It may exist, and the system had no resources to read it: the next poll reads again.
      this.#seen = '';
    }
    if (this.#closed) return 0;
    const after = this.#names ?? [];
    const same =
      before?.length === after.length &&
      after.every(({ name, kind }, index) => before[index]?.name === name && before[index]?.kind === kind);
    if (same && wasGone === this.#gone && !anew) return 0;
    this.#generation += 1;
    this.options.changed(this.#generation, this.#gone);
    return 0;
  }

  async #read(): Promise<void> {
    const { workspace, path: wanted, watches } = this.options;
    const real = await insideWorkspace(workspace, wanted);
    const isAnother = real !== this.#real || !watches.isCurrent(real);
    this.#real = real;
    // Closed meanwhile: the watch would leak.
    if (isAnother && !this.#closed) {
      // Watched before it is read: changes between the two are reported.
      this.#stop?.();
      this.#stop = watches.watch(real, (event) => {
        if (event.renamed && event.name?.endsWith(SAVING_SUFFIX) !== true) this.#look.ask();
        this.options.happened(event);
      });
    }
    this.#seen = await directorySignature(real);
    const entries = await readdir(real, { withFileTypes: true }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR')
        throw new SlipwayError('request.invalid', `${wanted} is not a directory.`);
      throw fileError(error, wanted);
    });
    this.#names = sorted(entries);
  }

  async #described({ name, kind }: Name): Promise<Omit<TreeEntry, 'ignored'>> {
    if (kind !== 'link') return { name, kind, link: false };
    const target = await stat(path.join(this.#real, name)).catch(() => undefined);
    return {
      name,
      kind: target?.isDirectory() === true ? 'directory' : target?.isFile() === true ? 'file' : 'other',
      link: true,
    };
  }
}

/** Directories first, then by name without regard to case. */
function sorted(entries: readonly Dirent[]): Name[] {
  return entries
    .filter(({ name }) => !name.endsWith(SAVING_SUFFIX))
    .map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
      key: `${entry.isDirectory() ? 0 : 1}${entry.name.toLowerCase()}`,
    }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.name < b.name ? -1 : 1))
    .map(({ name, kind }) => ({ name, kind }));
}

async function directorySignature(directory: string): Promise<string> {
  const found = await stat(directory, { bigint: true }).catch(() => undefined);
  return `${found?.ino}:${found?.birthtimeNs}:${found?.mtimeNs}`;
}

function kindOf(entry: Dirent): Kind {
  return entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : 'other';
}
