import { exitCodeOf, gitOutput, startGit } from './git.js';
import type { Repository } from './repository.js';

/** Git searches so far for a NUL, which text has none of. Bytes. */
const LOOKED_AT = 8_000;
/** Added files whose beginning is read, the largest first. */
const MOST_READ = 20;

export interface LeastPatchOptions {
  readonly env: Readonly<Record<string, string>>;
  /** What git compares: one or two trees. */
  readonly sides: readonly string[];
  /** Paths; empty for all. */
  readonly only: readonly string[];
  /** Counting stops there. Bytes. */
  readonly enough: number;
}

/**
 * Bytes that a patch has at least, found without making it: those of added text files, whose every byte is in it. 0
 * when these do not reach `enough`. A patch of many small edits may be larger than that.
 */
export async function leastPatchBytes(
  { root: cwd, signal }: Repository,
  { env, sides, only, enough }: LeastPatchOptions,
): Promise<number> {
  const raw = await gitOutput(
    ['diff', '--raw', '-z', '--no-abbrev', '-M', '--diff-filter=A', '--ignore-submodules=all', ...sides, '--', ...only],
    {
      cwd,
      signal,
      env,
    },
  );
  const blobs = raw
    .toString('latin1')
    .split('\0')
    .filter((field) => field.startsWith(':'))
    .map((field) => field.split(' ')[3] ?? '');
  if (blobs.length === 0) return 0;
  const checked = await gitOutput(['cat-file', '--batch-check=%(objectsize) %(objectname)'], {
    cwd,
    signal,
    env,
    input: Buffer.from(`${blobs.join('\n')}\n`),
  });
  const sizes = checked
    .toString('latin1')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([size, name]) => ({ size: Number(size) || 0, name: name ?? '' }))
    .sort((a, b) => b.size - a.size);
  if (sizes.reduce((sum, { size }) => sum + size, 0) < enough) return 0;
  let bytes = 0;
  for (const { size, name } of sizes.slice(0, MOST_READ)) {
    if (!(await isText(name, { cwd, signal, env }))) continue;
    bytes += size;
    if (bytes >= enough) return bytes;
  }
  return 0;
}

async function isText(
  blob: string,
  options: { cwd: string; signal: AbortSignal; env: Readonly<Record<string, string>> },
): Promise<boolean> {
  const child = startGit(['cat-file', 'blob', blob], options);
  child.stdin.end();
  child.stderr.resume();
  exitCodeOf(child, options.signal).catch(() => {});
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of child.stdout) {
      pieces.push(piece as Buffer);
      length += (piece as Buffer).length;
      if (length >= LOOKED_AT) break;
    }
  } finally {
    child.kill('SIGKILL');
  }
  return !Buffer.concat(pieces).subarray(0, LOOKED_AT).includes(0);
}
