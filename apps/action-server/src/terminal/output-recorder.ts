import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { cutFromOutput, MAX_OBSERVATION_LENGTH } from '@slipway/contracts/actions';
import { PlainText } from './plain-text.js';

/**
 * What stays of each end of a long output; the remainder of MAX_OBSERVATION_LENGTH is for the line that says what was
 * cut.
 */
const KEEP = MAX_OBSERVATION_LENGTH / 2 - 250;
/** Most of one command's output that is kept in a file. Bytes. */
export const MAX_SAVED_BYTES = 50 * 1024 * 1024;
/** What is written to the file at once. UTF-16 code units. */
const BLOCK = 256 * 1024;
/** A line of which more is there than this is cut in its midst. UTF-16 code units. */
const MAX_LOST = 2_000;
/** Files of older commands that are kept beside the newest. */
const KEPT_FILES = 10;

export interface RecordedOutput {
  /** At most MAX_OBSERVATION_LENGTH code units. */
  readonly text: string;
  /**
   * Holds what `text` leaves out, up to MAX_SAVED_BYTES. `null` when nothing was left out, or no file could be written.
   */
  readonly file: string | null;
  readonly diskFull: boolean;
}

/**
 * The output of one command, in bounded memory: its first and its last part, and from the moment that this is not all,
 * a file with the whole.
 */
export class OutputRecorder {
  #plain = new PlainText();
  #head = '';
  #tail: string[] = [];
  #tailLength = 0;
  #total = 0;
  #file: { readonly path: string; readonly descriptor: number; bytes: number } | undefined;
  /** To be written to the file. */
  #unsaved: string[] = [];
  #unsavedLength = 0;
  #diskFull = false;

  constructor(
    private readonly directory: string,
    private readonly name: string,
  ) {}

  push(bytes: Uint8Array): void {
    this.#append(this.#plain.push(bytes));
  }

  /** Everything since the last call. */
  take(): RecordedOutput {
    this.#append(this.#plain.flush());
    this.#write();
    const whole = this.#total === this.#head.length + this.#tailLength;
    // Half a line may hold half a secret. Of a longer one the mask hides what is left of it beside the cut.
    const head = whole ? this.#head : withoutBegunLine(this.#head);
    const tail = whole ? this.#tail.join('') : withoutEndOfLine(this.#tail.join(''));
    const cut = this.#total - head.length - tail.length;
    const file = cut > 0 ? (this.#file?.path ?? null) : null;
    const where =
      file === null
        ? ''
        : `; ${(this.#file?.bytes ?? 0) >= MAX_SAVED_BYTES ? `the first ${MAX_SAVED_BYTES / 1024 / 1024} MiB are in ${file}` : `all of it is in ${file}`}`;
    const text = cut > 0 ? `${head}${head.endsWith('\n') ? '' : '\n'}${cutFromOutput(cut, where)}${tail}` : head + tail;
    this.#head = '';
    this.#tail = [];
    this.#tailLength = 0;
    this.#total = 0;
    return { text, file, diskFull: this.#diskFull };
  }

  close(): void {
    this.#write();
    this.#end();
  }

  #end(): void {
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = undefined;
    this.#unsaved = [];
    this.#unsavedLength = 0;
  }

  #append(text: string): void {
    if (text === '') return;
    if (this.#file !== undefined) this.#save(text);
    else if (this.#total + text.length > 2 * KEEP && !this.#diskFull) {
      this.#open();
      this.#save(this.#head + this.#tail.join('') + text);
    }
    this.#total += text.length;
    const room = KEEP - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    const rest = room > 0 ? text.slice(room) : text;
    if (rest === '') return;
    this.#tail.push(rest.slice(-KEEP));
    this.#tailLength += Math.min(rest.length, KEEP);
    while (this.#tailLength - (this.#tail[0] as string).length >= KEEP)
      this.#tailLength -= (this.#tail.shift() as string).length;
    const over = this.#tailLength - KEEP;
    if (over > 0) {
      this.#tail[0] = (this.#tail[0] as string).slice(over);
      this.#tailLength -= over;
    }
  }

  #open(): void {
    this.#guarded(() => {
      mkdirSync(this.directory, { recursive: true });
      for (const old of readdirSync(this.directory).sort().slice(0, -KEPT_FILES))
        rmSync(path.join(this.directory, old), { force: true });
      const file = path.join(this.directory, `${this.name}.log`);
      this.#file = { path: file, descriptor: openSync(file, 'w', 0o600), bytes: 0 };
    });
  }

  #save(text: string): void {
    const file = this.#file;
    if (file === undefined || file.bytes >= MAX_SAVED_BYTES) return;
    this.#unsaved.push(text);
    this.#unsavedLength += text.length;
    if (this.#unsavedLength >= BLOCK) this.#write();
  }

  #write(): void {
    const file = this.#file;
    if (file === undefined || this.#unsavedLength === 0) return;
    const bytes = Buffer.from(this.#unsaved.join('')).subarray(0, MAX_SAVED_BYTES - file.bytes);
    this.#unsaved = [];
    this.#unsavedLength = 0;
    this.#guarded(() => {
      for (let written = 0; written < bytes.length; ) written += writeSync(file.descriptor, bytes, written);
      file.bytes += bytes.length;
    });
  }

  /** A disk that takes no more costs the file, never the command. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#diskFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
      this.#end();
    }
  }
}

function withoutBegunLine(head: string): string {
  const end = head.lastIndexOf('\n') + 1;
  return end > 0 && head.length - end <= MAX_LOST ? head.slice(0, end) : head;
}

function withoutEndOfLine(tail: string): string {
  const begin = tail.indexOf('\n') + 1;
  return begin > 0 && begin <= MAX_LOST ? tail.slice(begin) : tail;
}
