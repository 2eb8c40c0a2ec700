import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { GitDiff } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import { binary, MAX_TEXT_BYTES, readTextFile, tooLarge } from '../editor/text-file.js';
import { insideWorkspace } from '../files/workspace-path.js';
import { git, gitOutput } from './git.js';
import { type GitWorkspace, openRepository, type Repository, resolveBase } from './repository.js';

/** One file at `base` and now; `null` where it is not there. @throws SlipwayError `file.binary`, `file.too-large`, `file.not-found` when it is nowhere. */
export async function diffOfFile(workspace: GitWorkspace, wanted: string, base: string | undefined, signal: AbortSignal): Promise<GitDiff> {
  const file = await insideWorkspace(workspace.directory, wanted);
  const repository = await openRepository(workspace, file, signal);
  const commit = await resolveBase(repository, base);
  const original = await contentAt(repository, commit, path.relative(repository.root, file));
  const there = (await stat(file).catch(() => undefined))?.isFile() ?? false;
  if (original === null && !there) throw new SlipwayError('file.not-found', `There is no file ${wanted}, neither now nor in ${commit.slice(0, 12)}.`);
  return { original, modified: there ? (await readTextFile(file)).text : null };
}

async function contentAt({ root, signal, env }: Repository, commit: string, relative: string): Promise<string | null> {
  const object = `${commit}:${relative}`;
  const { exitCode, stdout } = await git(['cat-file', '-s', object], { cwd: root, signal, env });
  if (exitCode !== 0) return null;
  const size = Number(stdout.toString());
  if (size > MAX_TEXT_BYTES) throw tooLarge(relative, size);
  const bytes = await gitOutput(['cat-file', 'blob', object], { cwd: root, signal, env });
  if (bytes.includes(0)) throw binary(relative);
  return bytes.toString();
}
