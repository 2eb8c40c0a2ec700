import type { GitChange } from '@slipway/contracts/agent';
import { type Against, against, type GitReading } from './against.js';
import { contentHash } from './content-hash.js';
import { type GitOptions, git, gitFailure, gitOutput } from './git.js';
import { countedHere } from './own-count.js';
import { openRepository, parentOf, type Repository } from './repository.js';
import { indexOfWorktree, stampOf, type WorktreeIndex } from './worktree-index.js';

const STATUSES: Readonly<Record<string, GitChange['status']>> = { A: 'ADDED', D: 'DELETED', R: 'MOVED', C: 'ADDED' };
/** From so many files on that git does not know, they are counted without it. */
const MANY = 200;
const DIFF = ['-z', '--no-abbrev', '--no-ext-diff', '--no-textconv', '--ignore-submodules=all'];

/**
 * Files that differ in any way (committed since, staged, unstaged, untracked), with the number of lines; of a commit,
 * what it did. A file that is too large to be read is reported as binary, whatever it holds.
 */
export async function listChanges(
  reading: GitReading,
  path: string,
  wanted: Against,
  signal: AbortSignal,
): Promise<GitChange[]> {
  const repository = await openRepository(reading.workspace, path, signal);
  const before = await against(reading, repository, wanted);
  if (before.commit !== null)
    return changesBetween(repository, await parentOf(repository, before.commit), before.commit);
  const index = await indexOfWorktree(repository, {
    alternates: before.alternates,
    knownLarge: before.large,
    apartFrom: MANY,
  });
  try {
    return await withLarge(repository.root, await sinceThen(repository, before.tree, index), index, before.large);
  } finally {
    await index.dispose();
  }
}

/**
 * What git sees, and the many that it does not know. What is gone from git's view may be what one of those was before,
 * under this name or another: then git is shown all of them.
 */
async function sinceThen(repository: Repository, tree: string, index: WorktreeIndex): Promise<GitChange[]> {
  const options = { cwd: repository.root, signal: repository.signal, env: index.env };
  const seen = await changed(['--cached', tree], options);
  if (index.apart.length === 0) return seen;
  const mayBeOne = seen.some(({ status }) => status === 'DELETED');
  const { changes, others } = mayBeOne
    ? { changes: [], others: index.apart }
    : await countedHere(repository, index.apart);
  await index.take(others);
  return inOrder([...(others.length === 0 ? seen : await changed(['--cached', tree], options)), ...changes]);
}

function inOrder(changes: GitChange[]): GitChange[] {
  return changes.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** What makes a commit or tree of another. */
export async function changesBetween(
  { root: cwd, signal, env }: Repository,
  from: string,
  to: string,
): Promise<GitChange[]> {
  return changed([from, to], { cwd, signal, env });
}

/** What is not here of a partial clone is not fetched: without it there are names, and neither lines nor renames. */
async function changed(sides: readonly string[], options: GitOptions): Promise<GitChange[]> {
  const args = ['diff', '--raw', '--numstat', '-M', ...DIFF, ...sides, '--'];
  const { exitCode, stdout, stderr } = await git(args, options);
  if (exitCode === 0) return parseChanges(stdout);
  if (!/promisor|unable to read|missing/i.test(stderr)) throw gitFailure(args, stderr);
  return parseChanges(await gitOutput(['diff', '--raw', '--no-renames', ...DIFF, ...sides, '--'], options));
}

/** @param before stamps of those that were large already, when that is known. */
async function withLarge(
  root: string,
  changes: GitChange[],
  { large }: WorktreeIndex,
  before: ReadonlyMap<string, string>,
): Promise<GitChange[]> {
  const touched = large.filter(({ path, stamp }) => before.get(path) !== stamp);
  const paths = new Set(touched.map(({ path }) => path));
  // Of these git knows by now, since they have been staged or committed, and what they are compared with does not.
  for (const { path } of changes)
    if (before.has(path) && before.get(path) === (await stampOf(root, path))) paths.add(path);
  return [
    ...changes.filter(({ path }) => !paths.has(path)),
    ...touched.map(
      ({ path, tracked, stamp }): GitChange => ({
        status: tracked || before.has(path) ? 'UPDATED' : 'ADDED',
        path,
        additions: 0,
        deletions: 0,
        binary: true,
        hash: stamp,
      }),
    ),
  ];
}

/**
 * `:modes hashes STATUS\0path\0[new path\0]` for each file, then `added\tdeleted\tpath\0` or
 * `added\tdeleted\t\0old\0new\0`.
 */
export function parseChanges(output: Buffer): GitChange[] {
  const fields = output.toString().split('\0');
  const changes = new Map<string, GitChange>();
  for (let at = 0; at < fields.length - 1; ) {
    const field = fields[at] as string;
    if (field.startsWith(':')) {
      const letter = field.split(' ').at(-1)?.[0] ?? 'M';
      const pair = letter === 'R' || letter === 'C';
      const path = fields[at + (pair ? 2 : 1)] as string;
      changes.set(path, { status: STATUSES[letter] ?? 'UPDATED', path, ...hashOf(field) });
      at += pair ? 3 : 2;
      continue;
    }
    const [added = '-', deleted = '-', name = ''] = field.split('\t', 3).length === 3 ? splitNumbers(field) : [];
    const path = name === '' ? (fields[at + 2] as string) : name;
    const change = changes.get(path);
    if (change !== undefined)
      Object.assign(change, { additions: Number(added) || 0, deletions: Number(deleted) || 0, binary: added === '-' });
    at += name === '' ? 3 : 1;
  }
  return [...changes.values()];
}

/** Of the new side: its blob, and its mode, since a file that became a program differs too. */
function hashOf(field: string): { hash?: string } {
  const [, mode, , blob] = field.split(' ');
  return mode === undefined || blob === undefined ? {} : { hash: contentHash(mode, blob) };
}

/** A name may itself hold tabs. */
function splitNumbers(field: string): [string, string, string] {
  const first = field.indexOf('\t');
  const second = field.indexOf('\t', first + 1);
  return [field.slice(0, first), field.slice(first + 1, second), field.slice(second + 1)];
}
