import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BUNDLE_REF } from '@slipway/contracts/repositories';
import { type RunningServer, startActionServer } from '../testing/running-server.js';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  }).trim();

describe('the bundle of a workspace', () => {
  let server: RunningServer;
  let outside: string;
  let repository: string;
  let base: string;

  beforeAll(async () => {
    server = await startActionServer();
    outside = mkdtempSync(path.join(os.tmpdir(), 'slipway-bundle-'));
    repository = path.join(server.workspace, 'repository');
  });
  afterAll(async () => {
    await server.close();
    rmSync(outside, { recursive: true, force: true });
  });
  beforeEach(() => {
    rmSync(repository, { recursive: true, force: true });
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(repository, 'a.txt'), 'one\n');
    writeFileSync(path.join(repository, '.gitignore'), '*.ignored\n');
    git(repository, 'add', '-A');
    git(repository, 'commit', '-qm', 'base');
    base = git(repository, 'rev-parse', 'HEAD');
    rmSync(path.join(outside, 'clone'), { recursive: true, force: true });
    git(outside, 'clone', '-q', repository, 'clone');
  });

  const ask = (change: object = {}): Promise<Response> =>
    server.send(
      'POST',
      '/git/bundle',
      JSON.stringify({
        path: 'repository',
        base,
        author: { name: 'Ada Lovelace', email: '1+ada@users.noreply.example' },
        message: 'Changes\n\nCo-authored-by: Slipway <agent@slipway.invalid>\n',
        max_bytes: 50_000_000,
        ...change,
      }),
    );
  /** As `git` itself reads it, in a clone that has the base alone. @returns the commit. */
  const taken = async (): Promise<string> => {
    const response = await ask();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-git-bundle']);
    const clone = path.join(outside, 'clone');
    writeFileSync(path.join(outside, 'bundle'), Buffer.from(await response.arrayBuffer()));
    git(clone, 'bundle', 'verify', '../bundle');
    git(clone, 'fetch', '-q', '../bundle', `${BUNDLE_REF}:refs/heads/taken`);
    return git(clone, 'rev-parse', 'taken');
  };

  it('has the commits since the base, and needs nothing but the base', async () => {
    for (const each of ['two', 'three']) {
      writeFileSync(path.join(repository, 'a.txt'), `${each}\n`);
      git(repository, 'commit', '-qam', each);
    }
    expect(await taken()).toBe(git(repository, 'rev-parse', 'HEAD'));
  });

  it('has what is not committed as one more commit, and changes nothing in the repository', async () => {
    writeFileSync(path.join(repository, 'a.txt'), 'two\n');
    git(repository, 'commit', '-qam', 'two');
    writeFileSync(path.join(repository, 'new.txt'), 'new\n');
    writeFileSync(path.join(repository, 'x.ignored'), 'x');
    symlinkSync('a.txt', path.join(repository, 'link'));
    const before = [
      git(repository, 'status', '--porcelain'),
      git(repository, 'count-objects'),
      git(repository, 'rev-parse', 'HEAD'),
    ];
    const commit = await taken();
    const clone = path.join(outside, 'clone');
    expect([
      git(repository, 'status', '--porcelain'),
      git(repository, 'count-objects'),
      git(repository, 'rev-parse', 'HEAD'),
    ]).toEqual(before);
    expect(git(clone, 'rev-parse', `${commit}^`)).toBe(git(repository, 'rev-parse', 'HEAD'));
    expect(git(clone, 'ls-tree', '--name-only', commit).split('\n')).toEqual([
      '.gitignore',
      'a.txt',
      'link',
      'new.txt',
    ]);
    expect(git(clone, 'log', '-1', '--format=%an <%ae>, %cn: %s%n%(trailers:key=Co-authored-by)', commit)).toBe(
      'Ada Lovelace <1+ada@users.noreply.example>, Slipway: Changes\nCo-authored-by: Slipway <agent@slipway.invalid>',
    );
  });

  it('has a change of the same size within the second of the commit before', async () => {
    // As on a machine on which all of it takes one second: the times that git keeps say nothing.
    const then = new Date(1_700_000_000_000);
    const inThatSecond = (...names: string[]): void => {
      for (const name of names) utimesSync(path.join(repository, name), then, then);
    };
    git(repository, 'config', 'core.checkStat', 'minimal');
    inThatSecond('a.txt');
    git(repository, 'add', '-A');
    inThatSecond('.git/index');
    writeFileSync(path.join(repository, 'a.txt'), 'two\n');
    inThatSecond('a.txt');
    const commit = await taken();
    expect(git(path.join(outside, 'clone'), 'show', `${commit}:a.txt`)).toBe('two');
  });

  it('takes a merge of what came upstream meanwhile', async () => {
    git(repository, 'checkout', '-qb', 'older', base);
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'older');
    git(repository, 'checkout', '-q', 'main');
    writeFileSync(path.join(repository, 'a.txt'), 'two\n');
    git(repository, 'commit', '-qam', 'two');
    git(repository, 'merge', '-q', '--no-ff', '-m', 'merge', 'older');
    expect(await taken()).toBe(git(repository, 'rev-parse', 'HEAD'));
  });

  it('runs no program that the repository names', async () => {
    const ran = path.join(outside, 'ran');
    const hook = `#!/bin/sh\ntouch ${ran}\n`;
    for (const name of ['pre-commit', 'post-commit', 'post-index-change', 'reference-transaction'])
      writeFileSync(path.join(repository, '.git/hooks', name), hook, { mode: 0o755 });
    for (const [key, value] of [
      ['filter.x.clean', `touch ${ran}`],
      ['core.fsmonitor', `touch ${ran}`],
      ['gpg.program', `touch ${ran}`],
      ['commit.gpgSign', 'true'],
      ['pack.packObjectsHook', `touch ${ran}`],
    ])
      git(repository, 'config', key as string, value as string);
    writeFileSync(path.join(repository, '.gitattributes'), '* filter=x\n');
    writeFileSync(path.join(repository, 'new.txt'), 'new\n');
    await taken();
    expect(() => readFileSync(ran)).toThrow();
  });

  it('refuses nothing, another history, a merge under way and what is too large', async () => {
    const code = async (change: object = {}): Promise<unknown> =>
      ((await (await ask(change)).json()) as { code: unknown }).code;
    expect(await code()).toBe('pull-request.nothing-new');
    expect(await code({ base: '0'.repeat(40) })).toBe('changes.commit-unknown');
    expect(await code({ base: '--output=x' })).toBe('request.invalid');
    writeFileSync(path.join(repository, 'large.bin'), randomBytes(300_000));
    expect(await code({ max_bytes: 100_000 })).toBe('pull-request.too-large');
    rmSync(path.join(repository, 'large.bin'));
    git(repository, 'checkout', '-q', '--orphan', 'other');
    git(repository, 'commit', '-qm', 'other');
    expect(await code()).toBe('pull-request.unsound');
    git(repository, 'checkout', '-q', 'main');
    git(repository, 'checkout', '-qb', 'side');
    writeFileSync(path.join(repository, 'a.txt'), 'side\n');
    git(repository, 'commit', '-qam', 'side');
    git(repository, 'checkout', '-q', 'main');
    writeFileSync(path.join(repository, 'a.txt'), 'main\n');
    git(repository, 'commit', '-qam', 'main');
    expect(() => git(repository, 'merge', '-q', 'side')).toThrow();
    expect(await code()).toBe('pull-request.unsound');
  });
});
