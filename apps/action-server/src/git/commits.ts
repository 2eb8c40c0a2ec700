import type { GitChange } from '@slipway/contracts/agent';
import type { GitCommit, GitCommitsPage } from '@slipway/contracts/repositories';
import { SlipwayError } from '@slipway/errors';
import { changesBetween } from './changes.js';
import { gitOutput } from './git.js';
import {
  commitOf,
  existingCommit,
  type GitWorkspace,
  openRepository,
  parentOf,
  type Repository,
} from './repository.js';

/** Commits after `base` that are listed individually; older ones of a longer history count as before it. */
const MAX_SINCE_BASE = 1_000;
const PAGE = /^([0-9a-f]{40,64})\.(\d{1,6})$/;

export interface CommitsRequest {
  readonly path: string;
  /** 1 to 200. */
  readonly limit: number;
  readonly pageId: string | undefined;
  readonly base: string | undefined;
}

/**
 * The history of what is checked out, newest first; nothing of a repository without commits. @throws SlipwayError
 * `request.invalid` for a page that is none.
 */
export async function listCommits(
  workspace: GitWorkspace,
  { path, limit, pageId, base }: CommitsRequest,
  signal: AbortSignal,
): Promise<GitCommitsPage> {
  const repository = await openRepository(workspace, path, signal);
  const page = pageId === undefined ? null : PAGE.exec(pageId);
  if (pageId !== undefined && page === null)
    throw new SlipwayError('request.invalid', 'page_id: is none that was given out.');
  const start = await commitOf(repository, page?.[1] ?? 'HEAD');
  if (start === null) {
    if (page !== null) throw new SlipwayError('request.invalid', 'page_id: the commit that it begins at is gone.');
    return { commits: [], has_more: false, next_page_id: null };
  }
  const skip = Number(page?.[2] ?? 0);
  const { root: cwd, env } = repository;
  const format = '--format=%x01%H%x00%h%x00%an%x00%aI%x00%s%x00';
  const text = await gitOutput(
    [
      'log',
      '-z',
      format,
      '--raw',
      '--no-renames',
      '--no-ext-diff',
      '--no-textconv',
      '--diff-merges=first-parent',
      `--max-count=${limit + 1}`,
      `--skip=${skip}`,
      start,
      '--',
    ],
    { cwd, signal, env },
  );
  const after = base === undefined ? null : await commitsAfter(repository, base, start);
  const commits = parseCommits(text).map(
    (commit): GitCommit => ({ ...commit, since_base: after === null ? null : after.has(commit.sha) }),
  );
  const more = commits.length > limit;
  return { commits: commits.slice(0, limit), has_more: more, next_page_id: more ? `${start}.${skip + limit}` : null };
}

/** Files that a commit changed against its first parent. @throws SlipwayError `changes.commit-unknown`. */
export async function changesOfCommit(
  workspace: GitWorkspace,
  path: string,
  wanted: string,
  signal: AbortSignal,
): Promise<GitChange[]> {
  const repository = await openRepository(workspace, path, signal);
  const commit = await existingCommit(repository, wanted);
  return changesBetween(repository, await parentOf(repository, commit), commit);
}

async function commitsAfter(repository: Repository, base: string, start: string): Promise<ReadonlySet<string> | null> {
  const from = await commitOf(repository, base);
  if (from === null) return null;
  const { root: cwd, signal, env } = repository;
  const text = await gitOutput(['rev-list', `--max-count=${MAX_SINCE_BASE}`, start, `^${from}`, '--'], {
    cwd,
    signal,
    env,
  });
  return new Set(text.toString().split('\n'));
}

/**
 * `\x01hash\0short\0author\0date\0subject\0`, then for each file a field that begins with a colon, and its name. Read
 * by position: what people write into names and subjects may hold any byte but NUL.
 */
function parseCommits(text: Buffer): Array<Omit<GitCommit, 'since_base'>> {
  const fields = text.toString().split('\0');
  const commits: Array<Omit<GitCommit, 'since_base'>> = [];
  for (let at = 0; at < fields.length; ) {
    const field = fields[at] as string;
    if (/^\n?:\d{6} \d{6} /.test(field)) {
      const commit = commits.at(-1);
      if (commit !== undefined) commits[commits.length - 1] = { ...commit, files: commit.files + 1 };
      at += 2;
    } else if (field.startsWith('\x01')) {
      const [sha = '', short_sha = '', author = '', timestamp = '', subject = ''] = fields.slice(at, at + 5);
      commits.push({ sha: sha.slice(1), short_sha, author, timestamp, subject, files: 0 });
      at += 5;
    } else at += 1;
  }
  return commits;
}
