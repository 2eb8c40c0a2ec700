import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { beginningOf } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';

/** Longest time of one search; what was found until then counts. Milliseconds. */
const TIMEOUT_MS = 30_000;
/** A line or path that is longer is no line of text. Bytes. */
const MAX_LINE = 64 * 1024;

/** Hidden files are searched, except git's own; what `.gitignore` names is not, in a repository or not. */
const RULES = ['--no-config', '--no-messages', '--hidden', '--glob=!.git', '--no-require-git', '--color=never'];

let last: { searchPath: string; program: string | null } | undefined;

/**
 * ripgrep on this PATH, else the one that a checkout of the project has for machines without; `null` when there is
 * none. Resolved once for each PATH.
 */
export function ripgrepIn(searchPath: string): string | null {
  if (last?.searchPath !== searchPath)
    last = {
      searchPath,
      program:
        searchPath
          .split(':')
          .map((directory) => path.join(directory, 'rg'))
          .find(isProgram) ?? ofCheckout(),
    };
  return last.program;
}

function ofCheckout(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
  } catch {
    return null;
  }
}

function isProgram(candidate: string): boolean {
  try {
    accessSync(candidate, constants.X_OK);
    return path.isAbsolute(candidate);
  } catch {
    return false;
  }
}

export interface RipgrepOptions {
  readonly program: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** What ends a line: a line feed, or NUL for names, which may hold line feeds. */
  readonly end: '\n' | '\0';
  /** Given each line without its end; false ends the search. */
  readonly line: (line: string) => boolean;
}

/**
 * `ended`: of itself, when `line` had enough, or when the time was over. `failure`: what ripgrep says is wrong with
 * what it was asked.
 */
export interface RipgrepEnd {
  readonly ended: 'all' | 'enough' | 'timeout';
  readonly failure: string | null;
}

/**
 * Runs ripgrep by this project's rules. Killed at the abort, which rejects with the signal's reason. @throws
 * SlipwayError `sandbox.tool-unavailable`.
 */
export async function ripgrep(
  args: readonly string[],
  { program, cwd, signal, end, line }: RipgrepOptions,
): Promise<RipgrepEnd> {
  signal.throwIfAborted();
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(program, [...RULES, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { LC_ALL: 'C.UTF-8' },
  });
  let ended: RipgrepEnd['ended'] = 'all';
  const stop = (why: RipgrepEnd['ended']): void => {
    ended = why;
    child.kill('SIGKILL');
  };
  const onAbort = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop('timeout'), TIMEOUT_MS);
  try {
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = beginningOf(stderr + chunk.toString(), 4_096);
    });
    const closed = new Promise<number | null>((resolve, reject) => {
      child.once('error', (error) =>
        reject(
          new SlipwayError('sandbox.tool-unavailable', 'The search could not be started in the sandbox.', {
            cause: error,
          }),
        ),
      );
      child.once('close', resolve);
    });
    const [code] = await Promise.all([
      closed,
      eachLine(child.stdout, end.charCodeAt(0), (text) => {
        if (ended === 'all' && !line(text)) stop('enough');
      }),
    ]);
    signal.throwIfAborted();
    return { ended, failure: code === 2 && stderr.trim() !== '' ? stderr.trim() : null };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Lines that are too long are cut. Bytes that are not UTF-8 become U+FFFD. */
async function eachLine(stream: Readable, separator: number, take: (line: string) => void): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(separator); end >= 0; end = bytes.indexOf(separator, start)) {
      take(bytes.subarray(start, Math.min(end, start + MAX_LINE)).toString());
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_LINE) rest = rest.subarray(0, MAX_LINE);
  }
  if (rest.length > 0) take(rest.toString());
}
