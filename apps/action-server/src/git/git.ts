import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { SlipwayError } from '@slipway/errors';

/**
 * Longest time of one git command, while a user waits for the answer; 100,000 files take about one second.
 * Milliseconds.
 */
const TIMEOUT_MS = 20_000;
/**
 * Longest time of one that reads the content of every file whatever its size, or is read as slowly as its reader likes.
 * Milliseconds.
 */
export const CONTENT_TIMEOUT_MS = 120_000;
/** Most output of a command that is read whole. Bytes. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * The repository's own configuration must not change the format of the output, nor start programs, nor have anything
 * written beside the index that we name.
 */
const SETTINGS = [
  'core.quotePath=false',
  'core.fsmonitor=false',
  // An index that is written has a hook, even one of ours.
  'core.hooksPath=/dev/null',
  'core.splitIndex=false',
  'core.alternateRefsCommand=',
  'log.showSignature=false',
  'log.showRoot=true',
  'maintenance.auto=false',
  'gc.auto=0',
  'core.safecrlf=false',
  'core.untrackedCache=false',
  'color.ui=false',
  'diff.renames=true',
  'diff.noprefix=false',
  'diff.mnemonicPrefix=false',
  'diff.relative=false',
  'diff.context=3',
  'diff.interHunkContext=0',
  'diff.suppressBlankEmpty=false',
  'diff.orderFile=/dev/null',
  'diff.ignoreSubmodules=all',
  'diff.wsErrorHighlight=none',
  'safe.directory=*',
].flatMap((setting) => ['-c', setting]);

export interface GitOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Buffer;
  /** Longest time. Milliseconds; TIMEOUT_MS when absent. */
  readonly timeoutMs?: number;
}

/**
 * Starts git so that it never asks, pages or waits for a lock. @throws SlipwayError `request.invalid` for what no
 * program can be given.
 */
export function startGit(
  args: readonly string[],
  { cwd, signal, env, timeoutMs = TIMEOUT_MS }: GitOptions,
): ChildProcessByStdio<Writable, Readable, Readable> {
  if (args.some((each) => each.includes('\0')))
    throw new SlipwayError('request.invalid', 'The name of a commit or of a file holds a NUL character.');
  const child = spawn('git', [...SETTINGS, ...args], {
    cwd,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    killSignal: 'SIGKILL',
    // Reads make no network request: missing objects of a partial clone would be fetched, by whatever program its
    // configuration names.
    env: { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none', LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  return child;
}

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs git to its end, whatever that is. @throws SlipwayError when it cannot be started, takes too long, or prints too
 * much.
 */
export async function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const child = startGit(args, options);
  child.stdin.end(options.input);
  const [stdout, stderr, exitCode] = await Promise.all([
    collected(child.stdout, () => child.kill('SIGKILL')),
    collected(child.stderr, () => child.kill('SIGKILL')),
    exitCodeOf(child, options.signal),
  ]);
  return { exitCode, stdout, stderr: stderr.toString() };
}

/** Its output when it succeeds. @throws SlipwayError `request.invalid` with git's own last line. */
export async function gitOutput(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const { exitCode, stdout, stderr } = await git(args, options);
  if (exitCode !== 0) throw gitFailure(args, stderr);
  return stdout;
}

export function gitFailure(args: readonly string[], stderr: string): SlipwayError {
  const disk = /no space left on device|disk quota exceeded/i.test(stderr);
  const last = stderr.trim().split('\n').at(-1) ?? '';
  return new SlipwayError(
    disk ? 'sandbox.disk-full' : 'request.invalid',
    disk ? 'git could not write: the disk of the sandbox is full.' : `git ${args[0]} failed: ${last}`,
    { internal: stderr },
  );
}

export function exitCodeOf(
  child: {
    once(event: 'error', listener: (error: Error) => void): unknown;
    once(event: 'close', listener: (code: number | null) => void): unknown;
  },
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      if (signal.aborted) reject(signal.reason);
      else if (error.name === 'AbortError')
        reject(
          new SlipwayError(
            'request.invalid',
            'git did not end in time: the repository is too large to be compared, or holds a pipe where git expects a file.',
            { cause: error },
          ),
        );
      else
        reject(new SlipwayError('sandbox.tool-unavailable', 'git cannot be started in the sandbox.', { cause: error }));
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
}

async function collected(stream: Readable, stop: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_OUTPUT) {
      stop();
      throw new SlipwayError('request.invalid', 'The repository has too many changes to list.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
