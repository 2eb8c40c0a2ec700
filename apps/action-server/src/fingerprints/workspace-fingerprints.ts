import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { MAX_PRINT_FOLDERS, MAX_PRINTS, PRINT_WINDOWS, type WorkspacePrints } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { Winnowing } from '@slipway/net';
import { insideWorkspace } from '../files/workspace-path.js';
import { inSlices, statOf } from '../git/own-count.js';
import { ripgrep, ripgrepIn } from '../search/ripgrep.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';

/** Files beyond these are left out, and one that is larger. Files, bytes. */
const MAX_FILES = 20_000;
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 1024 * 1024;
/** Git searches so far for a NUL, which text has none of. Bytes. */
const LOOKED_AT = 8_000;
/** Folders below that of the work that have a name of their own: `src/billing`. */
const DEPTH = 2;
/** All others, when there are too many. */
const ROOT = '.';

interface Known {
  /** Two alike mean the same content. */
  readonly stamp: string;
  readonly prints: Uint32Array;
}

interface TextFile {
  readonly path: string;
  readonly stamp: string;
  readonly size: number;
}

/**
 * Fingerprints of the text files of the workspace that are not ignored. What was read of files that have not changed is
 * kept in memory, so that a question which ended too early is answered sooner the next time.
 */
export class WorkspaceFingerprints {
  private known = new Map<string, Known>();
  private window = 0;

  constructor(
    private readonly workspace: string,
    private readonly environment: ShellEnvironment,
  ) {}

  /** @throws SlipwayError `sandbox.tool-unavailable`, and those of `insideWorkspace`. */
  async of(wanted: string, signal: AbortSignal): Promise<WorkspacePrints> {
    const folder = await insideWorkspace(this.workspace, wanted);
    const { files, cut } = await this.files(folder, signal);
    const window = windowFor(files.reduce((sum, { size }) => sum + size, 0));
    // Those of another window select other shingles.
    const before = window === this.window ? this.known : new Map<string, Known>();
    const known = new Map<string, Known>();
    this.window = window;
    // What is read from now on stays, also when this question is given up.
    this.known = before;
    await inSlices(files, signal, ({ path: file, stamp }) => {
      const same = before.get(file);
      const now = same?.stamp === stamp ? same : { stamp, prints: printsOf(file, window) };
      before.set(file, now);
      known.set(file, now);
    });
    if (this.known === before) this.known = known;
    return together(folder, known, { window, cut });
  }

  private async files(folder: string, signal: AbortSignal): Promise<{ files: TextFile[]; cut: boolean }> {
    const program = ripgrepIn(this.environment.variables()['PATH'] ?? '');
    if (program === null)
      throw new SlipwayError('sandbox.tool-unavailable', 'The image of this sandbox has no ripgrep.');
    const names: string[] = [];
    const { ended } = await ripgrep(['--files', '--null'], {
      program,
      cwd: folder,
      signal,
      end: '\0',
      line: (name) => names.push(name) < MAX_FILES,
    });
    let cut = ended !== 'all';
    let room = MAX_TEXT_BYTES;
    const files: TextFile[] = [];
    await inSlices(names.sort(), signal, (name) => {
      const file = path.join(folder, name);
      const found = statOf(Buffer.from(file));
      if (found?.isFile() !== true || found.size === 0) return;
      const { size, mtimeMs, ino } = found;
      if (size > Math.min(room, MAX_FILE_BYTES)) {
        cut = true;
        return;
      }
      room -= size;
      files.push({ path: file, stamp: `${size} ${mtimeMs} ${ino}`, size });
    });
    return { files, cut };
  }
}

/** The smallest whose fingerprints have room: two of each window and one more. */
function windowFor(bytes: number): (typeof PRINT_WINDOWS)[number] {
  return PRINT_WINDOWS.find((window) => (bytes * 2) / (window + 1) <= MAX_PRINTS * 0.9) ?? 4_096;
}

/** None for what is no text, or gone. */
function printsOf(file: string, window: number): Uint32Array {
  const content = textOf(file);
  const prints: number[] = [];
  if (content !== null) new Winnowing(window, (print) => void prints.push(print)).push(content);
  return Uint32Array.from(prints);
}

function textOf(file: string): Buffer | null {
  let handle: number | undefined;
  try {
    // Neither a link nor a pipe that was put in its place meanwhile.
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(handle);
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return null;
    const content = Buffer.alloc(found.size);
    const read = content.subarray(0, readSync(handle, content));
    return read.subarray(0, LOOKED_AT).includes(0) ? null : read;
  } catch {
    return null;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function together(
  root: string,
  known: ReadonlyMap<string, Known>,
  { window, cut }: Pick<WorkspacePrints, 'window' | 'cut'>,
): WorkspacePrints {
  const folders = new Map<string, number>([[ROOT, 0]]);
  const owners = new Map<number, number>();
  let isFull = false;
  for (const [file, { prints }] of known) {
    const folder = folderOf(path.relative(root, file));
    let owner = folders.get(folder);
    if (owner === undefined && folders.size < MAX_PRINT_FOLDERS) {
      owner = folders.size;
      folders.set(folder, owner);
    }
    for (const print of prints) {
      if (owners.has(print)) continue;
      isFull ||= owners.size >= MAX_PRINTS;
      if (!isFull) owners.set(print, owner ?? 0);
    }
  }
  const prints = Buffer.alloc(4 * owners.size);
  let at = 0;
  for (const print of owners.keys()) at = prints.writeUInt32LE(print, at);
  return {
    window,
    folders: [...folders.keys()],
    prints: prints.toString('base64'),
    owners: Buffer.from([...owners.values()]).toString('base64'),
    cut: cut || isFull,
  };
}

function folderOf(name: string): string {
  const folders = name.split(path.sep).slice(0, -1).slice(0, DEPTH);
  return folders.length === 0 ? ROOT : folders.join('/').slice(0, 200);
}
