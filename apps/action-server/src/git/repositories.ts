import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { GitRepositories, GitRepository } from '@slipway/contracts/repositories';
import { SlipwayError } from '@slipway/errors';
import { insideWorkspace } from '../files/workspace-path.js';
import { git } from './git.js';
import { type GitWorkspace, openRepository, type Repository } from './repository.js';

/** Bounds of the search: what lies deeper or comes later is left out. */
const MAX_DEPTH = 5;
const MAX_FOLDERS = 2_000;
const MAX_ENTRIES = 20_000;
const MAX_REPOSITORIES = 20;
/** Folders of tools, which are large and hold no work of users. */
const PASSED_OVER = new Set([
  '.git',
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.cache',
  '.npm',
  '.cargo',
  'target',
  'vendor',
  'dist',
  'build',
]);
/** Beginnings that git leaves a file or a folder of in its own. */
const OPERATIONS: ReadonlyArray<readonly [string, NonNullable<GitRepository['operation']>]> = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

/**
 * The repositories at and below a folder of the workspace, nearest first, by a bounded search that follows no links.
 */
export async function searchRepositories(
  workspace: GitWorkspace,
  wanted: string,
  signal: AbortSignal,
): Promise<GitRepositories> {
  const { folders, cut } = await foldersWithGit(await insideWorkspace(workspace.directory, wanted), signal);
  const root = await realpath(workspace.directory);
  const repositories: GitRepository[] = [];
  for (const folder of folders)
    repositories.push(await describe(workspace, path.relative(root, folder) || '.', signal));
  return { repositories, cut };
}

async function foldersWithGit(start: string, signal: AbortSignal): Promise<{ folders: string[]; cut: boolean }> {
  const folders: string[] = [];
  let [read, entries] = [0, 0];
  for (let level = [start], depth = 0; level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      signal.throwIfAborted();
      if (read >= MAX_FOLDERS || entries >= MAX_ENTRIES) return { folders, cut: true };
      const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
      read += 1;
      entries += found.length;
      const names = new Set(found.map(({ name }) => name));
      if (names.has('.git') || (names.has('HEAD') && names.has('objects') && names.has('refs'))) {
        if (folders.length >= MAX_REPOSITORIES) return { folders, cut: true };
        folders.push(folder);
        if (!names.has('.git')) continue;
      }
      for (const entry of found)
        if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) next.push(path.join(folder, entry.name));
    }
    if (depth === MAX_DEPTH) return { folders, cut: next.length > 0 };
    level = next.sort();
  }
  return { folders, cut: false };
}

async function describe(workspace: GitWorkspace, wanted: string, signal: AbortSignal): Promise<GitRepository> {
  const nothing = { branch: null, head: null, upstream: null, ahead: null, behind: null, operation: null };
  const folder = await insideWorkspace(workspace.directory, wanted);
  try {
    const repository = await openRepository(workspace, wanted, signal);
    // Without a `.git` that git can read it finds that of a folder above.
    if (repository.root !== folder)
      throw new SlipwayError('repository.not-found', `git cannot read the repository at ${wanted}.`);
    return { path: wanted, ...(await stateOf(repository)), problem: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SlipwayError)) throw error;
    const bare = error.detail.includes(' is bare:');
    return { path: wanted, kind: bare ? 'bare' : 'broken', ...nothing, problem: error.detail };
  }
}

async function stateOf(repository: Repository): Promise<Omit<GitRepository, 'path' | 'problem'>> {
  const { root: cwd, signal, env, gitDirectory } = repository;
  const line = async (...args: string[]): Promise<string | null> => {
    const { exitCode, stdout } = await git(args, { cwd, signal, env });
    return exitCode === 0 ? stdout.toString().replace(/\n$/, '') : null;
  };
  const [own, ref, head] = await Promise.all([
    line('rev-parse', '--absolute-git-dir'),
    line('symbolic-ref', '--quiet', 'HEAD'),
    line('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
  ]);
  const operation = own === null ? null : await operationOf(own);
  const rebased = operation === 'rebase' ? await rebasedBranch(own as string) : null;
  const tracked =
    ref === null || head === null
      ? null
      : await line('for-each-ref', '--format=%(upstream:short)%00%(upstream:track,nobracket)', '--', ref);
  const [upstream = '', track = ''] = tracked?.split('\0') ?? [];
  const beside = (word: string): number => Number(new RegExp(`${word} (\\d+)`).exec(track)?.[1] ?? 0);
  const counted = upstream !== '' && track !== 'gone';
  return {
    kind:
      own === null || own === gitDirectory
        ? /\/modules\//.test(gitDirectory)
          ? 'submodule'
          : 'repository'
        : 'worktree',
    branch: (ref ?? rebased)?.replace(/^refs\/heads\//, '') ?? null,
    head,
    upstream: upstream === '' ? null : upstream,
    ahead: counted ? beside('ahead') : null,
    behind: counted ? beside('behind') : null,
    operation,
  };
}

async function operationOf(gitFolder: string): Promise<GitRepository['operation']> {
  for (const [name, operation] of OPERATIONS)
    if ((await stat(path.join(gitFolder, name)).catch(() => undefined)) !== undefined) return operation;
  return null;
}

async function rebasedBranch(gitFolder: string): Promise<string | null> {
  for (const folder of ['rebase-merge', 'rebase-apply']) {
    const name = await readFile(path.join(gitFolder, folder, 'head-name'), 'utf8').catch(() => null);
    if (name?.startsWith('refs/heads/')) return name.trim();
  }
  return null;
}
