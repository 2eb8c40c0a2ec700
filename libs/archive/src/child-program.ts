import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { SlipwayError } from '@slipway/errors';

/** Most of what a program says on its standard error that is kept. UTF-16 code units. */
const KEPT = 4_096;

export interface ChildProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it ended, with the last of what it said. Never rejects; `null` is a program that was killed. */
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>;
  kill(): void;
}

/**
 * Starts one of the system's programs in `folder`. Sentences of the program are in English. @throws SlipwayError
 * `sandbox.archive-broken` when it cannot be started.
 */
export async function startProgram(program: string, argv: readonly string[], folder: string): Promise<ChildProgram> {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(program, argv, {
    cwd: folder,
    env: { PATH: PATH_OF_SYSTEM, LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-KEPT);
  });
  // A program that ends before it has read everything says why by its code.
  child.stdin.on('error', () => {});
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, said: said.trim() })),
  );
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(
        new SlipwayError('sandbox.archive-broken', `${program} cannot be started in the sandbox.`, { cause: error }),
      ),
    );
  });
  child.on('error', () => {});
  return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => void child.kill('SIGKILL') };
}

/** Nothing from the workspace is ever run here. */
const PATH_OF_SYSTEM = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/** The last line that it said, for a sentence; the reason mostly stands in the one before tar's summary. */
export function reasonOf(said: string, program: string): string {
  const lines = said
    .split('\n')
    .filter(
      (line) =>
        line !== '' && !line.includes('Exiting with failure status') && !line.includes('Error is not recoverable'),
    );
  return (lines[0] ?? `${program} ended without a word`).slice(0, 300);
}
