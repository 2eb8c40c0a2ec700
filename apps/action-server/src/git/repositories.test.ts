import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { GitCommitsPage, GitRepositories } from '@slipway/contracts/repositories';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import {
  commit,
  git,
  json,
  mark,
  repository,
  server,
  setUpRepository,
  since,
  TURN,
  write,
} from '../testing/repository-setup.js';
import { gitOutput } from './git.js';
import { openRepository } from './repository.js';

describe('repositories of a workspace', () => {
  setUpRepository();

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
