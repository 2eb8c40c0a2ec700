import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type RunningServer, startActionServer } from '../testing/running-server.js';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  });

/** Every file that git does not ignore, with its content and mode: what two checkouts must have alike. */
function treeOf(root: string, folder = ''): Record<string, string> {
  return Object.fromEntries(
    readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const name = path.join(folder, entry.name);
      if (name === '.git' || entry.name.endsWith('.ignored')) return [];
      if (entry.isDirectory()) return Object.entries(treeOf(root, name));
      const full = path.join(root, name);
      if (entry.isSymbolicLink()) return [[name, `link ${readlinkSync(full)}`]];
      return [
        [
          name,
          `${(lstatSync(full).mode & 0o100) === 0 ? '-' : 'x'} ${createHash('sha1').update(readFileSync(full)).digest('hex')}`,
        ],
      ];
    }),
  );
}

const NAMES = [
  'a.txt',
  'b/c.txt',
  'b/with space',
  'é ü.txt',
  'quote".txt',
  'tab\tname',
  '-dash',
  'deep/er/still.bin',
  'x.ignored',
  'line\nbreak',
];
const content = fc.oneof(
  fc.constantFrom('', 'one\n', 'no newline', 'a\r\nb\r\n', 'x\n'.repeat(50), '\ufeffbom\n'),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);
const name = fc.constantFrom(...NAMES);
const edit = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), name, content }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('move' as const), name, to: name }),
  fc.record({ kind: fc.constant('mode' as const), name }),
  fc.record({ kind: fc.constant('link' as const), name }),
  fc.record({ kind: fc.constant('stage' as const) }),
  fc.record({ kind: fc.constant('commit' as const) }),
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function apply(root: string, step: Edit): void {
  if (step.kind === 'stage') return void git(root, 'add', '-A');
  if (step.kind === 'commit') return void git(root, 'commit', '-aqm', 'step', '--allow-empty');
  const full = path.join(root, step.name);
  const there = lstatSync(full, { throwIfNoEntry: false })?.isDirectory() === false;
  if (step.kind === 'remove') return void (there && rmSync(full));
  if (step.kind === 'mode')
    return void (there && !lstatSync(full).isSymbolicLink() && execFileSync('chmod', ['+x', '--', full]));
  mkdirSync(path.dirname(full), { recursive: true });
  if (step.kind === 'write') {
    if (there) rmSync(full);
    writeFileSync(full, step.content);
  } else if (step.kind === 'link') {
    if (!there) symlinkSync('somewhere/else', full);
  } else if (there && step.to !== step.name) {
    mkdirSync(path.dirname(path.join(root, step.to)), { recursive: true });
    renameSync(full, path.join(root, step.to));
  }
}

describe('changes and patches of a repository', () => {
  let server: RunningServer;
  let repository: string;
  let base: string;
  const get = (route: string): Promise<Response> => server.send('GET', route);
  const patchOf = async (more = ''): Promise<Buffer> => {
    const response = await get(`/git/patch?path=repository&base=${base}${more}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/x-diff; charset=utf-8']);
    return Buffer.from(await response.arrayBuffer());
  };
  const fresh = (): void => {
    rmSync(repository, { recursive: true, force: true });
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(repository, '.gitignore'), '*.ignored\n');
    writeFileSync(path.join(repository, 'a.txt'), 'one\ntwo\nthree\n');
    mkdirSync(path.join(repository, 'b'));
    writeFileSync(path.join(repository, 'b/c.txt'), 'x\n'.repeat(50));
    writeFileSync(
      path.join(repository, 'picture.bin'),
      Buffer.from(Array.from({ length: 2000 }, (_, index) => index % 251)),
    );
    git(repository, 'add', '-A');
    git(repository, 'commit', '-qm', 'base');
    base = git(repository, 'rev-parse', 'HEAD').trim();
  };
  const clean = (): string => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-clean-'));
    git(folder, 'clone', '-q', repository, 'clone');
    git(path.join(folder, 'clone'), 'checkout', '-q', base);
    return path.join(folder, 'clone');
  };
  beforeAll(async () => {
    server = await startActionServer();
    repository = path.join(server.workspace, 'repository');
  });
  afterAll(() => server.close());

  it('sees no repository around the workspace, and marks nothing as ignored by one', async () => {
    const around = path.dirname(server.workspace);
    git(around, 'init', '-q');
    try {
      writeFileSync(path.join(around, '.gitignore'), 'workspace/\n');
      const seen = await server.terminal(
        `cd ${server.workspace} && git rev-parse --show-toplevel; git check-ignore ./x; echo "code $?"`,
      );
      expect(JSON.stringify(seen.content)).toContain('not a git repository');
      expect(JSON.stringify(seen.content)).toContain('code 128');
    } finally {
      for (const made of ['.git', '.gitignore']) rmSync(path.join(around, made), { recursive: true });
    }
  });

  it('gives a patch that makes a clean checkout of the base into the same tree, whatever was edited, staged or committed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { maxLength: 8 }), async (steps) => {
        fresh();
        for (const step of steps) apply(repository, step);
        const index = git(repository, 'ls-files', '-s', '-z');
        const objects = git(repository, 'count-objects');
        const patch = await patchOf();
        expect(git(repository, 'ls-files', '-s', '-z')).toBe(index);
        expect(git(repository, 'count-objects')).toBe(objects);
        const checkout = clean();
        try {
          writeFileSync(path.join(checkout, '..', 'patch'), patch);
          if (patch.length > 0) git(checkout, 'apply', '--whitespace=nowarn', '../patch');
          expect(treeOf(checkout)).toEqual(treeOf(repository));
        } finally {
          rmSync(path.dirname(checkout), { recursive: true });
        }
      }),
      { numRuns: 25 },
    );
  });

  it('lists what changed, with lines, binary files and renames', async () => {
    fresh();
    writeFileSync(path.join(repository, 'a.txt'), 'one\nzwei\nthree\nfour\n');
    renameSync(path.join(repository, 'b/c.txt'), path.join(repository, 'b/moved.txt'));
    rmSync(path.join(repository, '.gitignore'));
    writeFileSync(path.join(repository, 'new\tname.txt'), 'x\n');
    writeFileSync(path.join(repository, 'picture.bin'), Buffer.from([0, 1]));
    const changes = (await (await get(`/git/changes?path=repository&base=${base}`)).json()) as Array<{
      path: string;
      hash?: string;
    }>;
    expect(new Set(changes.map(({ hash }) => hash)).size).toBe(5);
    expect(changes.sort((a, b) => (a.path < b.path ? -1 : 1)).map(({ hash: _, ...change }) => change)).toEqual([
      { path: '.gitignore', status: 'DELETED', additions: 0, deletions: 1, binary: false },
      { path: 'a.txt', status: 'UPDATED', additions: 2, deletions: 1, binary: false },
      { path: 'b/moved.txt', status: 'MOVED', additions: 0, deletions: 0, binary: false },
      { path: 'new\tname.txt', status: 'ADDED', additions: 1, deletions: 0, binary: false },
      { path: 'picture.bin', status: 'UPDATED', additions: 0, deletions: 0, binary: true },
    ]);
    expect((await patchOf('&file=a.txt')).toString()).toContain('+zwei');
    expect((await patchOf('&file=a.txt')).toString()).not.toContain('moved');
  });

  it('gives both sides of one file, and typed failures for binary and large ones', async () => {
    fresh();
    writeFileSync(path.join(repository, 'a.txt'), 'changed\n');
    writeFileSync(path.join(repository, 'new.txt'), 'new\n');
    rmSync(path.join(repository, 'b'), { recursive: true });
    writeFileSync(path.join(repository, 'large.txt'), 'x'.repeat(11 * 1024 * 1024));
    const diff = async (file: string): Promise<unknown> =>
      (await get(`/git/diff?path=repository/${file}&base=${base}`)).json();
    expect(await diff('a.txt')).toEqual({ original: 'one\ntwo\nthree\n', modified: 'changed\n' });
    expect(await diff('new.txt')).toEqual({ original: null, modified: 'new\n' });
    expect(await diff('b/c.txt')).toEqual({ original: 'x\n'.repeat(50), modified: null });
    expect(await diff('picture.bin')).toMatchObject({ code: 'file.binary' });
    expect(await diff('large.txt')).toMatchObject({ code: 'file.too-large' });
    expect(await diff('nowhere')).toMatchObject({ code: 'file.not-found' });
  });

  it('refuses a patch before its first byte when what is added as text is larger than its reader takes, and no other', async () => {
    fresh();
    const refused = async (bytes: number): Promise<unknown> => {
      const response = await get(`/git/patch?path=repository&base=${base}&max_bytes=${bytes}`);
      return response.status === 200
        ? (await response.arrayBuffer()).byteLength > 0
        : ((await response.json()) as { code: string }).code;
    };
    writeFileSync(path.join(repository, 'large.txt'), 'a line\n'.repeat(100_000));
    expect([await refused(600_000), await refused(700_001)]).toEqual(['file.too-large', true]);
    // Of a binary file the size of its text is known only when it is made.
    writeFileSync(path.join(repository, 'large.txt'), Buffer.alloc(700_000));
    expect(await refused(600_000)).toBe(true);
  });

  it('leaves out a repository inside the repository, and works before the first commit', async () => {
    fresh();
    mkdirSync(path.join(repository, 'inner'));
    git(path.join(repository, 'inner'), 'init', '-q');
    writeFileSync(path.join(repository, 'inner/file'), 'x');
    expect((await patchOf()).length).toBe(0);
    const empty = path.join(server.workspace, 'empty');
    mkdirSync(empty);
    git(empty, 'init', '-q');
    writeFileSync(path.join(empty, 'first.txt'), 'x\n');
    expect(await (await get('/git/changes?path=empty')).json()).toMatchObject([{ path: 'first.txt', status: 'ADDED' }]);
  });

  it('is not led by the repository’s own configuration', async () => {
    fresh();
    for (const [key, value] of [
      ['diff.external', '/bin/false'],
      ['diff.noprefix', 'true'],
      ['color.ui', 'always'],
      ['core.fsmonitor', '/bin/false'],
      ['diff.mnemonicPrefix', 'true'],
      ['core.quotePath', 'true'],
      ['diff.renames', 'false'],
      ['diff.orderFile', '/nowhere'],
    ])
      git(repository, 'config', key as string, value as string);
    writeFileSync(path.join(repository, 'a.txt'), 'é\n');
    const checkout = clean();
    writeFileSync(path.join(checkout, '..', 'patch'), await patchOf());
    git(checkout, 'apply', '../patch');
    expect(readFileSync(path.join(checkout, 'a.txt'), 'utf8')).toBe('é\n');
  });

  it('says that a folder is no repository, and that a commit is not there', async () => {
    mkdirSync(path.join(server.workspace, 'plain'));
    expect(await (await get('/git/changes?path=plain')).json()).toMatchObject({ code: 'repository.not-found' });
    fresh();
    expect(await (await get('/git/patch?path=repository&base=0000000')).json()).toMatchObject({
      code: 'request.invalid',
    });
    const written = path.join(server.workspace, 'written-by-an-option');
    expect(
      await (await get(`/git/patch?path=repository&base=${encodeURIComponent(`--output=${written}`)}`)).json(),
    ).toMatchObject({ code: 'request.invalid' });
    expect(await (await get('/git/changes?path=/etc')).json()).toMatchObject({ code: 'file.outside-workspace' });
    expect(existsSync(written)).toBe(false);
  });
});
