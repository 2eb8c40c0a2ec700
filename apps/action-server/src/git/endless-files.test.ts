import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { stopwatch } from '@slipway/testing';
import { type RunningServer, startActionServer } from '../testing/running-server.js';
import { git } from './git.js';

describe('repositories with files that never end', () => {
  let server: RunningServer;
  let repository: string;
  const json = async (route: string): Promise<unknown> => (await server.send('GET', route)).json();
  const configure = (name: string, value: string): void =>
    void execFileSync('git', ['config', name, value], { cwd: repository });
  beforeAll(async () => {
    server = await startActionServer();
    repository = path.join(server.workspace, 'repository');
  });
  afterAll(() => server.close());
  beforeEach(() => {
    rmSync(repository, { recursive: true, force: true });
    mkdirSync(repository);
    execFileSync('git', ['init', '-q'], { cwd: repository });
  });

  it('are read though a setting names a file that never ends, and refused at once, with its name, where a file of theirs does', async () => {
    writeFileSync(path.join(repository, 'seen.txt'), 'x\n');
    const pipe = path.join(server.workspace, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const endless of ['/dev/zero', pipe]) {
      configure('core.attributesFile', endless);
      configure('core.excludesFile', endless);
      expect(await json('/git/changes?path=repository')).toMatchObject([{ path: 'seen.txt', status: 'ADDED' }]);
    }
    for (const name of ['.gitignore', '.gitattributes', '.git/info/exclude', '.git/info/attributes']) {
      const file = path.join(repository, name);
      mkdirSync(path.dirname(file), { recursive: true });
      rmSync(file, { force: true });
      execFileSync('mkfifo', [file]);
      const asked = stopwatch();
      expect(await json('/git/changes?path=repository')).toMatchObject({
        code: 'request.invalid',
        detail: expect.stringContaining(`${name} is a pipe`),
      });
      expect(asked()).toBeLessThan(5_000);
      rmSync(file);
      expect(await json('/git/changes?path=repository')).toMatchObject([{ path: 'seen.txt' }]);
    }
  });

  it('whose git does not end, as with a pipe further down, end it after its time with words that say why', async () => {
    mkdirSync(path.join(repository, 'below'));
    writeFileSync(path.join(repository, 'below/file'), 'x\n');
    execFileSync('mkfifo', [path.join(repository, 'below/.gitignore')]);
    const asked = git(['ls-files', '--others', '--exclude-standard'], {
      cwd: repository,
      signal: new AbortController().signal,
      env: { PATH: process.env['PATH'] ?? '' },
      timeoutMs: 500,
    });
    await expect(asked).rejects.toMatchObject({ code: 'request.invalid', detail: expect.stringContaining('pipe') });
  });
});
