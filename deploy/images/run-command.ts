import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds until the command is ended and counts as failed. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Runs one program to its end. @returns what it printed.
 * @throws Error with the end of its output when it fails, is missing, takes longer than `timeout` or is aborted: then
 * it was sent SIGTERM.
 */
export async function runCommand(program: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeout)]);
  const child = spawn(program, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, LC_ALL: 'C', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let stdout = '';
  let tail = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    tail = (tail + text).slice(-4_000);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-4_000);
  });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new Error(`${program} is not on the PATH of this machine.`, { cause: error })
          : new Error(
              `${program} was stopped: ${signal.reason instanceof Error ? signal.reason.message : error.message}`,
              { cause: error },
            ),
      ),
    );
    child.once('close', (status, ending) => resolve(status ?? ending ?? 'nothing'));
  });
  if (code !== 0) throw new Error(`${program} ${args.slice(0, 3).join(' ')} ended with ${code}:\n${tail.trim()}`);
  return stdout;
}
