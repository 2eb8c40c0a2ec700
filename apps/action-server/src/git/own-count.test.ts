import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GitChange } from '@slipway/contracts/agent';
import fc from 'fast-check';
import { type RunningServer, startActionServer } from '../testing/running-server.js';

const git = (cwd: string, ...args: string[]): Buffer =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  });

const content = fc.oneof(
  fc.constantFrom(
    '',
    '\n',
    'one\n',
    'no end',
    'a\r\nb\r\n',
    '\ufeffbom\n',
    'x\n'.repeat(500),
    `${'y'.repeat(7_999)}\0`,
    `${'y'.repeat(8_001)}\0`,
    '\n'.repeat(70_000),
  ),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);
const name = fc.constantFrom(
  'a.txt',
  'deep/er/b.txt',
  'é ü.txt',
  'tab\tname',
  'line\nbreak',
  'quote".txt',
  'data.dat',
  'kept.svg',
  'stored.lfs',
  'windows.utf16',
);
const file = fc.record({ name, content, link: fc.boolean() });

describe('files that git does not know', () => {
  let directory: string;
  let server: RunningServer;
  beforeAll(async () => {
    server = await startActionServer();
    directory = server.workspace;
  });
  afterAll(() => server.close());

  /** 250 files that are the least interesting, so that there are many, and those that are given. */
  const made = (
    label: string,
    files: ReadonlyArray<{ name: string; content: string | Buffer; link: boolean }>,
    attributes: string,
  ): string => {
    const repository = path.join(directory, label);
    mkdirSync(repository, { recursive: true });
    git(repository, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(repository, 'known.txt'), 'one\ntwo\n');
    writeFileSync(path.join(repository, '.gitattributes'), attributes);
    git(repository, 'add', '.');
    git(repository, 'commit', '-qm', 'first');
    mkdirSync(path.join(repository, 'many'));
    for (let index = 0; index < 250; index += 1)
      writeFileSync(path.join(repository, `many/${index}`), 'x\n'.repeat(index % 7));
    for (const { name, content, link } of files) {
      const place = path.join(repository, name);
      mkdirSync(path.dirname(place), { recursive: true });
      rmSync(place, { force: true });
      if (link) symlinkSync('some\nwhere', place);
      else writeFileSync(place, content);
    }
    return repository;
  };
  const listed = async (label: string): Promise<GitChange[]> =>
    (await (await server.send('GET', `/git/changes?path=${label}`)).json()) as GitChange[];
  /** As git itself reports it of everything that is added. */
  const byGit = (repository: string): Array<[string, number, number, boolean]> => {
    git(repository, 'add', '-A');
    const fields = git(repository, 'diff', '--cached', '--numstat', '-z', '--no-renames', '--no-textconv', 'HEAD')
      .toString()
      .split('\0')
      .slice(0, -1);
    return fields
      .map((field): [string, number, number, boolean] => {
        const [added = '', deleted = '', ...rest] = field.split('\t');
        return [rest.join('\t'), Number(added) || 0, Number(deleted) || 0, added === '-'];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1));
  };
  const plain = (changes: readonly GitChange[]) =>
    changes
      .map(({ path: where, additions, deletions, binary }) => [where, additions, deletions, binary])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

  it('are reported with the lines that git counts, whatever is in them and whatever attributes say of them', async () => {
    let round = 0;
    const attributes = fc.constantFrom(
      '',
      '* text=auto\n',
      '*.dat -diff\n*.svg diff\n',
      '*.lfs filter=lfs diff=lfs -text\n*.utf16 working-tree-encoding=UTF-16\n',
      '* -diff\n',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 12 }), attributes, async (files, text) => {
        round += 1;
        // What cannot be read as what the attributes call it git does not add.
        const kept = text.includes('UTF-16') ? files.filter((each) => !each.name.endsWith('.utf16')) : files;
        const repository = made(`round-${round}`, kept, text);
        const changes = await listed(`round-${round}`);
        expect(changes.every(({ status }) => status === 'ADDED')).toBe(true);
        expect(plain(changes)).toEqual(byGit(repository));
        rmSync(repository, { recursive: true });
      }),
      { numRuns: 12 },
    );
  });

  it('are known for what was there before, under the same name or another', async () => {
    const repository = made('before', [], '');
    git(repository, 'mv', 'known.txt', 'staged.txt');
    writeFileSync(path.join(repository, 'also.txt'), 'three\nfour\nfive\n');
    git(repository, 'add', 'also.txt');
    git(repository, 'commit', '-qm', 'second');
    git(repository, 'rm', '-q', '--cached', 'also.txt');
    rmSync(path.join(repository, 'staged.txt'));
    writeFileSync(path.join(repository, 'moved.txt'), 'one\ntwo\n');
    const changes = (await listed('before')).filter(({ path: where }) => !where.startsWith('many/'));
    expect(changes).toEqual([
      {
        status: 'MOVED',
        path: 'moved.txt',
        additions: 0,
        deletions: 0,
        binary: false,
        hash: '100644.814f4a422927b82f5f8a43f8',
      },
    ]);
  });
});
