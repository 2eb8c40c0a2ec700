import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MAX_IMAGES_LENGTH } from '@slipway/contracts/actions';
import { type ObservationContent } from '@slipway/contracts/events';
import { OutputRecorder } from '../terminal/output-recorder.js';

const PICTURES: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
/** Most files of pictures that one cell writes, and that are there of all cells. */
const MAX_FILES = 50;

/**
 * What a cell gives out, bounded: its text as a terminal's, its pictures as data URLs as long as there is room, after
 * that as files.
 */
export class CellOutput {
  #recorder: OutputRecorder;
  #pictures: string[] = [];
  #length = 0;
  #files = 0;
  #endsLine = true;

  constructor(
    private readonly directory: string,
    private readonly name: string,
  ) {
    this.#recorder = new OutputRecorder(directory, name);
  }

  text(text: string): void {
    if (text === '') return;
    this.#recorder.push(Buffer.from(text));
    this.#endsLine = text.endsWith('\n');
  }

  /** The richest of what a display offers: a picture, else its text. */
  display(data: Readonly<Record<string, unknown>>): void {
    const kind = Object.keys(PICTURES).find((type) => typeof data[type] === 'string');
    if (kind !== undefined) {
      this.#picture(kind, (data[kind] as string).replaceAll(/\s+/g, ''));
      return;
    }
    const text = ['text/plain', 'text/markdown', 'text/latex', 'text/html', 'application/json']
      .map((type) => data[type])
      .find((value) => value !== undefined);
    if (text !== undefined) this.#line(typeof text === 'string' ? text : JSON.stringify(text));
  }

  take(): { text: string; pictures: ObservationContent[]; file: string | null } {
    const { text, file } = this.#recorder.take();
    this.#recorder.close();
    return {
      text: text.replace(/\n+$/, ''),
      file,
      pictures: this.#pictures.length === 0 ? [] : [{ type: 'image', image_urls: this.#pictures }],
    };
  }

  #picture(type: string, base64: string): void {
    const url = `data:${type};base64,${base64}`;
    if (this.#length + url.length <= MAX_IMAGES_LENGTH) {
      this.#length += url.length;
      this.#pictures.push(url);
      this.#line(`[picture ${this.#pictures.length}]`);
      return;
    }
    const file = this.#files < MAX_FILES ? this.#save(type, base64) : null;
    this.#line(
      file === null
        ? '[a picture that is too large to be shown]'
        : `[a picture that is too large to be shown: it is in ${file}]`,
    );
  }

  /** A disk that takes no more costs the file, never the cell. */
  #save(type: string, base64: string): string | null {
    try {
      mkdirSync(this.directory, { recursive: true });
      for (const old of readdirSync(this.directory).sort().slice(0, -MAX_FILES))
        rmSync(path.join(this.directory, old), { force: true });
      this.#files += 1;
      const file = path.join(this.directory, `${this.name}-${this.#files}.${PICTURES[type]}`);
      writeFileSync(file, Buffer.from(base64, 'base64'));
      return file;
    } catch {
      return null;
    }
  }

  #line(text: string): void {
    this.text(`${this.#endsLine ? '' : '\n'}${text}\n`);
  }
}
