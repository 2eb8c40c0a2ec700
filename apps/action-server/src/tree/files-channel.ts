import {
  type FileState,
  FilesLiveMessage,
  FilesLiveRequest,
  MAX_OPEN_DIRECTORIES,
  MAX_OPEN_FILES,
} from '@slipway/contracts/live';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import type { OneAtATime } from '../editor/one-at-a-time.js';
import type { LiveChannel, LiveConnection } from '../http/live.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { createEntry, deleteEntry, renameEntry } from './change-files.js';
import { type DirectoryEvent, DirectoryWatches } from './directory-watches.js';
import { findFiles } from './find-files.js';
import { IgnoredByGit } from './ignored-by-git.js';
import { OpenDirectory } from './open-directory.js';
import { ShownFile } from './shown-file.js';

type Request = z.output<typeof FilesLiveRequest>;
type Answer = z.input<typeof FilesLiveMessage>;

/**
 * Poll interval of open paths, for changes that the kernel does not report (no watches left, a folder further up was
 * moved). Milliseconds.
 */
const GLANCE_MS = 2_000;
/** With this much unsent no contents are sent; they are read again when it has been sent. Bytes. */
const MAX_UNSENT = 1024 * 1024;
/** Requests of one user that are worked on at once; further ones are refused. */
const MAX_AT_ONCE = 200;

export interface FilesChannelOptions {
  readonly workspace: string;
  readonly environment: ShellEnvironment;
  /** Shared with all who change files, so that an edit of the agent and one of a user follow each other. */
  readonly turns: OneAtATime;
}

/** The channel `files`: what a user has open of the workspace, as it changes, and what they change. */
export function filesChannel(options: FilesChannelOptions): LiveChannel {
  return (connection) => new FilesConnection(connection, options).begin();
}

class FilesConnection {
  readonly #directories = new Map<string, OpenDirectory>();
  readonly #files = new Map<string, ShownFile>();
  readonly #watches = new DirectoryWatches();
  readonly #ignored: IgnoredByGit;
  #atOnce = 0;
  /** Ends the search under way: who types on wants nothing of it any more. */
  #endSearch: () => void = () => {};

  constructor(
    private readonly connection: LiveConnection,
    private readonly options: FilesChannelOptions,
  ) {
    this.#ignored = new IgnoredByGit(options.environment);
  }

  begin(): void {
    const { connection } = this;
    const timer = setInterval(() => this.#glance(), GLANCE_MS).unref();
    connection.signal.addEventListener('abort', () => {
      clearInterval(timer);
      for (const open of [...this.#directories.values(), ...this.#files.values()]) open.close();
    });
    connection.onDrain(() => this.#glance());
    connection.onMessage((message) => void this.#receive(message));
  }

  #send(answer: Answer): void {
    this.connection.send(answer);
  }

  async #receive(message: unknown): Promise<void> {
    const id =
      typeof message === 'object' && message !== null && 'id' in message && typeof message.id === 'number'
        ? message.id
        : -1;
    this.#atOnce += 1;
    try {
      if (this.#atOnce > MAX_AT_ONCE) throw new SlipwayError('request.invalid', 'Too much is asked for at once.');
      const answer = await this.#answer(parseOrThrow(FilesLiveRequest, message));
      if (answer !== undefined) this.#send(answer);
    } catch (error) {
      const known =
        error instanceof SlipwayError
          ? error
          : new SlipwayError('internal.unexpected', 'This could not be done in the sandbox.', { cause: error });
      this.#send({ type: 'failed', id, code: known.code, detail: known.detail });
    } finally {
      this.#atOnce -= 1;
    }
  }

  async #answer(request: Request): Promise<Answer | undefined> {
    const { workspace, environment, turns } = this.options;
    const { signal } = this.connection;
    switch (request.type) {
      case 'list': {
        const { id, path, offset, limit } = request;
        const directory = this.#directory(path);
        try {
          return { type: 'listed', id, path, offset, ...(await directory.page(offset, limit, signal)) };
        } catch (error) {
          directory.close();
          this.#directories.delete(path);
          throw error;
        }
      }
      case 'open':
        return { type: 'file', id: request.id, path: request.path, file: await this.#file(request.path).open() };
      case 'let-go': {
        const open = request.of === 'file' ? this.#files : this.#directories;
        open.get(request.path)?.close();
        open.delete(request.path);
        return undefined;
      }
      case 'write': {
        const { id, path } = request;
        const saved = await this.#file(path).save(request);
        return 'written' in saved
          ? { type: 'written', id, path, version: saved.written }
          : { type: 'conflict', id, path, file: saved.conflict };
      }
      case 'create':
        await turns.run(() => createEntry(workspace, request.path, request.kind));
        return { type: 'done', id: request.id, path: request.path };
      case 'rename':
        await turns.run(() => renameEntry(workspace, request.path, request.to));
        return { type: 'done', id: request.id, path: request.path };
      case 'delete':
        await turns.run(() => deleteEntry(workspace, request.path));
        return { type: 'done', id: request.id, path: request.path };
      case 'find': {
        this.#endSearch();
        const search = new AbortController();
        this.#endSearch = () =>
          search.abort(new SlipwayError('request.invalid', 'A newer search has taken the place of this one.'));
        const found = await findFiles(workspace, request.query, {
          environment,
          signal: AbortSignal.any([signal, search.signal]),
        });
        return { type: 'found', id: request.id, ...found };
      }
    }
  }

  #directory(path: string): OpenDirectory {
    const open = this.#directories.get(path);
    if (open !== undefined) return open;
    if (this.#directories.size >= MAX_OPEN_DIRECTORIES)
      throw new SlipwayError('request.invalid', 'Too many directories are open; close some.');
    const directory = new OpenDirectory({
      workspace: this.options.workspace,
      path,
      watches: this.#watches,
      ignored: this.#ignored,
      changed: (generation, gone) => this.#send({ type: 'directory-changed', path, generation, gone }),
      happened: (event) => this.#happened(path, event),
    });
    this.#directories.set(path, directory);
    return directory;
  }

  #file(path: string): ShownFile {
    const open = this.#files.get(path);
    if (open !== undefined) return open;
    if (this.#files.size >= MAX_OPEN_FILES)
      throw new SlipwayError('request.invalid', 'Too many files are open; close some.');
    const file = new ShownFile({
      workspace: this.options.workspace,
      path,
      watches: this.#watches,
      turns: this.options.turns,
      changed: (state: FileState) => this.#send({ type: 'file', id: null, path, file: state }),
      maySend: () => this.connection.buffered < MAX_UNSENT,
    });
    this.#files.set(path, file);
    return file;
  }

  /** What came or went may be a folder that something open is in, and rules of git are about all that is below. */
  #happened(directory: string, { name, renamed }: DirectoryEvent): void {
    if (name === '.gitignore') for (const open of this.#directories.values()) open.renew();
    if (!renamed) return;
    const below = name === null ? directory : directory === '' ? name : `${directory}/${name}`;
    for (const [path, open] of [...this.#directories, ...this.#files])
      if (path === below || path.startsWith(`${below}/`)) open.look();
  }

  #glance(): void {
    for (const open of [...this.#directories.values(), ...this.#files.values()]) void open.glance();
  }
}
