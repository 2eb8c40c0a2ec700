import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import {
  commit,
  git,
  inside,
  json,
  mark,
  OTHER_TURN,
  repository,
  server,
  setUpRepository,
  since,
  TURN,
  write,
} from '../testing/repository-setup.js';
import { type RunningServer, startActionServer } from '../testing/running-server.js';
import { listChanges } from './changes.js';
import { TurnMarks } from './turn-marks.js';

describe('changes of a workspace since the last turn', () => {
  setUpRepository();

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
      expect(await json('/git/changes?path=repository')).toMatchObject([
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
});
