import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { GitDiff } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { binary, MAX_TEXT_BYTES, readTextFile, tooLarge } from '../editor/text-file.js';
import { insideWorkspace } from '../files/workspace-path.js';
import { type Against, against, type GitReading } from './against.js';
import { git, gitOutput } from './git.js';
import { openRepository, parentOf, type Repository } from './repository.js';

/**
 * One file then and now, or before a commit and with it; `null` where it is not there.
 * @throws SlipwayError `file.binary`, `file.too-large`, `file.not-found` when it is nowhere, and those of `against`.
 */
export async function diffOfFile(
  reading: GitReading,
  wanted: string,
  to: Against,
  signal: AbortSignal,
): Promise<GitDiff> {
  const file = await insideWorkspace(reading.workspace.directory, wanted);
  const repository = await openRepository(reading.workspace, file, signal);
  const before = await against(reading, repository, to);
  const relative = path.relative(repository.root, file);
  if (before.commit !== null) {
    const original = await contentAt(repository, await parentOf(repository, before.commit), relative, []);
    const modified = await contentAt(repository, before.commit, relative, []);
    if (original === null && modified === null)
      throw new SlipwayError(
        'file.not-found',
        `There is no file ${wanted} in ${before.commit.slice(0, 12)} or before it.`,
      );
    return { original, modified };
  }
  const original = await contentAt(repository, before.tree, relative, before.alternates);
  const there = (await stat(file).catch(() => undefined))?.isFile() ?? false;
  if (original === null && !there)
    throw new SlipwayError(
      'file.not-found',
      `There is no file ${wanted}, neither now nor in ${before.tree.slice(0, 12)}.`,
    );
  return { original, modified: there ? (await readTextFile(file)).text : null };
}

async function contentAt(
  { root, signal, env: own }: Repository,
  tree: string,
  relative: string,
  alternates: readonly string[],
): Promise<string | null> {
  const object = `${tree}:${relative}`;
  const env = {
    ...own,
    ...(alternates.length === 0
      ? {}
      : { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.map((each) => JSON.stringify(each)).join(':') }),
  };
  const { exitCode, stdout } = await git(['cat-file', '-s', object], { cwd: root, signal, env });
  if (exitCode !== 0) return null;
  const size = Number(stdout.toString());
  if (size > MAX_TEXT_BYTES) throw tooLarge(relative, size);
  const bytes = await gitOutput(['cat-file', 'blob', object], { cwd: root, signal, env });
  if (bytes.includes(0)) throw binary(relative);
  return bytes.toString();
}
