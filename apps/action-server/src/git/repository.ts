import { stat } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { insideWorkspace } from '../files/workspace-path.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { endlessSettings, refuseEndlessFiles } from './endless-files.js';
import { type GitOptions, git, gitOutput } from './git.js';

/**
 * Longest time in which git says what and where a repository is. It reads a few small files, unless one of them is a
 * pipe. Milliseconds.
 */
const OPEN_TIMEOUT_MS = 5_000;

/** Where repositories are searched, and how git is started. */
export interface GitWorkspace {
  readonly directory: string;
  readonly environment: ShellEnvironment;
}

export interface Repository {
  /** Real path of its top folder. */
  readonly root: string;
  /**
   * Real path of the `.git` folder with its objects and branches: of a worktree that of the repository it belongs to.
   */
  readonly gitDirectory: string;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The repository that holds this path of the workspace. @throws SlipwayError `repository.not-found`, and those of
 * `insideWorkspace`.
 */
export async function openRepository(
  { directory, environment }: GitWorkspace,
  wanted: string,
  signal: AbortSignal,
): Promise<Repository> {
  const env = environment.variables();
  let folder = await insideWorkspace(directory, wanted);
  // A deleted file may have taken its folders along.
  while (!(await stat(folder).catch(() => undefined))?.isDirectory()) folder = path.dirname(folder);
  const options = { cwd: folder, signal, env, timeoutMs: OPEN_TIMEOUT_MS };
  const { exitCode, stdout, stderr } = await git(
    ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'],
    options,
  );
  const [root, gitDirectory] = stdout.toString().split('\n');
  if (exitCode !== 0 || !root || !gitDirectory)
    throw new SlipwayError('repository.not-found', notOpened(wanted, stderr));
  await refuseEndlessFiles(root, gitDirectory);
  return { root: await insideWorkspace(directory, root), gitDirectory, signal, env: await harmless(options, root) };
}

/** In words for a user; git's own, where it found something that it cannot read. */
function notOpened(wanted: string, stderr: string): string {
  if (stderr.includes('must be run in a work tree'))
    return `The repository at ${wanted} is bare: it has history and no files.`;
  if (stderr === '' || stderr.includes('not a git repository (or any'))
    return `There is no git repository at ${wanted}.`;
  return `git cannot read the repository at ${wanted}: ${stderr
    .trim()
    .split('\n')[0]
    ?.replace(/^fatal: /, '')}`;
}

/**
 * The environment in which git starts nothing that the configuration defines by a name of its choice. Files are taken
 * as they are: one that a filter would have changed on its way in (Git LFS) counts as changed only when it was touched.
 * Hooks that stand in the configuration (git 2.54) are switched off one by one, since `core.hooksPath` is not about
 * them and a switch for all of an event came later. Files of attributes and of names to ignore that never end are none.
 */
async function harmless(options: GitOptions, root: string): Promise<Record<string, string>> {
  const { stdout } = await git(
    [
      'config',
      '--null',
      '--get-regexp',
      '^(filter\\..*\\.(clean|smudge|process|required)|hook\\..*\\.[a-z]+|core\\.(attributes|excludes)file)$',
    ],
    options,
  );
  const settings = stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => /^([^\n]*)\n?(.*)$/s.exec(entry)?.slice(1) as [string, string]);
  const programs = settings.flatMap(([name]) => (name.startsWith('core.') ? [] : [name]));
  const endless = await endlessSettings(settings, { root, env: options.env });
  const names = [
    ...new Set([
      ...programs.map((name) => (name.startsWith('hook.') ? `${name.slice(0, name.lastIndexOf('.'))}.enabled` : name)),
      ...endless,
    ]),
  ];
  const before = Number(options.env['GIT_CONFIG_COUNT'] ?? 0);
  const env: Record<string, string> = { ...options.env, GIT_CONFIG_COUNT: String(before + names.length) };
  for (const [index, name] of names.entries()) {
    env[`GIT_CONFIG_KEY_${before + index}`] = name;
    env[`GIT_CONFIG_VALUE_${before + index}`] = endless.includes(name)
      ? '/dev/null'
      : name.endsWith('.required') || name.startsWith('hook.')
        ? 'false'
        : '';
  }
  return env;
}

/**
 * The commit to compare with: `base`; else where the branch left its upstream, or the remote's own branch; else the
 * last commit; else the empty tree of a repository without one. @throws SlipwayError `request.invalid` when there is no
 * such `base`.
 */
export async function resolveBase(repository: Repository, base: string | undefined): Promise<string> {
  if (base !== undefined) {
    const commit = await commitOf(repository, base);
    if (commit === null) throw new SlipwayError('request.invalid', `The repository has no commit ${base}.`);
    return commit;
  }
  const { root: cwd, signal, env } = repository;
  for (const upstream of ['@{upstream}', 'refs/remotes/origin/HEAD']) {
    const { exitCode, stdout } = await git(['merge-base', 'HEAD', upstream], { cwd, signal, env });
    if (exitCode === 0) return stdout.toString().trim();
  }
  return (await commitOf(repository, 'HEAD')) ?? emptyTree(repository);
}

/** The full name of a commit; `null` when the repository has none that is called so. */
export async function commitOf({ root, signal, env }: Repository, name: string): Promise<string | null> {
  const { exitCode, stdout } = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], {
    cwd: root,
    signal,
    env,
  });
  return exitCode === 0 ? stdout.toString().trim() : null;
}

/** @throws SlipwayError `changes.commit-unknown`. */
export async function existingCommit(repository: Repository, wanted: string): Promise<string> {
  const commit = await commitOf(repository, wanted);
  if (commit === null) throw new SlipwayError('changes.commit-unknown', `The repository has no commit ${wanted}.`);
  return commit;
}

/** What a commit is compared with to say what it did: its first parent, or nothing. */
export async function parentOf(repository: Repository, commit: string): Promise<string> {
  return (await commitOf(repository, `${commit}^1`)) ?? emptyTree(repository);
}

async function emptyTree({ root, signal, env }: Repository): Promise<string> {
  return (await gitOutput(['hash-object', '-t', 'tree', '--stdin'], { cwd: root, signal, env })).toString().trim();
}
