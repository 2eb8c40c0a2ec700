import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { exitCodeOf, gitFailure, startGit } from './git.js';
import { type GitWorkspace, openRepository, resolveBase } from './repository.js';
import { indexOfWorktree } from './worktree-index.js';

export interface PatchRequest {
  readonly path: string;
  readonly base: string | undefined;
  /** One file, from the repository's top folder. */
  readonly file: string | undefined;
}

/**
 * Streams everything that differs from `base` as a patch that `git apply` takes on a clean checkout of it, binary files and renames included.
 * A failure after the first byte cuts the connection: half a patch must not look like a whole one.
 */
export async function streamPatch(workspace: GitWorkspace, { path, base, file }: PatchRequest, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const repository = await openRepository(workspace, path, signal);
  const commit = await resolveBase(repository, base);
  const index = await indexOfWorktree(repository);
  try {
    const only = file === undefined ? [] : [`:(top,literal)${file}`];
    const args = [
      'diff',
      '--cached',
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
      commit,
      '--',
      ...only,
    ];
    const child = startGit(args, { cwd: repository.root, signal, env: index.env });
    child.stdin.end();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-4_096);
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
    await index.dispose();
  }
}
