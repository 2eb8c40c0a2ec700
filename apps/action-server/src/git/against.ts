import { SlipwayError } from '@slipway/errors';
import { existingCommit, type GitWorkspace, type Repository, resolveBase } from './repository.js';
import type { TurnMarks } from './turn-marks.js';

export interface GitReading {
  readonly workspace: GitWorkspace;
  readonly marks: TurnMarks;
}

/**
 * What the worktree is compared with: a commit, where it branched off [when nothing is named], the beginning of a turn;
 * or not the worktree, but what one commit did.
 */
export interface Against {
  readonly base?: string | undefined;
  readonly turn?: string | undefined;
  readonly commit?: string | undefined;
}

export interface Before {
  /** Not `null`: what this commit did is asked for. */
  readonly commit: string | null;
  /** A commit or a tree. */
  readonly tree: string;
  readonly alternates: readonly string[];
  readonly large: ReadonlyMap<string, string>;
}

/**
 * @throws SlipwayError `request.invalid` when two are named or `base` is not there, `changes.commit-unknown`,
 * `changes.turn-unknown`.
 */
export async function against(
  { marks }: GitReading,
  repository: Repository,
  { base, turn, commit }: Against,
): Promise<Before> {
  if ([base, turn, commit].filter((each) => each !== undefined).length > 1)
    throw new SlipwayError('request.invalid', 'Name one of base (or ref), turn and commit, not more.');
  const plain = { alternates: [], large: new Map<string, string>() };
  if (commit !== undefined) {
    const found = await existingCommit(repository, commit);
    return { ...plain, commit: found, tree: found };
  }
  if (turn === undefined) return { ...plain, commit: null, tree: await resolveBase(repository, base) };
  const { tree, objects, large } = await marks.of(turn, repository);
  return { commit: null, tree, alternates: [objects], large };
}
