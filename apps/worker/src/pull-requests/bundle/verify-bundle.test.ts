import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { BUNDLE_REF } from '@slipway/contracts/repositories';
import { BUNDLE_LIMITS } from './read-bundle.js';
import { verifyBundle } from './verify-bundle.js';

const NEVER = new AbortController().signal;
const BASE = 'b'.repeat(40);
const WHO = 'A <a@example> 1760000000 +0000';

interface Made {
  readonly type: number;
  readonly name: 'commit' | 'tree' | 'blob';
  readonly content: Buffer;
}
const hashOf = ({ name, content }: Made): string =>
  createHash('sha1').update(`${name} ${content.length}\0`).update(content).digest('hex');
const blob = (content: string | Buffer): Made => ({ type: 3, name: 'blob', content: Buffer.from(content) });
const tree = (...entries: readonly (readonly [mode: string, name: string, hash: string])[]): Made => ({
  type: 2,
  name: 'tree',
  content: Buffer.concat(
    entries.map(([mode, name, hash]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(hash, 'hex')])),
  ),
});
const commit = (of: Made, parents: readonly string[] = [BASE], who = WHO): Made => ({
  type: 1,
  name: 'commit',
  content: Buffer.from(
    `tree ${hashOf(of)}\n${parents.map((each) => `parent ${each}\n`).join('')}author ${who}\ncommitter ${who}\n\nmade\n`,
  ),
});

function entry(type: number, size: number, body: Buffer): Buffer {
  const head: number[] = [];
  let byte = (type << 4) | (size & 15);
  for (let rest = Math.floor(size / 16); ; rest = Math.floor(rest / 128)) {
    if (rest === 0) {
      head.push(byte);
      break;
    }
    head.push(byte | 128);
    byte = rest & 127;
  }
  return Buffer.concat([Buffer.from(head), body]);
}

function pack(entries: readonly Buffer[], count = entries.length): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const all = Buffer.concat([head, ...entries]);
  return Buffer.concat([all, createHash('sha1').update(all).digest()]);
}
const packOf = (objects: readonly Made[]): Buffer =>
  pack(objects.map(({ type, content }) => entry(type, content.length, deflateSync(content, { level: 1 }))));
const bundle = (head: string, packed: Buffer, lines = `-${BASE}\n${head} ${BUNDLE_REF}\n`): Buffer =>
  Buffer.concat([Buffer.from(`# v2 git bundle\n${lines}\n`), packed]);
const verify = (bytes: Buffer, base = BASE): ReturnType<typeof verifyBundle> => verifyBundle(bytes, base, NEVER);

/** A branch of one commit with this folder. */
const branch = (folder: Made, ...more: Made[]): Buffer => {
  const made = commit(folder);
  return bundle(hashOf(made), packOf([made, folder, ...more]));
};
const code = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'taken',
    (error: { code?: string; detail?: string }) => `${error.code}: ${error.detail}`,
  );

describe('a bundle of a sandbox', () => {
  it('is taken as git makes it, with deltas switched off', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-bundle-'));
    try {
      const git = (...args: string[]): Buffer =>
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
          cwd: folder,
          env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
        });
      git('init', '-q');
      git('commit', '-q', '--allow-empty', '-m', 'base');
      const base = git('rev-parse', 'HEAD').toString().trim();
      for (let index = 0; index < 10; index += 1) {
        mkdirSync(path.join(folder, `dir-${index}`));
        writeFileSync(path.join(folder, `dir-${index}/file`), 'text\n'.repeat(index * 100));
        writeFileSync(path.join(folder, 'a.txt'), `${index}`);
        git('add', '-A');
        git('commit', '-qm', `commit ${index}`);
      }
      git('branch', 'slipway');
      git('-c', 'pack.window=0', 'bundle', 'create', '-q', path.join(folder, '../x.bundle'), `${base}..slipway`);
      const bytes = readFileSync(path.join(folder, '../x.bundle'));
      const made = await verifyBundle(bytes, base, NEVER);
      expect([made.head, made.commits, made.tree]).toEqual([
        git('rev-parse', 'HEAD').toString().trim(),
        10,
        git('rev-parse', 'HEAD^{tree}').toString().trim(),
      ]);
      expect(made.folder(made.tree)?.map(({ name }) => name)).toContain('dir-3');
      expect([made.standsOn(base), made.standsOn(BASE)]).toEqual([true, false]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  const file = blob('text\n');
  const plain = tree(['100644', 'a.txt', hashOf(file)]);

  it('is one branch that goes back to the commit that the work began from', async () => {
    const made = commit(plain);
    const packed = packOf([made, plain, file]);
    expect(await code(verify(bundle(hashOf(made), packed)))).toBe('taken');
    const refused: Record<string, Buffer> = {
      'adversary: another ref beside it': bundle(
        hashOf(made),
        packed,
        `-${BASE}\n${hashOf(made)} ${BUNDLE_REF}\n${hashOf(made)} refs/heads/main\n`,
      ),
      'adversary: a ref outside': bundle(hashOf(made), packed, `-${BASE}\n${hashOf(made)} refs/../../x\n`),
      'adversary: no ref': bundle(hashOf(made), packed, `-${BASE}\n`),
      'adversary: another base': bundle(hashOf(made), packed, `-${'c'.repeat(40)}\n${hashOf(made)} ${BUNDLE_REF}\n`),
      'adversary: a capability': bundle(
        hashOf(made),
        packed,
        `@filter=blob:none\n-${BASE}\n${hashOf(made)} ${BUNDLE_REF}\n`,
      ),
      'adversary: a head that is not there': bundle('d'.repeat(40), packed),
      'adversary: no bundle': Buffer.from('hello'),
      'adversary: nothing': Buffer.alloc(0),
    };
    for (const [name, bytes] of Object.entries(refused))
      expect([name, await code(verify(bytes))]).toEqual([name, expect.stringMatching(/^pull-request\.unsound/)]);
  });

  it('adversary: a branch with a new root, or on an unknown commit, is refused', async () => {
    for (const parents of [[], ['e'.repeat(40)]]) {
      const made = commit(plain, parents);
      expect(await code(verify(bundle(hashOf(made), packOf([made, plain, file]))))).toMatch(/unsound/);
    }
    // A base that is named and not reached.
    const other = 'f'.repeat(40);
    const made = commit(plain, [other]);
    expect(
      await code(
        verify(
          bundle(hashOf(made), packOf([made, plain, file]), `-${BASE}\n-${other}\n${hashOf(made)} ${BUNDLE_REF}\n`),
        ),
      ),
    ).toMatch(/unsound: The branch does not go back/);
  });

  it('adversary: names that take the place of .git, in every spelling, are refused', async () => {
    for (const name of [
      '.git',
      '.GIT',
      '.git ',
      '.git.',
      'git~1',
      '.g\u200cit',
      '.git::$INDEX_ALLOCATION',
      'a\\.git',
      '..',
      '.',
      '',
    ])
      for (const mode of ['40000', '100644', '120000'])
        expect([name, mode, await code(verify(branch(tree([mode, name, hashOf(file)]))))]).toEqual([
          name,
          mode,
          expect.stringMatching(/unsound/),
        ]);
    expect(await code(verify(branch(tree(['120000', '.gitmodules', hashOf(file)]), file)))).toMatch(
      /unsound: .gitmodules is a link/,
    );
    expect(await code(verify(branch(tree(['100644', '.gitignore', hashOf(file)]), file)))).toBe('taken');
  });

  it('adversary: a submodule that starts a program or leads out of the checkout is refused, wherever its folder stands', async () => {
    const modules = (text: string): Buffer => {
      const content = blob(text);
      const inner = tree(['100644', '.gitmodules', hashOf(content)]);
      return branch(tree(['40000', 'sub', hashOf(inner)]), inner, content);
    };
    for (const line of [
      'url = ext::sh -c touch% /tmp/x',
      'url = "-u./payload"',
      'url = file:///etc',
      'url = /etc',
      'update = !sh',
      'path = ../x',
      'path = -x',
      'url = \\',
    ])
      expect([line, await code(verify(modules(`[submodule "a"]\n\t${line}\n`)))]).toEqual([
        line,
        expect.stringMatching(/unsound/),
      ]);
    expect(await code(verify(modules('[submodule "../../hooks"]\n\turl = https://example.com/a\n')))).toMatch(
      /unsound/,
    );
    expect(await code(verify(modules('[submodule "a"]\n\turl = https://example.com/a.git\n\tpath = a\n')))).toBe(
      'taken',
    );
  });

  it('adversary: what git calls broken is refused', async () => {
    const broken: Record<string, Buffer> = {
      'names out of order': branch(tree(['100644', 'b', hashOf(file)], ['100644', 'a', hashOf(file)]), file),
      'a name twice': branch(tree(['100644', 'a', hashOf(file)], ['100644', 'a', hashOf(file)]), file),
      'a mode that is none': branch(tree(['140000', 'a', hashOf(file)]), file),
      'a name with a slash': branch(tree(['100644', 'a/b', hashOf(file)]), file),
      'a folder that ends early': branch({ ...plain, content: plain.content.subarray(0, -1) }, file),
      'a file that is a commit': branch(tree(['100644', 'a', hashOf(commit(plain))]), commit(plain), plain, file),
      'objects that nobody needs': branch(plain, file, blob('more')),
      'an author who breaks the line': ((made) => bundle(hashOf(made), packOf([made, plain, file])))(
        commit(plain, [BASE], 'A <a> 1 +0000\nx <b> 1'),
      ),
    };
    for (const [name, bytes] of Object.entries(broken))
      expect([name, await code(verify(bytes))]).toEqual([name, expect.stringMatching(/unsound/)]);
  });

  it('adversary: packs that lie about themselves are refused', async () => {
    const made = commit(plain);
    const good = [made, plain, file];
    const body = (each: Made): Buffer => deflateSync(each.content);
    const lies: Record<string, Buffer> = {
      'more objects than there are': pack(
        good.map((each) => entry(each.type, each.content.length, body(each))),
        4,
      ),
      'fewer objects than there are': pack(
        good.map((each) => entry(each.type, each.content.length, body(each))),
        2,
      ),
      'an object that is longer than it says': pack([
        ...[made, plain].map((each) => entry(each.type, each.content.length, body(each))),
        entry(3, 2, body(file)),
      ]),
      'an object that is shorter than it says': pack([
        ...[made, plain].map((each) => entry(each.type, each.content.length, body(each))),
        entry(3, 900, body(file)),
      ]),
      'a delta': pack([
        ...[made, plain].map((each) => entry(each.type, each.content.length, body(each))),
        entry(7, 5, Buffer.concat([Buffer.alloc(20), body(file)])),
      ]),
      'a tag': pack([
        ...[made, plain].map((each) => entry(each.type, each.content.length, body(each))),
        entry(4, 5, body(file)),
      ]),
      'bytes that are no zlib': pack([
        ...[made, plain].map((each) => entry(each.type, each.content.length, body(each))),
        entry(3, 5, Buffer.from('hello')),
      ]),
      'a hash that is not its own': Buffer.concat([packOf(good).subarray(0, -1), Buffer.from([0])]),
    };
    for (const [name, packed] of Object.entries(lies))
      expect([name, await code(verify(bundle(hashOf(made), packed)))]).toEqual([
        name,
        expect.stringMatching(/unsound/),
      ]);
  });

  it('adversary: folders of more names than are held are refused, and other work goes on meanwhile', async () => {
    const names = (count: number): Made => ({
      type: 2,
      name: 'tree',
      content: Buffer.from(
        Array.from(
          { length: count },
          (_, index) => `100644 f${String(index).padStart(7, '0')}\0${'b'.repeat(20)}`,
        ).join(''),
      ),
    });
    const many = [names(BUNDLE_LIMITS.entries / 2), names(BUNDLE_LIMITS.entries / 2 - 1)] as const;
    const root = tree(['40000', 'a', hashOf(many[0])], ['40000', 'b', hashOf(many[1])]);
    const made = commit(root);
    const bomb = bundle(hashOf(made), packOf([made, root, ...many]));
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await expect(verify(bomb)).rejects.toMatchObject({ code: 'pull-request.too-large' });
    clearImmediate(next);
    expect(turns).toBeGreaterThan(3);
  });

  it('adversary: too much is refused without being inflated', async () => {
    const made = commit(plain);
    const huge = entry(3, BUNDLE_LIMITS.object + 1, deflateSync(Buffer.alloc(100)));
    expect(await code(verify(bundle(hashOf(made), pack([huge]))))).toMatch(/^pull-request\.too-large/);
    expect(await code(verify(bundle(hashOf(made), pack([], BUNDLE_LIMITS.objects + 1))))).toMatch(
      /^pull-request\.too-large/,
    );
    // A hundred kilobytes that inflate to 400 MB.
    const bombs = Array.from({ length: 13 }, () => entry(3, BUNDLE_LIMITS.object, BOMB));
    expect(await code(verify(bundle(hashOf(made), pack(bombs))))).toMatch(/^pull-request\.too-large/);
  });
});

const BOMB = deflateSync(Buffer.alloc(BUNDLE_LIMITS.object));
