import { createHash } from 'node:crypto';
import path from 'node:path';
import type { CallArguments } from '@slipway/agent-client';
import type { ChangesQuery } from '@slipway/contracts/repositories';
import type { SandboxRow } from '../conversations.queries.js';

/** The repository that the conversation began with lies directly below the workspace. */
export function isOwn({ workingDir }: SandboxRow, repository: string | undefined): boolean {
  return workingDir !== null && (repository === undefined || repository === path.posix.basename(workingDir));
}

/** Where a repository is in the sandbox; `null` while there is no workspace. */
export function folderOf(row: SandboxRow, repository: string | undefined): string | null {
  return repository === undefined || isOwn(row, repository) ? row.workingDir : repository;
}

/** Of this there is what was last seen also while the sandbox is away. */
export function isKept({ against, repository }: ChangesQuery): boolean {
  return against === 'base' && repository === undefined;
}

/** Files of a repository, and what they are compared with: where its branch began when nothing is named. */
export function sideOf(
  row: SandboxRow & { workingDir: string },
  marks: { readonly turn: string; readonly look: string },
  { against, repository }: ChangesQuery,
): CallArguments<'changes'>['query'] {
  const folder = folderOf(row, repository);
  if (against === 'turn') return { path: folder, turn: marks.turn };
  if (against === 'looked') return { path: folder, turn: marks.look };
  if (against !== 'base') return { path: folder, commit: against };
  return { path: folder, base: isOwn(row, repository) ? row.baseCommit : null };
}

/** Under which a sandbox remembers what a person has looked at: nothing in it says who that is. */
export function lookOf(conversation: string, userId: string): string {
  return `look-${createHash('sha256').update(`${conversation} ${userId}`).digest('hex').slice(0, 48)}`;
}
