import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Makes a bare repository `directory/name` with one commit on `main` of the given files (path → text).
 * @returns the commit's hash.
 */
export async function createSampleRepository(
  directory: string,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const work = await mkdtemp(path.join(os.tmpdir(), 'slipway-sample-'));
  const git = async (...parameters: string[]): Promise<string> =>
    (
      await run('git', ['-C', work, '-c', 'user.name=Sample', '-c', 'user.email=sample@example.test', ...parameters])
    ).stdout.trim();
  try {
    await git('init', '--quiet', '--initial-branch=main');
    for (const [file, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(work, file)), { recursive: true });
      await writeFile(path.join(work, file), text);
    }
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'Begin');
    const bare = path.join(directory, name);
    await mkdir(directory, { recursive: true });
    await run('git', ['clone', '--quiet', '--bare', work, bare]);
    return await git('rev-parse', 'HEAD');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
