import { lstat, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { TurnHunkRequest } from '@slipway/contracts/repositories';
import { turnHunk } from '@slipway/domain/review';
import { SlipwayError } from '@slipway/errors';
import { readTextFile, type TextFile, writeTextFile } from '../editor/text-file.js';
import { fileError } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';
import { type GitWorkspace, openRepository } from './repository.js';

const NEW_FILE: TextFile = { text: '', encoding: 'utf8' };

/**
 * Takes one hunk of a file's changes back, or puts it back, in the worktree alone: neither index nor commits know of
 * it. A file that the whole change added is deleted, one that it deleted is written again.
 * @throws SlipwayError `changes.moved` when a line of it is another or elsewhere by now, `repository.not-found`, and
 * those of reading a text file.
 */
export async function turnHunkOf(
  workspace: GitWorkspace,
  { path: where, file, status, hunk, direction }: TurnHunkRequest,
  signal: AbortSignal,
): Promise<{ path: string }> {
  const { root } = await openRepository(workspace, where, signal);
  const place = path.join(root, file);
  if (!place.startsWith(`${root}${path.sep}`) || path.relative(root, place).split(path.sep).includes('.git'))
    throw new SlipwayError('request.invalid', `${file} is no file of the repository.`);
  // Links are not followed: what a hunk of one says is where it leads to.
  if ((await insideWorkspace(workspace.directory, place)) !== place) throw moved(file);
  const found = await lstat(place).catch((error: unknown) =>
    ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
      ? null
      : Promise.reject(fileError(error, place)),
  );
  // Before: there is none of what the change added, once it is taken back. After: none of what it deleted.
  const [isNew, isGone] =
    direction === 'revert' ? [status === 'DELETED', status === 'ADDED'] : [status === 'ADDED', status === 'DELETED'];
  if ((found === null) !== isNew || (found !== null && !found.isFile())) throw moved(file);
  const before = found === null ? NEW_FILE : await readTextFile(place);
  const after = turnHunk(before.text, hunk, direction);
  if (after === null || (isGone && after !== '')) throw moved(file);
  if (isGone) await rm(place).catch((error: unknown) => Promise.reject(fileError(error, place)));
  else {
    await mkdir(path.dirname(place), { recursive: true }).catch((error: unknown) =>
      Promise.reject(fileError(error, place)),
    );
    await writeTextFile(place, { ...before, text: after });
  }
  return { path: file };
}

function moved(file: string): SlipwayError {
  return new SlipwayError('changes.moved', `${file} was changed since: the lines are not where they were.`);
}
