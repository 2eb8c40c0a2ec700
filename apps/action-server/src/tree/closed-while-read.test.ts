import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { OneAtATime } from '../editor/one-at-a-time.js';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { type DirectoryEvent, DirectoryWatches } from './directory-watches.js';
import { IgnoredByGit } from './ignored-by-git.js';
import { OpenDirectory } from './open-directory.js';
import { ShownFile } from './shown-file.js';

/** Counts what is watched now. */
class CountedWatches extends DirectoryWatches {
  readonly open = new Set<object>();

  override watch(directory: string, listener: (event: DirectoryEvent) => void): () => void {
    const stop = super.watch(directory, listener);
    const one = {};
    this.open.add(one);
    return () => {
      this.open.delete(one);
      stop();
    };
  }
}

jest.setTimeout(60_000);

describe('what a user closes while it is read', () => {
  let workspace: string;
  beforeAll(async () => {
    workspace = await mkdtemp(path.join(os.tmpdir(), 'slipway-closed-'));
    await writeFile(path.join(workspace, 'a.txt'), 'a');
  });
  afterAll(() => rm(workspace, { recursive: true, force: true }));

  it('is answered, and leaves nothing watched behind', async () => {
    const watches = new CountedWatches();
    const changed = (): void => {};
    const ignored = new IgnoredByGit(new ShellEnvironment({ PATH: process.env['PATH'] }));
    const directory = new OpenDirectory({ workspace, path: '', watches, ignored, changed, happened: changed });
    const file = new ShownFile({
      workspace,
      path: 'a.txt',
      watches,
      turns: new OneAtATime(),
      changed,
      maySend: () => true,
    });
    const answers = Promise.all([directory.page(0, 10, AbortSignal.timeout(30_000)), file.open()]);
    directory.close();
    file.close();
    expect(await answers).toMatchObject([{ entries: [{ name: 'a.txt', kind: 'file' }] }, { kind: 'text', text: 'a' }]);
    expect(watches.open.size).toBe(0);
  });
});
