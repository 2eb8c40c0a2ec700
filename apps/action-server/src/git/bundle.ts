import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { endOf } from '@slipway/contracts/actions';
import { BUNDLE_CONTENT_TYPE, BUNDLE_REF, type BundleRequest } from '@slipway/contracts/repositories';
import { SlipwayError } from '@slipway/errors';
import { CONTENT_TIMEOUT_MS, exitCodeOf, type GitOptions, git, gitFailure, gitOutput, startGit } from './git.js';
import { commitOf, existingCommit, type GitWorkspace, openRepository } from './repository.js';
import { indexOfWorktree } from './worktree-index.js';

/** Whole objects, none made of another: whoever reads them needs no more memory than the largest has bytes. */
const WHOLE_OBJECTS = ['--window=0', '--no-reuse-delta', '--threads=1'];
/** Commits that the new ones stand on. More has no honest branch. */
const MAX_PREREQUISITES = 1_000;

interface Tip {
  readonly commit: string;
  readonly options: GitOptions;
}

/**
 * Streams a git bundle (v2) of what the branch has since `base`, with what is not committed as one more commit on top.
 * Nothing in the repository changes.
 * @throws SlipwayError `pull-request.nothing-new`, `pull-request.unsound`, `pull-request.too-large`,
 * `changes.commit-unknown`, `repository.not-found`. A failure after the first byte
 *   cuts the connection.
 */
export async function streamBundle(
  workspace: GitWorkspace,
  request: BundleRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const repository = await openRepository(workspace, request.path, signal);
  const options = { cwd: repository.root, signal, env: { ...repository.env, GIT_NO_REPLACE_OBJECTS: '1' } };
  const base = await existingCommit(repository, request.base);
  const head = await commitOf(repository, 'HEAD');
  if (head === null || (await git(['merge-base', '--is-ancestor', base, head], options)).exitCode !== 0)
    throw new SlipwayError(
      'pull-request.unsound',
      `The branch of the workspace does not continue ${base.slice(0, 12)}, the commit that the work began from.`,
    );
  if ((await gitOutput(['ls-files', '--unmerged', '-z'], options)).length > 0)
    throw new SlipwayError(
      'pull-request.unsound',
      'A merge with conflicts is under way in the workspace: it has to be ended first.',
    );
  const index = await indexOfWorktree(repository, { whole: true });
  try {
    const tip = await tipOf(head, request, { ...options, env: { ...index.env, GIT_NO_REPLACE_OBJECTS: '1' } });
    if (tip.commit === base)
      throw new SlipwayError(
        'pull-request.nothing-new',
        'The workspace holds nothing but the commit that the work began from.',
      );
    await send(tip, { base, maxBytes: request.max_bytes }, response, signal);
  } finally {
    await index.dispose();
  }
}

/** The last commit, or one that is made of what is not committed; its objects lie beside the repository's. */
async function tipOf(head: string, { author, message }: BundleRequest, options: GitOptions): Promise<Tip> {
  const tree = (await gitOutput(['write-tree'], { ...options, timeoutMs: CONTENT_TIMEOUT_MS })).toString().trim();
  const committed = (await gitOutput(['rev-parse', '--verify', `${head}^{tree}`], options)).toString().trim();
  if (tree === committed) return { commit: head, options };
  const env = {
    ...options.env,
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: 'Slipway',
    GIT_COMMITTER_EMAIL: 'agent@slipway.invalid',
  };
  const made = await gitOutput(['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', tree, '-p', head], {
    ...options,
    env,
    input: Buffer.from(message),
  });
  return { commit: made.toString().trim(), options };
}

async function send(
  { commit, options }: Tip,
  { base, maxBytes }: { base: string; maxBytes: number },
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const range = [commit, `^${base}`];
  const onDisk = Number(
    (
      await gitOutput(['rev-list', '--disk-usage', '--objects', ...range], {
        ...options,
        timeoutMs: CONTENT_TIMEOUT_MS,
      })
    ).toString(),
  );
  if (onDisk > maxBytes)
    throw new SlipwayError(
      'pull-request.too-large',
      `The changes are larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`,
    );
  const boundary = (await gitOutput(['rev-list', '--boundary', ...range], options)).toString().split('\n');
  const prerequisites = [
    ...new Set([base, ...boundary.flatMap((line) => (line.startsWith('-') ? [line.slice(1)] : []))]),
  ];
  if (prerequisites.length > MAX_PREREQUISITES)
    throw new SlipwayError('pull-request.unsound', 'The branch joins too many other branches.');
  const args = ['pack-objects', '--revs', '--stdout', '-q', ...WHOLE_OBJECTS];
  const child = startGit(args, { ...options, timeoutMs: CONTENT_TIMEOUT_MS });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = endOf(stderr + chunk.toString(), 4_096);
  });
  const exited = exitCodeOf(child, signal);
  exited.catch(() => {});
  child.stdin.end(`${range.join('\n')}\n`);
  response.writeHead(200, { 'content-type': BUNDLE_CONTENT_TYPE });
  response.write(`# v2 git bundle\n${prerequisites.map((each) => `-${each}\n`).join('')}${commit} ${BUNDLE_REF}\n\n`);
  await pipeline(child.stdout, response, { end: false });
  if ((await exited) !== 0) throw gitFailure(args, stderr);
  response.end();
}
