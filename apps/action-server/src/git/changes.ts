import type { GitChange } from '@slipway/contracts';
import { gitOutput } from './git.js';
import { type GitWorkspace, openRepository, resolveBase } from './repository.js';
import { indexOfWorktree } from './worktree-index.js';

const STATUSES: Readonly<Record<string, GitChange['status']>> = { A: 'ADDED', D: 'DELETED', R: 'MOVED', C: 'ADDED' };

/** Files that differ from `base` in any way (committed since, staged, unstaged, untracked), with the number of lines. */
export async function listChanges(workspace: GitWorkspace, path: string, base: string | undefined, signal: AbortSignal): Promise<GitChange[]> {
  const repository = await openRepository(workspace, path, signal);
  const commit = await resolveBase(repository, base);
  const index = await indexOfWorktree(repository);
  try {
    const options = { cwd: repository.root, signal, env: index.env };
    return parseChanges(
      await gitOutput(
        ['diff', '--cached', '--raw', '--numstat', '-z', '-M', '--no-ext-diff', '--no-textconv', '--ignore-submodules=all', commit, '--'],
        options,
      ),
    );
  } finally {
    await index.dispose();
  }
}

/** `:modes hashes STATUS\0path\0[new path\0]` for each file, then `added\tdeleted\tpath\0` or `added\tdeleted\t\0old\0new\0`. */
export function parseChanges(output: Buffer): GitChange[] {
  const fields = output.toString().split('\0');
  const changes = new Map<string, GitChange>();
  for (let at = 0; at < fields.length - 1; ) {
    const field = fields[at] as string;
    if (field.startsWith(':')) {
      const letter = field.split(' ').at(-1)?.[0] ?? 'M';
      const pair = letter === 'R' || letter === 'C';
      const path = fields[at + (pair ? 2 : 1)] as string;
      changes.set(path, { status: STATUSES[letter] ?? 'UPDATED', path });
      at += pair ? 3 : 2;
      continue;
    }
    const [added = '-', deleted = '-', name = ''] = field.split('\t', 3).length === 3 ? splitNumbers(field) : [];
    const path = name === '' ? (fields[at + 2] as string) : name;
    const change = changes.get(path);
    if (change !== undefined) Object.assign(change, { additions: Number(added) || 0, deletions: Number(deleted) || 0, binary: added === '-' });
    at += name === '' ? 3 : 1;
  }
  return [...changes.values()];
}

/** A name may itself hold tabs. */
function splitNumbers(field: string): [string, string, string] {
  const first = field.indexOf('\t');
  const second = field.indexOf('\t', first + 1);
  return [field.slice(0, first), field.slice(first + 1, second), field.slice(second + 1)];
}
