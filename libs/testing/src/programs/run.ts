import { type ExecFileException, execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';

export interface Run {
  /** -1 when it ended by a signal, or could not be started. */
  readonly code: number;
  /** Standard output and error. */
  readonly output: string;
}

export interface RunOptions {
  /** Milliseconds; then it is killed. */
  readonly timeoutMs: number;
  readonly cwd?: string;
  /** Its whole environment [ours]. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Runs a program to its end, whatever that is, without anything to read. Never rejects. */
export function run(program: string, args: readonly string[], { timeoutMs, cwd, env }: RunOptions): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      {
        timeout: timeoutMs,
        maxBuffer: 2 ** 28,
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env: { ...env } }),
      },
      (error: ExecFileException | null, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
          output: `${stdout}${stderr}${error?.killed === true ? `\nended after ${timeoutMs} ms` : ''}${error?.code === 'ENOENT' ? `\nthere is no ${program}` : ''}`,
        }),
    );
    // Some wait for its end.
    child.stdin?.end();
  });
}

/** Where programs of others are kept from run to run, by name and version. Outside the checkout. */
export function programFolder(...parts: readonly string[]): string {
  return path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'slipway', ...parts);
}
