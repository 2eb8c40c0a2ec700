import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Nothing of this machine's git settings, and no question for a password. */
const ENVIRONMENT = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
};
const AUTHOR = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test'];

/** A clone in a temporary folder. */
export class WorkCopy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @throws Error with git's words. */
  static async clone(url: string): Promise<WorkCopy> {
    const copy = new WorkCopy(await mkdtemp(path.join(os.tmpdir(), 'slipway-copy-')));
    try {
      await copy.git('clone', '--quiet', url, '.');
      return copy;
    } catch (error) {
      await copy.remove();
      throw error;
    }
  }

  /** @returns what it printed. @throws Error with git's words. */
  async git(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('git', ['-C', this.folder, ...AUTHOR, ...args], { env: ENVIRONMENT, timeout: 60_000 });
    return stdout.trim();
  }

  /** On a branch of its own when one is named. @returns the commit's hash. */
  async commit(files: Readonly<Record<string, string>>, message: string, branch?: string): Promise<string> {
    if (branch !== undefined) await this.git('switch', '--quiet', '--create', branch);
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(this.folder, file), text);
    await this.git('add', '--all');
    await this.git('commit', '--quiet', '--message', message);
    return this.git('rev-parse', 'HEAD');
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
