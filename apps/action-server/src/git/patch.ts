import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { endOf } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import { type Against, against, type GitReading } from './against.js';
import { CONTENT_TIMEOUT_MS, exitCodeOf, gitFailure, startGit } from './git.js';
import { leastPatchBytes } from './patch-size.js';
import { openRepository, parentOf } from './repository.js';
import { indexOfWorktree } from './worktree-index.js';

export interface PatchRequest extends Against {
  readonly path: string;
  /** One file, from the repository's top folder. */
  readonly file: string | undefined;
  /** What the reader takes at most, bytes: a patch that is certainly larger is refused before its first byte. */
  readonly maxBytes?: number | undefined;
}

/**
 * Streams everything that differs as a patch that `git apply` takes on a clean checkout of what it is compared with,
 * binary files and renames included.
 * @throws SlipwayError `file.too-large`, and those of `against`. A failure after the first byte cuts the connection:
 * half a patch must not pass for a whole one.
 */
export async function streamPatch(
  reading: GitReading,
  { path, file, maxBytes, ...to }: PatchRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const repository = await openRepository(reading.workspace, path, signal);
  const before = await against(reading, repository, to);
  const index =
    before.commit === null
      ? await indexOfWorktree(repository, { alternates: before.alternates, only: file, whole: true })
      : null;
  try {
    const only = file === undefined ? [] : [`:(top,literal)${file}`];
    const sides =
      before.commit === null ? ['--cached', before.tree] : [await parentOf(repository, before.commit), before.commit];
    const env = index?.env ?? repository.env;
    if (
      maxBytes !== undefined &&
      (await leastPatchBytes(repository, { env, sides, only, enough: maxBytes })) >= maxBytes
    )
      throw new SlipwayError(
        'file.too-large',
        `The changes are larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB as text; ask for one file at a time.`,
      );
    const args = [
      'diff',
      '--binary',
      '--full-index',
      '-M',
      '-U3',
      '--src-prefix=a/',
      '--dst-prefix=b/',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--ignore-submodules=all',
      ...sides,
      '--',
      ...only,
    ];
    const child = startGit(args, { cwd: repository.root, signal, env, timeoutMs: CONTENT_TIMEOUT_MS });
    child.stdin.end();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = endOf(stderr + chunk.toString(), 4_096);
    });
    const exited = exitCodeOf(child, signal);
    exited.catch(() => {});
    // The first byte, or the end: until then a failure is still a problem document.
    await Promise.race([once(child.stdout, 'readable'), once(child.stdout, 'end').catch(() => {})]);
    const early = child.stdout.readableLength === 0 ? await exited : 0;
    if (early !== 0) throw gitFailure(args, stderr);
    response.writeHead(200, { 'content-type': 'text/x-diff; charset=utf-8' });
    await pipeline(child.stdout, response, { end: false });
    if ((await exited) !== 0) throw gitFailure(args, stderr);
    response.end();
  } finally {
    await index?.dispose();
  }
}
