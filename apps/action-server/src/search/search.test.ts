import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  GlobAction,
  GlobObservation,
  GrepAction,
  GrepObservation,
  ListDirectoryAction,
  ListDirectoryObservation,
  MAX_OBSERVATION_LENGTH,
} from '@slipway/contracts/actions';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { textOf } from '../testing/running-server.js';
import { NO_RIPGREP, Search } from './search.js';

describe('looking around in files', () => {
  let folder: string;
  let search: Search;
  const never = new AbortController().signal;
  const at = (name: string): string => path.join(folder, name);
  const put = (name: string, content: string | Buffer, age = 0): void => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    utimesSync(at(name), 1_700_000_000 - age, 1_700_000_000 - age);
  };
  const glob = async (pattern: string, more: Record<string, unknown> = {}) =>
    GlobObservation.parse(await search.glob(GlobAction.parse({ kind: 'GlobAction', pattern, ...more }), never));
  const grep = async (pattern: string, more: Record<string, unknown> = {}) =>
    GrepObservation.parse(await search.grep(GrepAction.parse({ kind: 'GrepAction', pattern, ...more }), never));
  const list = async (more: Record<string, unknown> = {}) =>
    ListDirectoryObservation.parse(
      await search.list(ListDirectoryAction.parse({ kind: 'ListDirectoryAction', ...more }), never),
    );
  const names = (files: readonly string[]): string[] => files.map((file) => path.relative(folder, file));

  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-search-'));
    search = new Search({ environment: new ShellEnvironment(process.env), directory: () => folder });
    put('.gitignore', 'ignored/\n*.log\n');
    put('src/a.ts', 'const needle = 1;\nnothing\nneedle again\n', 30);
    put('src/deep/b.tsx', 'Needle\n', 20);
    put('src/c.py', 'needle = 2\n', 10);
    put('ignored/d.ts', 'needle\n');
    put('noise.log', 'needle\n');
    put('.github/e.ts', 'needle\n', 40);
    put('.git/f.ts', 'needle\n');
    put('binary.ts', Buffer.from('needle\0\u0001'), 50);
    put('latin.txt', Buffer.from([0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65, 0xe9, 0x0a]), 60);
    put('a name\nwith lines.ts', 'empty', 70);
    put('long.txt', `needle ${'x'.repeat(100_000)}\n`, 80);
    symlinkSync('src', at('link'));
    symlinkSync('/nowhere/at/all', at('dangling'));
    execFileSync('mkfifo', [at('pipe')]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe('glob', () => {
    it('finds files at every depth, the newest first, hidden ones too, and neither ignored ones nor git’s own', async () => {
      const found = await glob('*.{ts,tsx}');
      expect(names(found.files)).toEqual([
        'src/deep/b.tsx',
        'src/a.ts',
        '.github/e.ts',
        'binary.ts',
        'a name\nwith lines.ts',
      ]);
      expect(found).toMatchObject({ is_error: false, pattern: '*.{ts,tsx}', search_path: folder, truncated: false });
      expect(textOf(found)).toContain(at('src/a.ts'));
    });

    it('takes a pattern with folders from the directory on, absolute patterns, and what is asked for by name though it is ignored', async () => {
      expect(names((await glob('src/*.ts')).files)).toEqual(['src/a.ts']);
      expect(names((await glob('**/deep/*')).files)).toEqual(['src/deep/b.tsx']);
      expect(names((await glob(`${folder}/src/**/*.tsx`)).files)).toEqual(['src/deep/b.tsx']);
      expect(names((await glob('*.py', { path: 'src' })).files)).toEqual(['src/c.py']);
      expect(names((await glob('../**/*.py', { path: at('src/deep') })).files)).toEqual(['src/c.py']);
      expect(names((await glob('ignored/*')).files)).toEqual(['ignored/d.ts']);
      expect(textOf(await glob('nowhere/*.ts'))).toContain('No files match');
    });

    it('lists at most 100 files and says so', async () => {
      for (let index = 0; index < 150; index++) put(`many/${index}.dat`, '', index);
      const found = await glob('*.dat');
      expect([found.files.length, found.truncated]).toEqual([100, true]);
      expect(names(found.files)[0]).toBe('many/0.dat');
      expect(textOf(found)).toContain('150 match');
    });
  });

  describe('grep', () => {
    it('shows lines with their numbers by file, reads Latin-1, and passes over binary and ignored files', async () => {
      const found = await grep('needle');
      expect(names(found.matches)).toEqual(['.github/e.ts', 'latin.txt', 'long.txt', 'src/a.ts', 'src/c.py']);
      expect(textOf(found)).toContain(`${at('src/a.ts')}\n  1: const needle = 1;\n  3: needle again`);
      expect(textOf(found).length).toBeLessThan(3_000);
      expect(names((await grep('needle', { include: '*.{py,tsx}' })).matches)).toEqual(['src/c.py']);
      expect(names((await grep('needle', { include: 'src/**/*.ts' })).matches)).toEqual(['src/a.ts']);
      expect(names((await grep('^needle', { path: at('src/a.ts') })).matches)).toEqual(['src/a.ts']);
      expect(names((await grep('(?i)^needle$')).matches)).toEqual(['.github/e.ts', 'src/deep/b.tsx']);
      expect(textOf(await grep('not there at all'))).toContain('No line matches');
      expect(names((await grep('-n', { path: 'src' })).matches)).toEqual([]);
    });

    it('shows at most 100 lines and what an observation may hold, and says so', async () => {
      put('flood.txt', 'flood of lines\n'.repeat(100_000));
      put('flood2.txt', `${'flood '.repeat(60)}\n`.repeat(100));
      const found = await grep('flood');
      expect(found.truncated).toBe(true);
      expect(textOf(found)).toContain('Only the first');
      expect(
        textOf(found)
          .split('\n')
          .filter((line) => line.startsWith('  ')).length,
      ).toBeLessThanOrEqual(100);
      expect(textOf(await grep('flood', { path: 'flood2.txt' })).length).toBeLessThanOrEqual(MAX_OBSERVATION_LENGTH);
    });

    it('answers a pattern that is no regular expression with what is wrong with it', async () => {
      const refused = await grep('(unclosed');
      expect(refused).toMatchObject({ is_error: true, error_code: 'request.invalid', matches: [] });
      expect(textOf(refused)).toContain('regex parse error');
    });
  });

  describe('list', () => {
    it('names what is there with its kind, opens nothing, and goes one level below when asked', async () => {
      const flat = await list();
      const text = textOf(flat);
      for (const line of [
        'src/',
        'link/ -> src',
        'dangling -> /nowhere/at/all',
        'pipe (pipe)',
        '.gitignore (15 bytes)',
      ])
        expect(text).toContain(line);
      expect(flat.entries.find(({ name }) => name === 'src')).toMatchObject({
        path: at('src'),
        is_directory: true,
        size: 0,
      });
      expect(text).not.toContain('a.ts (');
      const deep = await list({ dir_path: folder, recursive: true });
      expect(textOf(deep)).toContain('src/a.ts (');
      expect(textOf(deep)).not.toContain('b.tsx');
    });

    it('lists at most 500 entries and says how many there are', async () => {
      mkdirSync(at('crowd'));
      for (let index = 0; index < 700; index++) writeFileSync(at(`crowd/${index}`), '');
      const crowd = await list({ dir_path: 'crowd' });
      expect([crowd.entries.length, crowd.total_count, crowd.is_truncated]).toEqual([500, 700, true]);
      expect(textOf(crowd)).toContain('500 of 700');
    });
  });

  it('answers a missing place, a file, a pipe, a device and a NUL with a sentence and a code', async () => {
    for (const place of [
      'missing',
      '../../missing',
      'src/a.ts/b',
      'pipe',
      '/dev/null',
      'dangling',
      'a\0b',
      'x'.repeat(4_000),
    ]) {
      for (const answer of [
        await glob('*', { path: place }),
        await grep('x', { path: place }),
        await list({ dir_path: place }),
      ]) {
        expect([place, answer.is_error, typeof answer['error_code']]).toEqual([place, true, 'string']);
        expect(textOf(answer).length).toBeGreaterThan(10);
      }
    }
    expect((await glob('x', { path: 'src/a.ts' })).is_error).toBe(true);
    expect((await glob('{a,b}'.repeat(20))).is_error).toBe(true);
    expect((await grep('x', { include: '{a,b}'.repeat(20) })).is_error).toBe(true);
    expect((await grep('a\0b')).is_error).toBe(true);
  });

  it('ends with its request', async () => {
    const abort = new AbortController();
    const asked = search.grep(GrepAction.parse({ kind: 'GrepAction', pattern: 'x', path: '/' }), abort.signal);
    abort.abort(new Error('not wanted any more'));
    await expect(asked).rejects.toThrow('not wanted any more');
  });

  it('says in one sentence that there is no ripgrep, where there is none', async () => {
    const { missing } = search;
    expect(missing).toBeNull();
    expect(NO_RIPGREP).toContain('ripgrep');
  });
});
