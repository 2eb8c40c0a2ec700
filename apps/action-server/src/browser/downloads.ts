import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Download } from 'playwright-core';
import { freeBytes } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';
import type { Notes } from './notes.js';

/** Most of all downloads under way together. Bytes. */
export const MAX_DOWNLOAD_BYTES = 200 * 1024 * 1024;
/** Most downloads between two answers, and most under way: a page can begin them by itself, and need not end them. */
const MAX_DOWNLOADS = 10;
/** Longest that one may take. Milliseconds. */
const MAX_MS = 30 * 60_000;
/** Left free on the disk. Bytes. */
const RESERVE_BYTES = 64 * 1024 * 1024;
/** Poll interval of the size of a download: Chromium does not report it to playwright. Milliseconds. */
const LOOK_MS = 100;

export interface DownloadsOptions {
  readonly workspace: string;
  /** Where Chromium puts what is under way. */
  readonly directory: string;
  readonly notes: Notes;
  readonly maxBytes?: number;
}

/**
 * Files that pages give: into `downloads/` of the workspace, under a name that is only a name, reported with the next
 * answer. Too large ones are aborted.
 */
export class Downloads {
  readonly #underWay = new Set<Download>();
  /** Those of the action that is being done: an earlier one that does not end keeps no later action waiting. */
  #ofAction = new Set<Download>();
  #begun = 0;
  #kept = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: DownloadsOptions) {}

  /** Some that began since the action did have not come to their end. */
  get areUnderWay(): boolean {
    return this.#ofAction.size > 0;
  }

  /** How many have begun since the action did. */
  get begun(): number {
    return this.#begun;
  }

  /** A new action begins: pages may give files again, where they are `kept`. */
  forgive(kept: 'kept' | 'refused'): void {
    this.#begun = 0;
    this.#ofAction = new Set();
    this.#kept = kept === 'kept';
  }

  take(download: Download): void {
    this.#begun += 1;
    if (!this.#kept) {
      this.options.notes.add('A page gave a file, which was not taken: nothing may be changed here.');
      void download.cancel().catch(() => {});
      return;
    }
    if (this.#begun > MAX_DOWNLOADS || this.#underWay.size >= MAX_DOWNLOADS) {
      this.options.notes.add(`A page gave more than ${MAX_DOWNLOADS} files at once; the others were refused.`);
      void download.cancel().catch(() => {});
      return;
    }
    const ofAction = this.#ofAction.add(download);
    this.#underWay.add(download);
    const late = setTimeout(() => void download.cancel().catch(() => {}), MAX_MS).unref();
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    void this.#keep(download).finally(() => {
      clearTimeout(late);
      ofAction.delete(download);
      this.#underWay.delete(download);
      if (this.#underWay.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #keep(download: Download): Promise<void> {
    const name = safeName(download.suggestedFilename());
    try {
      const file = await download.path();
      const folder = await insideWorkspace(this.options.workspace, 'downloads');
      await mkdir(folder, { recursive: true });
      const kept = await copyUnder(file, folder, name);
      this.options.notes.add(`Downloaded ${kept} (${(await stat(kept)).size} bytes).`);
    } catch {
      const failure =
        (await download.failure().catch(() => null)) ?? 'it could not be written to downloads/ of the workspace';
      this.options.notes.add(
        `The download ${name} was not kept: ${failure === 'canceled' ? this.#limit() : failure.slice(0, 200)}.`,
      );
    }
    await download.delete().catch(() => {});
  }

  async #look(): Promise<void> {
    const names = await readdir(this.options.directory).catch(() => []);
    const sizes = await Promise.all(
      names.map((name) =>
        stat(path.join(this.options.directory, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    const free = await freeBytes(this.options.directory);
    const all = sizes.reduce((sum, size) => sum + size, 0);
    // What is kept is copied: it needs its room twice for a moment.
    if (all <= (this.options.maxBytes ?? MAX_DOWNLOAD_BYTES) && free > RESERVE_BYTES + all) return;
    for (const download of this.#underWay) void download.cancel().catch(() => {});
  }

  #limit(): string {
    return `more than ${Math.floor((this.options.maxBytes ?? MAX_DOWNLOAD_BYTES) / 1024 / 1024)} MiB at once are not taken, nor what takes more than ${MAX_MS / 60_000} minutes, and the disk must keep some room. Use curl in the terminal for large files`;
  }
}

/**
 * Letters, digits and a few signs of any language: no path, nothing hidden, nothing that a shell reads. At most 100
 * code units.
 */
export function safeName(suggested: string): string {
  const last = suggested.split(/[/\\]/).at(-1) ?? '';
  const cleaned = last
    .replaceAll(/[^\p{L}\p{N}._ ()+@-]/gu, '_')
    .replace(/^[.\s-]+/, '')
    .replace(/[.\s]+$/, '');
  const extension = path.extname(cleaned).slice(0, 20);
  const stem = cleaned.slice(0, cleaned.length - path.extname(cleaned).length).slice(0, 80);
  return `${stem}${extension}`.toWellFormed() || 'download';
}

/** Never over a file that is there, nor through a link: the copy is made only where nothing is. */
async function copyUnder(file: string, folder: string, name: string): Promise<string> {
  const extension = path.extname(name);
  for (let number = 1; ; number += 1) {
    const target = path.join(
      folder,
      number === 1 ? name : `${name.slice(0, name.length - extension.length)}-${number}${extension}`,
    );
    try {
      await copyFile(file, target, constants.COPYFILE_EXCL);
      return target;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' && number < 1_000) continue;
      await rm(target, { force: true });
      throw error;
    }
  }
}
