import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { GitChange } from '@slipway/contracts/agent';
import type { GitCommitsPage } from '@slipway/contracts/repositories';
import { commit, git, json, repository, server, setUpRepository, write } from '../testing/repository-setup.js';

describe('commits of a repository', () => {
  setUpRepository();

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
