import { stat } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { insideWorkspace } from '../files/workspace-path.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { git, gitOutput } from './git.js';

/** Where repositories are looked for, and what git is started with. */
export interface GitWorkspace {
  readonly directory: string;
  readonly environment: ShellEnvironment;
}

export interface Repository {
  /** Real path of its top folder. */
  readonly root: string;
  /** Real path of its `.git` folder. */
  readonly gitDirectory: string;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string>>;
}

/** The repository that holds this path of the workspace. @throws SlipwayError `repository.not-found`, and those of `insideWorkspace`. */
export async function openRepository({ directory, environment }: GitWorkspace, wanted: string, signal: AbortSignal): Promise<Repository> {
  const env = environment.variables();
  let folder = await insideWorkspace(directory, wanted);
  // A deleted file may have taken its folders along.
  while (!(await stat(folder).catch(() => undefined))?.isDirectory()) folder = path.dirname(folder);
  const { exitCode, stdout } = await git(['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'], { cwd: folder, signal, env });
  const [root, gitDirectory] = stdout.toString().split('\n');
  if (exitCode !== 0 || !root || !gitDirectory) throw new SlipwayError('repository.not-found', `There is no git repository at ${wanted}.`);
  return { root: await insideWorkspace(directory, root), gitDirectory, signal, env };
}

/** The commit to compare with: `base`, else the last commit, else the empty tree of a repository without one. @throws SlipwayError `request.invalid`. */
export async function resolveBase({ root, signal, env }: Repository, base: string | undefined): Promise<string> {
  const name = base ?? 'HEAD';
  const { exitCode, stdout } = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], { cwd: root, signal, env });
  if (exitCode === 0) return stdout.toString().trim();
  if (base !== undefined) throw new SlipwayError('request.invalid', `The repository has no commit ${base}.`);
  return (await gitOutput(['hash-object', '-t', 'tree', '--stdin'], { cwd: root, signal, env })).toString().trim();
}
