import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { GitChange } from '@slipway/contracts/agent';
import { contentHash } from './content-hash.js';
import { gitOutput } from './git.js';
import type { Repository } from './repository.js';

/**
 * Calls of the system one after another, for at most so long: thousands of short ones take most of their time on the
 * way through the thread pool. Milliseconds.
 */
const SLICE_MS = 4;
/** Read at a time. Bytes. */
const PIECE = 64 * 1024;
/** Git searches so far for a NUL, which text has none of. Bytes. */
const LOOKED_AT = 8_000;
const [NEW_LINE, NUL] = [0x0a, 0x00];

/** Does the work of each, and lets others have a turn in between. */
export async function inSlices<T>(items: readonly T[], signal: AbortSignal, work: (item: T) => void): Promise<void> {
  let until = performance.now() + SLICE_MS;
  for (const item of items) {
    work(item);
    if (performance.now() < until) continue;
    signal.throwIfAborted();
    await turn();
    until = performance.now() + SLICE_MS;
  }
}

/** Of a file by the bytes of its path; `undefined` when there is none. */
export function statOf(path: Buffer): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/**
 * Files that git does not know, as the changes that they are beside a commit which has nothing at their paths: their
 * lines are counted here, as git counts them, without a copy of each in an object store. Those that the repository's
 * attributes have git see in another way are in `others`: they must be asked of git.
 * @param names bytes of paths from the top folder, one a character.
 */
export async function countedHere(
  repository: Repository,
  names: readonly string[],
): Promise<{ changes: GitChange[]; others: string[] }> {
  const { root, signal } = repository;
  const drivers = await driversOf(repository, names);
  const changes: GitChange[] = [];
  const others: string[] = [];
  const folder = Buffer.from(`${root}/`);
  await inSlices(names, signal, (name) => {
    if (drivers.has(name)) return void others.push(name);
    const bytes = Buffer.from(name, 'latin1');
    const counted = linesOf(Buffer.concat([folder, bytes]));
    // One that is gone again, or may not be read, is git's to judge.
    if (counted === null) others.push(name);
    else
      changes.push({
        status: 'ADDED',
        path: bytes.toString(),
        additions: counted.lines,
        deletions: 0,
        binary: counted.binary,
        hash: counted.hash,
      });
  });
  return { changes, others };
}

/** Those for which an attribute says how they are compared or stored. */
async function driversOf({ root, signal, env }: Repository, names: readonly string[]): Promise<ReadonlySet<string>> {
  const input = Buffer.from(`${names.join('\0')}\0`, 'latin1');
  const fields = (
    await gitOutput(['check-attr', '-z', '--stdin', 'diff', 'filter', 'working-tree-encoding'], {
      cwd: root,
      signal,
      env,
      input,
    })
  )
    .toString('latin1')
    .split('\0');
  const found = new Set<string>();
  for (let at = 0; at + 2 < fields.length; at += 3)
    if (fields[at + 2] !== 'unspecified') found.add(fields[at] as string);
  return found;
}

interface Counted {
  readonly lines: number;
  readonly binary: boolean;
  readonly hash: string;
}

/** A last line without an end is one, too. A link is the one line of where it leads. */
function linesOf(path: Buffer): Counted | null {
  try {
    const found = statOf(path);
    if (found?.isSymbolicLink()) return counted(readlinkSync(path, { encoding: 'buffer' }));
    if (!found?.isFile()) return null;
    return readLines(path, found);
  } catch {
    return null;
  }
}

/** What has no text is not read to its end: its size and time stand for its content. */
function readLines(path: Buffer, { size, mtimeMs, mode }: Stats): Counted {
  const blob = createHash('sha1').update(`blob ${size}\0`);
  const gitMode = (mode & 0o100) === 0 ? '100644' : '100755';
  const file = openSync(path, 'r');
  try {
    const piece = Buffer.allocUnsafe(Math.max(1, Math.min(PIECE, size)));
    let [lines, last, at] = [0, NEW_LINE, 0];
    for (;;) {
      const length = readSync(file, piece, 0, piece.length, at);
      if (length === 0)
        return {
          lines: last === NEW_LINE ? lines : lines + 1,
          binary: false,
          hash: contentHash(gitMode, blob.digest('hex')),
        };
      const part = piece.subarray(0, length);
      if (at < LOOKED_AT && part.subarray(0, LOOKED_AT - at).includes(NUL))
        return { lines: 0, binary: true, hash: `${size} ${mtimeMs}` };
      blob.update(part);
      lines += endsIn(part);
      last = part[length - 1] as number;
      at += length;
    }
  } finally {
    closeSync(file);
  }
}

function counted(content: Buffer): Counted {
  const blob = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
  const hash = contentHash('120000', blob);
  if (content.subarray(0, LOOKED_AT).includes(NUL)) return { lines: 0, binary: true, hash };
  const open = content.length > 0 && content.at(-1) !== NEW_LINE ? 1 : 0;
  return { lines: endsIn(content) + open, binary: false, hash };
}

function endsIn(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(NEW_LINE); at !== -1; at = content.indexOf(NEW_LINE, at + 1)) lines += 1;
  return lines;
}
