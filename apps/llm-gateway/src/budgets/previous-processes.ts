import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Instance ids of this process, in the folder of this replica alone: what a previous one held is released as soon as
 * its ledger is stored, and need not lapse. A disk that fails costs no more than that.
 */
export class PreviousProcesses {
  private readonly file: string;

  constructor(private readonly directory: string) {
    this.file = path.join(directory, 'lives');
  }

  /** Those that ended without saying so. */
  async read(): Promise<string[]> {
    const text = await readFile(this.file, 'utf8').catch(() => '');
    return text.split('\n').filter((line) => /^[0-9a-f-]{36}$/.test(line));
  }

  async add(life: string): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await appendFile(this.file, `${life}\n`, { mode: 0o600 });
  }

  /** Those have nothing any more. */
  async forget(lives: readonly string[]): Promise<void> {
    const left = (await this.read()).filter((life) => !lives.includes(life));
    await writeFile(this.file, left.map((life) => `${life}\n`).join(''), { mode: 0o600 });
  }
}
