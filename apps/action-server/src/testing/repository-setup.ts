import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { GitChange } from '@slipway/contracts/agent';
import { type RunningServer, startActionServer } from './running-server.js';

export const TURN = '00000000-0000-4000-8000-000000000001';
export const OTHER_TURN = '00000000-0000-4000-8000-000000000002';

export const git = (cwd: string, ...args: string[]): string =>
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

export let server: RunningServer;
export let repository: string;
export const json = async <T>(route: string): Promise<T> => (await server.send('GET', route)).json() as Promise<T>;
export const mark = async (turn = TURN): Promise<unknown> =>
  (await server.send('POST', '/git/mark', JSON.stringify({ turn }))).json();
export const since = async (turn = TURN, where = 'repository'): Promise<string[]> =>
  (await json<GitChange[]>(`/git/changes?path=${where}&turn=${turn}`))
    .map(({ status, path: name }) => `${status} ${name}`)
    .sort();
export const write = (name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
  writeFileSync(path.join(repository, name), text);
};
export const commit = (subject: string): string => {
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', subject, '--allow-empty');
  return git(repository, 'rev-parse', 'HEAD').trim();
};
/** All that a user or `git push --mirror` could see of the repository but its worktree. */
export const inside = (): unknown => [
  git(repository, 'ls-files', '-s', '-z'),
  git(repository, 'count-objects'),
  git(repository, 'for-each-ref'),
  git(repository, 'stash', 'list'),
  readdirSync(path.join(repository, '.git')).sort(),
];

/** An action-server whose workspace has one repository, made anew for each test. */
export function setUpRepository(): void {
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
}
