import type { TextFile } from './text-file.js';

/** Most states of one file, and most text over all files (UTF-16 code units): the oldest go first. */
const MAX_STATES_A_FILE = 20;
const MAX_LENGTH = 32 * 1024 * 1024;

/** What files were before each edit, newest last; `null` for a file that was not there. */
export class EditHistory {
  #states: { readonly file: string; readonly before: TextFile | null }[] = [];
  #length = 0;

  push(file: string, before: TextFile | null): void {
    this.#states.push({ file, before });
    this.#length += before?.text.length ?? 0;
    const own = this.#states.filter((state) => state.file === file);
    if (own.length > MAX_STATES_A_FILE) this.#drop(this.#states.findIndex((state) => state.file === file));
    while (this.#length > MAX_LENGTH && this.#states.length > 1) this.#drop(0);
  }

  /** The last state of this file; it stays until `forget`. `undefined` when there is none. */
  last(file: string): TextFile | null | undefined {
    return this.#states.findLast((state) => state.file === file)?.before;
  }

  forget(file: string): void {
    this.#drop(this.#states.findLastIndex((state) => state.file === file));
  }

  #drop(index: number): void {
    const [dropped] = this.#states.splice(index, 1);
    this.#length -= dropped?.before?.text.length ?? 0;
  }
}
