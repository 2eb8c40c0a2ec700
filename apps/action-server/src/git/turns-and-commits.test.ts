import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { GitChange } from '@slipway/contracts/agent';
import type { GitCommitsPage, GitRepositories } from '@slipway/contracts/repositories';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { type RunningServer, startActionServer } from '../testing/running-server.js';
import { listChanges } from './changes.js';
import { gitOutput } from './git.js';
import { openRepository } from './repository.js';
import { TurnMarks } from './turn-marks.js';

const TURN = '00000000-0000-4000-8000-000000000001';
const OTHER_TURN = '00000000-0000-4000-8000-000000000002';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync(
    'git',
    [
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@t',
      '-c',
      'commit.gpgsign=false',
      '-c',
      'protocol.file.allow=always',
      ...args,
    ],
    {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    },
  );

describe('repositories of a workspace', () => {
  let server: RunningServer;
  let repository: string;
  const json = async <T>(route: string): Promise<T> => (await server.send('GET', route)).json() as Promise<T>;
  const mark = async (turn = TURN): Promise<unknown> =>
    (await server.send('POST', '/git/mark', JSON.stringify({ turn }))).json();
  const since = async (turn = TURN, where = 'repository'): Promise<string[]> =>
    (await json<GitChange[]>(`/git/changes?path=${where}&turn=${turn}`))
      .map(({ status, path: name }) => `${status} ${name}`)
      .sort();
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
    writeFileSync(path.join(repository, name), text);
  };
  const commit = (subject: string): string => {
    git(repository, 'add', '-A');
    git(repository, 'commit', '-qm', subject, '--allow-empty');
    return git(repository, 'rev-parse', 'HEAD').trim();
  };
  /** All that a user or `git push --mirror` could see of the repository but its worktree. */
  const inside = (): unknown => [
    git(repository, 'ls-files', '-s', '-z'),
    git(repository, 'count-objects'),
    git(repository, 'for-each-ref'),
    git(repository, 'stash', 'list'),
    readdirSync(path.join(repository, '.git')).sort(),
  ];
  beforeAll(async () => {
    server = await startActionServer();
    repository = path.join(server.workspace, 'repository');
  });
  afterAll(() => server.close());
  beforeEach(() => {
    for (const name of readdirSync(server.workspace))
      rmSync(path.join(server.workspace, name), { recursive: true, force: true });
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main');
    write('.gitignore', '*.ignored\n');
    write('a.txt', 'one\ntwo\nthree\n');
    write('b/c.txt', 'x\n'.repeat(50));
    commit('base');
  });

  describe('against the last turn', () => {
    it('says what changed since it began, whatever was changed before, and leaves no trace in the repository', async () => {
      write('a.txt', 'before the turn\n');
      write('mine.txt', 'untracked before\n');
      git(repository, 'add', 'a.txt');
      const untouched = inside();
      expect(await mark()).toEqual({ marked: 1 });
      expect(await since()).toEqual([]);
      expect(inside()).toEqual(untouched);
      write('mine.txt', 'changed in the turn\n');
      write('new.txt', 'new\n');
      write('no.ignored', 'x');
      rmSync(path.join(repository, 'b/c.txt'));
      expect(await since()).toEqual(['ADDED new.txt', 'DELETED b/c.txt', 'UPDATED mine.txt']);
      commit('all of it');
      expect(await since()).toEqual(['ADDED new.txt', 'DELETED b/c.txt', 'UPDATED mine.txt']);
      expect(await json(`/git/diff?path=repository/mine.txt&turn=${TURN}`)).toEqual({
        original: 'untracked before\n',
        modified: 'changed in the turn\n',
      });
      const patch = await (await server.send('GET', `/git/patch?path=repository&turn=${TURN}&file=mine.txt`)).text();
      expect(patch).toContain('-untracked before\n+changed in the turn\n');
      expect(patch).not.toContain('new.txt');
      await mark();
      expect(await since()).toEqual([]);
    });

    it('is each conversation’s own, and of each repository of the workspace', async () => {
      const second = path.join(server.workspace, 'second');
      mkdirSync(second);
      git(second, 'init', '-q');
      expect(await mark()).toEqual({ marked: 2 });
      writeFileSync(path.join(second, 'x'), 'x');
      await mark(OTHER_TURN);
      write('y', 'y');
      expect([await since(TURN, 'second'), await since(OTHER_TURN, 'second')]).toEqual([['ADDED x'], []]);
      expect([await since(TURN), await since(OTHER_TURN)]).toEqual([['ADDED y'], ['ADDED y']]);
    });

    it('is not known of a repository that came later, nor of a conversation without one, and says so', async () => {
      expect(await json(`/git/changes?path=repository&turn=${'9'.repeat(8)}`)).toMatchObject({
        code: 'changes.turn-unknown',
      });
      await mark();
      const later = path.join(server.workspace, 'later');
      mkdirSync(later);
      git(later, 'init', '-q');
      expect(await json(`/git/changes?path=later&turn=${TURN}`)).toMatchObject({ code: 'changes.turn-unknown' });
      expect(await json(`/git/changes?path=repository&turn=${encodeURIComponent('../../x')}`)).toMatchObject({
        code: 'request.invalid',
      });
    });

    it('is not held up by a lock on the index, an unfinished merge or a rebase', async () => {
      git(repository, 'checkout', '-qb', 'side');
      write('a.txt', 'side\n');
      commit('side');
      git(repository, 'checkout', '-q', 'main');
      write('a.txt', 'main\n');
      commit('main');
      expect(() => git(repository, 'merge', 'side')).toThrow();
      writeFileSync(path.join(repository, '.git/index.lock'), '');
      expect(await mark()).toEqual({ marked: 1 });
      write('a.txt', 'solved\n');
      expect(await since()).toEqual(['UPDATED a.txt']);
      rmSync(path.join(repository, '.git/index.lock'));
      git(repository, 'merge', '--abort');
      expect(() => git(repository, 'rebase', 'side')).toThrow();
      await mark();
      write('new.txt', 'x');
      expect(await since()).toEqual(['ADDED new.txt']);
    });

    it('does not read a file of gigabytes, and knows whether it was touched', async () => {
      write('huge.bin', '');
      truncateSync(path.join(repository, 'huge.bin'), 3 * 1024 ** 3);
      expect(await json('/git/changes?path=repository')).toEqual([
        { status: 'ADDED', path: 'huge.bin', additions: 0, deletions: 0, binary: true },
      ]);
      await mark();
      expect(await since()).toEqual([]);
      utimesSync(path.join(repository, 'huge.bin'), new Date(), new Date(1_700_000_000_000));
      expect(await since()).toEqual(['UPDATED huge.bin']);
    });

    it('knows a large file that has been committed since for the one that it was', async () => {
      write('large.bin', '');
      truncateSync(path.join(repository, 'large.bin'), 65 * 1024 ** 2);
      await mark();
      commit('large');
      expect(await since()).toEqual([]);
      truncateSync(path.join(repository, 'large.bin'), 66 * 1024 ** 2);
      expect(await since()).toEqual(['UPDATED large.bin']);
    });

    it('keeps no more than its bound of what no commit holds, and knows of other files whether they were touched', async () => {
      const [sizes, kept] = [
        { 'a.bin': 700_000, 'b.bin': 700_000, 'c.txt': 10 },
        mkdtempSync(path.join(os.tmpdir(), 'slipway-marks-')),
      ];
      for (const [name, size] of Object.entries(sizes)) writeFileSync(path.join(repository, name), randomBytes(size));
      const workspace = {
        directory: server.workspace,
        environment: new ShellEnvironment({ PATH: process.env['PATH'], HOME: '/nonexistent' }),
      };
      const marks = new TurnMarks(workspace, kept, 'kept', 1_000_000);
      const { signal } = new AbortController();
      const changes = async (): Promise<string[]> =>
        (await listChanges({ workspace, marks }, 'repository', { turn: TURN }, signal))
          .map(({ status, path: name }) => `${status} ${name}`)
          .sort();
      try {
        expect(await marks.mark(TURN, signal)).toEqual({ marked: 1 });
        const bytes = readdirSync(kept, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
        expect(
          bytes.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0),
        ).toBeLessThan(1_000_000);
        expect(await changes()).toEqual([]);
        utimesSync(path.join(repository, 'b.bin'), new Date(), new Date(1_700_000_000_000));
        writeFileSync(path.join(repository, 'a.bin'), 'another');
        expect(await changes()).toEqual(['UPDATED a.bin', 'UPDATED b.bin']);
      } finally {
        rmSync(kept, { recursive: true, force: true });
      }
    });
  });

  describe('a sandbox that was paused', () => {
    const kept = (home: string): Record<string, string> => ({ HOME: home, HOME_DIR: home });
    const changed = async (from: RunningServer): Promise<unknown> =>
      (await from.send('GET', `/git/changes?path=repository&turn=${TURN}`)).json();
    const marked = async (more: Record<string, string> = {}): Promise<RunningServer> => {
      const first = await startActionServer((home) => ({ ...kept(home), ...more }));
      const place = path.join(first.workspace, 'repository');
      git(first.workspace, 'clone', '-q', repository, place);
      writeFileSync(path.join(place, 'before.bin'), randomBytes(100_000));
      truncateSync(path.join(place, 'before.bin'), 100 * 1024 ** 2);
      expect(await (await first.send('POST', '/git/mark', JSON.stringify({ turn: TURN }))).json()).toEqual({
        marked: 1,
      });
      writeFileSync(path.join(place, 'a.txt'), 'in the turn\n');
      git(place, 'commit', '-qam', 'in the turn');
      return first;
    };

    it('knows after a restart, wherever its workspace is then, what changed since the last message; a push of everything takes nothing of it along', async () => {
      const first = await marked();
      const second = await startActionServer(kept);
      try {
        const expected = [expect.objectContaining({ status: 'UPDATED', path: 'a.txt' })];
        expect(await changed(first)).toEqual(expected);
        const archive = Buffer.from(await (await first.send('GET', '/archive/workspace')).arrayBuffer());
        expect((await second.send('PUT', '/archive/workspace', archive)).status).toBe(204);
        expect(await changed(second)).toEqual(expected);
        const diff = await (await second.send('GET', `/git/diff?path=repository/a.txt&turn=${TURN}`)).json();
        expect(diff).toEqual({ original: 'one\ntwo\nthree\n', modified: 'in the turn\n' });
        const [mirror, place] = [path.join(second.workspace, 'mirror.git'), path.join(second.workspace, 'repository')];
        git(second.workspace, 'init', '-q', '--bare', mirror);
        git(place, 'push', '-q', '--mirror', mirror);
        expect(git(mirror, 'for-each-ref', '--format=%(refname)').trim().split('\n').sort()).toEqual([
          'refs/heads/main',
          'refs/remotes/origin/HEAD',
          'refs/remotes/origin/main',
        ]);
      } finally {
        await Promise.all([first.close(), second.close()]);
      }
    });

    it('gives the turn up before files that the agent made, where there is room for one of them', async () => {
      const first = await marked({ ARCHIVE_MAX_BYTES: '2000000' });
      try {
        const place = path.join(first.workspace, 'repository');
        rmSync(path.join(place, 'before.bin'));
        writeFileSync(path.join(place, 'noise'), randomBytes(1_200_000));
        const turns = path.join(path.dirname(first.workspace), 'home/.cache/slipway/turns');
        writeFileSync(path.join(turns, 'more'), randomBytes(900_000));
        expect((await first.send('GET', '/archive/workspace')).status).toBe(200);
        expect(existsSync(turns)).toBe(false);
      } finally {
        await first.close();
      }
    });
  });

  describe('commits', () => {
    it('are listed newest first, with the number of their files and whether the work made them', async () => {
      const base = git(repository, 'rev-parse', 'HEAD').trim();
      write('d.txt', 'd\n');
      write('a.txt', 'one\n');
      const second = commit('second: “ü”');
      const { commits, has_more } = await json<GitCommitsPage>(`/git/commits?path=repository&base=${base}`);
      expect(has_more).toBe(false);
      expect(commits).toEqual([
        {
          sha: second,
          short_sha: expect.any(String),
          subject: 'second: “ü”',
          author: 't',
          timestamp: expect.stringMatching(/^\d{4}-.*T/),
          files: 2,
          since_base: true,
        },
        {
          sha: base,
          short_sha: base.slice(0, 7),
          subject: 'base',
          author: 't',
          timestamp: expect.any(String),
          files: 3,
          since_base: false,
        },
      ]);
      expect(
        (await json<GitCommitsPage>('/git/commits?path=repository')).commits.map(({ since_base }) => since_base),
      ).toEqual([null, null]);
    });

    it('are read right whatever stands in their subject, their author or the names of their files', async () => {
      const subject = '\x01x\x01 :100644 100644 a b M \x1b[31m';
      write('\x01odd\n:100644 100644 name', 'x');
      write(':100644 100644 also', 'x');
      git(repository, 'add', '-A');
      git(repository, '-c', 'user.name=\x01A \x1e B', 'commit', '-qm', subject);
      const { commits } = await json<GitCommitsPage>('/git/commits?path=repository&limit=5');
      expect(commits.map(({ subject: said, files, author }) => [said, files, author])).toEqual([
        [subject, 2, expect.stringContaining('A')],
        ['base', 3, 't'],
      ]);
      expect(commits.map(({ sha }) => sha)).toEqual(git(repository, 'log', '--format=%H').trim().split('\n'));
    });

    it('come in pages that new commits do not shift', async () => {
      for (let index = 0; index < 6; index += 1) commit(`c${index}`);
      const subjects = (page: GitCommitsPage): string[] => page.commits.map(({ subject }) => subject);
      const first = await json<GitCommitsPage>('/git/commits?path=repository&limit=3');
      expect([subjects(first), first.has_more]).toEqual([['c5', 'c4', 'c3'], true]);
      commit('meanwhile');
      const second = await json<GitCommitsPage>(`/git/commits?path=repository&limit=3&page_id=${first.next_page_id}`);
      const third = await json<GitCommitsPage>(`/git/commits?path=repository&limit=3&page_id=${second.next_page_id}`);
      expect([subjects(second), subjects(third), third.has_more, third.next_page_id]).toEqual([
        ['c2', 'c1', 'c0'],
        ['base'],
        false,
        null,
      ]);
      expect(await json('/git/commits?path=repository&page_id=HEAD.3')).toMatchObject({ code: 'request.invalid' });
    });

    it('show what each did: its files, the text of one, and a patch, also of the first commit and of a merge', async () => {
      const base = git(repository, 'rev-parse', 'HEAD').trim();
      git(repository, 'checkout', '-qb', 'side');
      write('side.txt', 'side\n');
      commit('side');
      git(repository, 'checkout', '-q', 'main');
      rmSync(path.join(repository, 'a.txt'));
      const removed = commit('removed');
      git(repository, 'merge', '-q', '--no-edit', 'side');
      const merged = git(repository, 'rev-parse', 'HEAD').trim();
      write('a.txt', 'in the worktree only\n');
      const files = async (sha: string): Promise<string[]> =>
        (await json<GitChange[]>(`/git/commit_changes?path=repository&commit=${sha}`))
          .map(({ status, path: name }) => `${status} ${name}`)
          .sort();
      expect([await files(base), await files(removed), await files(merged)]).toEqual([
        ['ADDED .gitignore', 'ADDED a.txt', 'ADDED b/c.txt'],
        ['DELETED a.txt'],
        ['ADDED side.txt'],
      ]);
      expect(await json(`/git/diff?path=repository/a.txt&commit=${removed}`)).toEqual({
        original: 'one\ntwo\nthree\n',
        modified: null,
      });
      expect(
        await (await server.send('GET', `/git/patch?path=repository&commit=${removed}&file=a.txt`)).text(),
      ).toContain('-three');
      expect(await json('/git/commit_changes?path=repository&commit=deadbeef')).toMatchObject({
        code: 'changes.commit-unknown',
      });
      expect(await json(`/git/changes?path=repository&commit=${removed}&base=${base}`)).toMatchObject({
        code: 'request.invalid',
      });
      expect(await json('/git/changes?path=repository&commit=--output')).toMatchObject({ code: 'request.invalid' });
    });
  });

  it('are all found, each with its branch and its state', async () => {
    const w = server.workspace;
    const origin = mkdtempSync(path.join(os.tmpdir(), 'slipway-origin-'));
    try {
      git(origin, 'clone', '-q', '--bare', repository, 'origin.git');
      git(w, 'clone', '-q', path.join(origin, 'origin.git'), 'cloned');
      git(path.join(w, 'cloned'), 'commit', '-qm', 'ahead', '--allow-empty');
      git(repository, 'worktree', 'add', '-q', '../tree', '-b', 'in-the-worktree');
      git(repository, 'submodule', '--quiet', 'add', path.join(origin, 'origin.git'), 'module');
      git(w, 'init', '-q', '--bare', 'bare.git');
      git(w, 'init', '-q', '-b', 'first', 'empty');
      git(w, 'init', '-q', 'deep/er/still');
      git(path.join(w, 'deep/er/still'), 'commit', '-qm', 'x', '--allow-empty');
      git(path.join(w, 'deep/er/still'), 'checkout', '-q', '--detach');
      mkdirSync(path.join(w, 'broken/.git'), { recursive: true });
      writeFileSync(path.join(w, 'broken/.git/HEAD'), 'nonsense');
      mkdirSync(path.join(w, 'repository/node_modules/dependency'), { recursive: true });
      git(path.join(w, 'repository/node_modules/dependency'), 'init', '-q');
      symlinkSync('/', path.join(w, 'everything'));
      const { repositories, cut } = await json<GitRepositories>('/git/repositories?path=.');
      const line = ({
        path: where,
        kind,
        branch,
        upstream,
        ahead,
        operation,
      }: GitRepositories['repositories'][number]): string =>
        [where, kind, branch, upstream, ahead, operation].join(' ');
      expect(cut).toBe(false);
      expect(repositories.map(line).sort()).toEqual([
        'bare.git bare    ',
        'broken broken    ',
        'cloned repository main origin/main 1 ',
        'deep/er/still repository    ',
        'empty repository first   ',
        'repository repository main   ',
        'repository/module submodule main origin/main 0 ',
        'tree worktree in-the-worktree   ',
      ]);
      const problems = Object.fromEntries(repositories.map(({ path: where, problem }) => [where, problem]));
      expect(problems).toMatchObject({
        'bare.git': expect.stringContaining('is bare'),
        broken: expect.stringContaining('broken'),
        repository: null,
        empty: null,
      });
      expect(await mark()).toEqual({ marked: 6 });
      writeFileSync(path.join(w, 'tree/x'), 'x');
      expect([await since(TURN, 'tree'), await since(TURN, 'repository'), await since(TURN, 'empty')]).toEqual([
        ['ADDED x'],
        [],
        [],
      ]);
      // Each is compared with where it left its remote, when nothing is named.
      writeFileSync(path.join(w, 'cloned/y'), 'y');
      git(path.join(w, 'cloned'), 'add', 'y');
      git(path.join(w, 'cloned'), 'commit', '-qm', 'y');
      expect(await json('/git/changes?path=cloned')).toMatchObject([{ path: 'y', status: 'ADDED' }]);
      expect(await json('/git/changes?path=bare.git')).toMatchObject({
        code: 'repository.not-found',
        detail: expect.stringContaining('bare'),
      });
      expect(await json<GitCommitsPage>('/git/commits?path=empty')).toEqual({
        commits: [],
        has_more: false,
        next_page_id: null,
      });
    } finally {
      rmSync(origin, { recursive: true, force: true });
    }
  });

  it('that make git wait for a pipe hold up neither the others nor a turn', async () => {
    const stuck = path.join(server.workspace, 'stuck');
    mkdirSync(stuck);
    git(stuck, 'init', '-q');
    rmSync(path.join(stuck, '.git/HEAD'));
    execFileSync('mkfifo', [path.join(stuck, '.git/HEAD')]);
    expect(await json('/git/changes?path=stuck')).toMatchObject({
      code: 'request.invalid',
      detail: expect.stringContaining('pipe'),
    });
    const { repositories } = await json<GitRepositories>('/git/repositories?path=.');
    expect(repositories).toMatchObject([
      { path: 'repository', problem: null },
      { path: 'stuck', kind: 'broken', problem: expect.stringContaining('pipe') },
    ]);
    expect(await mark()).toEqual({ marked: 1 });
  });

  it('start no program that their configuration names, however they are read', async () => {
    const trap = path.join(server.workspace, 'trap.sh');
    const sprung = path.join(server.workspace, 'sprung');
    writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${sprung}\n`);
    chmodSync(trap, 0o755);
    const head = commit('two');
    for (const [key, value] of [
      ['core.fsmonitor', trap],
      ['core.hooksPath', path.join(server.workspace, 'hooks')],
      ['core.pager', trap],
      ['core.editor', trap],
      ['core.sshCommand', trap],
      ['core.alternateRefsCommand', trap],
      ['diff.external', trap],
      ['diff.trap.command', trap],
      ['diff.trap.textconv', trap],
      ['filter.trap.clean', trap],
      ['filter.trap.process', trap],
      ['filter.trap.required', 'true'],
      ['filter.odd=name.clean', trap],
      ['gpg.program', trap],
      ...['index', 'a b.c=d', 'Checkout'].flatMap((name) => [
        [`hook.${name}.command`, trap],
        [`hook.${name}.event`, name === 'Checkout' ? 'post-checkout' : 'post-index-change'],
        [`hook.${name}.enabled`, 'true'],
      ]),
      ['log.showSignature', 'true'],
      ['remote.origin.url', `ext::${trap}`],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.uploadpack', trap],
      ['protocol.ext.allow', 'always'],
      ['extensions.partialClone', 'origin'],
      ['core.repositoryFormatVersion', '1'],
    ])
      git(repository, 'config', key as string, value as string);
    for (const folder of [path.join(server.workspace, 'hooks'), path.join(repository, '.git/hooks')]) {
      mkdirSync(folder, { recursive: true });
      for (const hook of [
        'post-index-change',
        'post-checkout',
        'pre-commit',
        'reference-transaction',
        'fsmonitor-watchman',
      ])
        symlinkSync(trap, path.join(folder, hook));
    }
    write('.gitattributes', '*.txt diff=trap filter=trap\n*.odd filter=odd=name\n');
    write('a.txt', 'changed\n');
    write('b.odd', 'x\n');
    await mark();
    write('a.txt', 'changed again\n');
    // An object that is not here would be fetched.
    const object = git(repository, 'rev-parse', `${head}:b/c.txt`).trim();
    rmSync(path.join(repository, '.git/objects', object.slice(0, 2), object.slice(2)));
    rmSync(path.join(repository, 'b/c.txt'));
    for (const route of [
      '/git/changes?path=repository',
      `/git/changes?path=repository&turn=${TURN}`,
      `/git/changes?path=repository&commit=${head}`,
      '/git/patch?path=repository',
      `/git/patch?path=repository&turn=${TURN}`,
      `/git/diff?path=repository/a.txt&base=${head}`,
      `/git/diff?path=repository/b/c.txt&base=${head}`,
      '/git/commits?path=repository',
      '/git/repositories?path=.',
    ])
      await (await server.send('GET', route)).text().catch(() => '');
    expect(existsSync(sprung)).toBe(false);
    // Whether git knows of hooks in its configuration or not: it runs with all of them disabled.
    const environment = new ShellEnvironment({ PATH: process.env['PATH'], HOME: '/nonexistent' });
    const {
      root: cwd,
      signal,
      env,
    } = await openRepository({ directory: server.workspace, environment }, 'repository', new AbortController().signal);
    for (const name of ['index', 'a b.c=d', 'Checkout'])
      expect(
        (await gitOutput(['config', '--type=bool', '--get', `hook.${name}.enabled`], { cwd, signal, env })).toString(),
      ).toBe('false\n');
    // By names alone: the lines of what is not here cannot be counted.
    expect(await since()).toEqual(['DELETED b/c.txt', 'UPDATED a.txt']);
    expect(statSync(trap).mode & 0o111).toBeGreaterThan(0);
  });
});
