import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { FileState } from '@slipway/contracts/live';
import { OneAtATime } from '../editor/one-at-a-time.js';
import { insideWorkspace } from '../files/workspace-path.js';
import type { DirectoryWatches } from './directory-watches.js';
import { readFileState } from './file-state.js';
import { Paced } from './paced.js';
import { type Save, type Saved, saveFile } from './save-file.js';

/** A file that is written all the time is sent again at this rate. Bytes a millisecond. */
const SENT_A_MS = 2_048;

export interface ShownFileOptions {
  readonly workspace: string;
  /** As the user names it. */
  readonly path: string;
  readonly watches: DirectoryWatches;
  /** Waits its turn among those who change files. */
  readonly turns: OneAtATime;
  readonly changed: (state: FileState) => void;
  /** The user's connection is full at the moment; it is read again when `look` is called. */
  readonly maySend: () => boolean;
}

/**
 * One file that a user has open. It is watched by the folders that it and what it leads to are in, so that a file that
 * is replaced, or comes back, is seen too.
 */
export class ShownFile {
  readonly #look: Paced;
  /** What is read and what is saved follow each other: what was sent before `written` precedes it. */
  readonly #own = new OneAtATime();
  #sent = '';
  #folders = '';
  #seen = '';
  #stops: Array<() => void> = [];
  #closed = false;

  constructor(private readonly options: ShownFileOptions) {
    this.#look = new Paced(() => this.#own.run(() => this.#again()));
  }

  /** The current state; from here on changes are reported. */
  open(): Promise<FileState> {
    return this.#own.run(() => this.#read());
  }

  save(save: Omit<Save, 'path'>): Promise<Saved> {
    const { workspace, path: wanted, turns } = this.options;
    return this.#own.run(async () => {
      const saved = await turns.run(() => saveFile(workspace, { ...save, path: wanted }));
      this.#sent = 'written' in saved ? `text ${saved.written}` : nameOf(saved.conflict);
      await this.#watch();
      return saved;
    });
  }

  look(): void {
    this.#look.ask();
  }

  /** For changes that the kernel did not report: checks only the file's own metadata. */
  async glance(): Promise<void> {
    if (this.#seen !== (await this.#signature())) this.#look.ask();
  }

  close(): void {
    this.#closed = true;
    this.#look.close();
    this.#unwatch();
  }

  async #again(): Promise<number> {
    if (!this.options.maySend()) return 0;
    const sent = this.#sent;
    let state: FileState;
    try {
      state = await this.#read();
    } catch {
      // The system had no resources (too many open files): the next poll reads again.
      this.#seen = '';
      return 0;
    }
    if (this.#closed || nameOf(state) === sent) return 0;
    this.options.changed(state);
    return 'sizeBytes' in state && (state.kind === 'text' || state.kind === 'picture')
      ? state.sizeBytes / SENT_A_MS
      : 0;
  }

  async #read(): Promise<FileState> {
    // Watched before it is read: changes between the two are reported.
    await this.#watch();
    this.#seen = await this.#signature();
    const state = await readFileState(this.options.workspace, this.options.path);
    this.#sent = nameOf(state);
    return state;
  }

  async #signature(): Promise<string> {
    const found = await stat(path.join(this.options.workspace, this.options.path), { bigint: true }).catch(
      () => undefined,
    );
    return `${found?.ino}:${found?.size}:${found?.mtimeNs}:${found?.ctimeNs}`;
  }

  async #watch(): Promise<void> {
    const { workspace, path: wanted, watches } = this.options;
    const folders = await foldersOf(workspace, wanted).catch(() => []);
    // Closed meanwhile: the watches would leak.
    if (this.#closed) return;
    const names = folders.map(({ folder, name }) => `${folder}\0${name}`).join('\0');
    if (names === this.#folders && folders.every(({ folder }) => watches.isCurrent(folder))) return;
    this.#unwatch();
    this.#folders = names;
    this.#stops = folders.map(({ folder, name }) =>
      watches.watch(folder, (event) => {
        // The folder's own name is what the kernel says when the folder goes.
        if (event.name === name || event.name === null || event.name === path.basename(folder)) this.#look.ask();
      }),
    );
  }

  #unwatch(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#folders = '';
  }
}

/** Each link on the way by its own folder, and what it leads to by its. */
async function foldersOf(workspace: string, wanted: string): Promise<Array<{ folder: string; name: string }>> {
  const real = await insideWorkspace(workspace, wanted);
  const [root, base] = [await realpath(workspace), path.basename(wanted)];
  const parent = await insideWorkspace(workspace, path.dirname(wanted));
  const found = [{ folder: path.dirname(real), name: path.basename(real) }];
  if (
    path.join(parent, base) !== real &&
    real !== root &&
    (await lstat(path.join(parent, base)).catch(() => undefined)) !== undefined
  )
    found.push({ folder: parent, name: base });
  return found;
}

/** Two states of the same name are the same. */
function nameOf(state: FileState): string {
  if (state.kind === 'text') return `text ${state.version}${state.readOnly ? ' read-only' : ''}`;
  if (state.kind === 'picture') return `picture ${state.version}`;
  return JSON.stringify(state);
}
