import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { itUnless } from '@slipway/testing/jest';
import { pack } from 'tar-stream';
import { archiveDirectories } from './archive-directories.js';
import { restoreDirectories } from './restore-directories.js';

const signal = AbortSignal.timeout(60_000);
const bounds = { maxBytes: 2 ** 30, signal };
const root = mkdtempSync(path.join(os.tmpdir(), 'slipway-archive-test-'));
let made = 0;
/** Two directories of a new place, `workspace` and `home`. */
function place(): { workspace: string; home: string } {
  made += 1;
  const [workspace, home] = [path.join(root, `${made}`, 'project'), path.join(root, `${made}`, 'agent')];
  for (const directory of [workspace, home]) mkdirSync(directory, { recursive: true });
  return { workspace, home };
}
const keep = async (directories: Record<string, string>): Promise<Buffer> =>
  buffer((await archiveDirectories(directories, bounds)).stream);
const code = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: { code?: string }) => error.code,
  );

/** Everything that a directory says of what is in it, path by path. */
function described(directory: string): string[] {
  const names = execFileSync('find', ['.', '-mindepth', '1', '-print0'], { cwd: directory, encoding: 'latin1' })
    .split('\0')
    .slice(0, -1);
  return names
    .map((name) => {
      const file = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, 'latin1')]);
      const found = lstatSync(file, { bigint: true });
      const content = found.isFile()
        ? readFileSync(file).toString('base64').slice(0, 200)
        : found.isSymbolicLink()
          ? `-> ${readlinkSync(file)}`
          : '';
      return `${name} ${found.mode.toString(8)} ${found.isSymbolicLink() ? '' : found.mtimeNs} ${found.isDirectory() ? '' : `${found.size} ${found.nlink}`} ${content}`;
    })
    .sort();
}

type Member = { name: string; type?: 'directory' | 'symlink' | 'link'; linkname?: string };

/** An archive from another program, in one frame. */
async function foreign(...entries: Array<[Member, string?]>): Promise<Buffer> {
  const stream = pack();
  for (const [header, content] of entries) stream.entry(header, content ?? '');
  stream.finalize();
  return zstdCompressSync(await buffer(stream));
}

describe('an archive of directories', () => {
  afterAll(() => {
    execFileSync('chmod', ['-R', 'u+rwx', root]);
    rmSync(root, { recursive: true, force: true });
  });

  it('gives back names, contents, modes, times, links, holes and empty directories, whatever was there before', async () => {
    const from = place();
    const at = (...names: string[]): string => path.join(from.workspace, ...names);
    mkdirSync(at('dir', 'empty'), { recursive: true });
    mkdirSync(at('read-only'));
    for (const name of ['plain', 'ünïcödé 😀', 'new\nline', '-rf', ' space ', 'back\\slash', 'x'.repeat(255)])
      writeFileSync(at(name), `content of ${name}`);
    writeFileSync(Buffer.concat([Buffer.from(`${from.workspace}/latin-`), Buffer.from([0xe9])]), 'not UTF-8');
    const deep = Array.from({ length: 30 }, (_, index) => `level-${index}`).join('/');
    mkdirSync(at(deep), { recursive: true });
    writeFileSync(at(deep, 'leaf'), 'deep');
    writeFileSync(at('run.sh'), '#!/bin/sh\n');
    chmodSync(at('run.sh'), 0o755);
    writeFileSync(at('secret'), 's');
    chmodSync(at('secret'), 0o600);
    linkSync(at('plain'), at('dir', 'same as plain'));
    symlinkSync('../plain', at('dir', 'relative'));
    symlinkSync('/etc/passwd', at('absolute'));
    symlinkSync('nowhere/at all', at('dangling'));
    writeFileSync(at('holes'), 'begin');
    truncateSync(at('holes'), 64 * 2 ** 20);
    writeFileSync(at('read-only', 'kept'), 'k');
    chmodSync(at('read-only'), 0o555);
    writeFileSync(path.join(from.home, '.profile'), 'export X=1\n');
    utimesSync(at('plain'), 1_000_000_000.25, 1_000_000_000.25);
    utimesSync(at('dir'), 1_100_000_000, 1_100_000_000);
    const archive = await keep(from);
    const to = place();
    mkdirSync(path.join(to.workspace, 'before', 'closed'), { recursive: true });
    writeFileSync(path.join(to.workspace, 'before', 'closed', 'file'), '');
    chmodSync(path.join(to.workspace, 'before', 'closed'), 0o555);
    symlinkSync(root, path.join(to.workspace, 'dir'));
    for (const _time of [1, 2]) {
      await restoreDirectories(to, Readable.from([archive]), bounds);
      expect(described(to.workspace)).toEqual(described(from.workspace));
      expect(described(to.home)).toEqual(described(from.home));
    }
    expect(statSync(path.join(to.workspace, 'holes')).blocks).toBeLessThan(1_000);
    expect(statSync(path.join(to.workspace, 'plain')).ino).toBe(
      statSync(path.join(to.workspace, 'dir', 'same as plain')).ino,
    );
  });

  it('of nothing is an archive too, and empties what it is put into', async () => {
    const archive = await keep(place());
    const to = place();
    writeFileSync(path.join(to.workspace, 'old'), '');
    await restoreDirectories(to, Readable.from([archive]), bounds);
    expect(readdirSync(to.workspace)).toEqual([]);
  });

  itUnless(process.getuid?.() !== 0 ? 'only root can become a user who may not read' : false)(
    'leaves out sockets, pipes and what may not be read, counts them, and keeps the others',
    async () => {
      const from = place();
      execFileSync('mkfifo', [path.join(from.workspace, 'pipe')]);
      execFileSync('python3', [
        '-c',
        'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])',
        path.join(from.workspace, 'socket'),
      ]);
      writeFileSync(path.join(from.workspace, 'closed'), 'x', { mode: 0o000 });
      mkdirSync(path.join(from.workspace, 'locked'), { mode: 0o700 });
      writeFileSync(path.join(from.workspace, 'locked', 'inside'), 'x');
      writeFileSync(path.join(from.workspace, 'open'), 'x', { mode: 0o644 });
      for (const directory of [root, path.dirname(from.workspace), from.workspace, from.home])
        chmodSync(directory, 0o755);
      const script = `
      import { archiveDirectories } from ${JSON.stringify(new URL('archive-directories.js', import.meta.url).href)};
      import { buffer } from 'node:stream/consumers';
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
      const { skipped, stream } = await archiveDirectories(${JSON.stringify(from)}, { maxBytes: 1e9, signal: AbortSignal.timeout(20000) });
      console.log(JSON.stringify({ skipped, archive: (await buffer(stream)).toString('base64') }));`;
      const { skipped, archive } = JSON.parse(
        execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: '/', encoding: 'utf8' }),
      ) as {
        skipped: number;
        archive: string;
      };
      expect(skipped).toBe(4);
      const to = place();
      await restoreDirectories(to, Readable.from([Buffer.from(archive, 'base64')]), bounds);
      expect(readdirSync(to.workspace)).toEqual(['open']);
    },
  );

  it('that would be too large is refused by its size before it begins; hard links count once, holes not at all', async () => {
    const from = place();
    writeFileSync(path.join(from.workspace, 'large'), Buffer.alloc(3 * 2 ** 20, 1));
    for (let index = 0; index < 50; index += 1)
      linkSync(path.join(from.workspace, 'large'), path.join(from.workspace, `link-${index}`));
    writeFileSync(path.join(from.workspace, 'hole'), '');
    truncateSync(path.join(from.workspace, 'hole'), 2 ** 30);
    await expect(archiveDirectories(from, { maxBytes: 2 * 2 ** 20, signal })).rejects.toMatchObject({
      code: 'sandbox.archive-too-large',
      detail: expect.stringMatching(/The files have 3\.\d MiB; at most 2 MiB are kept/),
    });
    const archive = await buffer((await archiveDirectories(from, { maxBytes: 4 * 2 ** 20, signal })).stream);
    expect(await code(restoreDirectories(place(), Readable.from([archive]), { maxBytes: 2 * 2 ** 20, signal }))).toBe(
      'sandbox.archive-too-large',
    );
  });

  it('that is cut anywhere, altered, empty or no archive rejects', async () => {
    const from = place();
    for (let index = 0; index < 40; index += 1)
      writeFileSync(path.join(from.workspace, `file-${index}`), Buffer.alloc(10_000, index));
    const archive = await keep(from);
    const to = place();
    for (const part of [0, 0.01, 0.3, 0.5, 0.9, 0.99])
      expect([
        part,
        await code(restoreDirectories(to, Readable.from([archive.subarray(0, archive.length * part)]), bounds)),
      ]).toEqual([part, 'sandbox.archive-broken']);
    for (const less of [1, 3, 5])
      expect(await code(restoreDirectories(to, Readable.from([archive.subarray(0, -less)]), bounds))).toBe(
        'sandbox.archive-broken',
      );
    // More than a bit: one alone may mean nothing in a frame, and what comes out would be right.
    const altered = Buffer.from(archive);
    for (let at = archive.length >> 1; at < (archive.length >> 1) + 32; at += 1)
      altered.writeUInt8(altered.readUInt8(at) ^ 0x40, at);
    for (const bad of [
      altered,
      Buffer.from('no archive'),
      zstdCompressSync('no tar'.repeat(500)),
      Buffer.concat([archive, Buffer.from('more')]),
    ])
      expect(await code(restoreDirectories(to, Readable.from([bad]), bounds))).toBe('sandbox.archive-broken');
    const breaking = Readable.from(
      (async function* () {
        yield archive.subarray(0, 500);
        throw new Error('the connection broke');
      })(),
    );
    expect(await code(restoreDirectories(to, breaking, bounds))).toBe('sandbox.archive-broken');
    await restoreDirectories(to, Readable.from([archive]), bounds);
    expect(described(to.workspace)).toEqual(described(from.workspace));
  });

  it('puts nothing outside of its directories, whatever its names and links', async () => {
    const outside = path.join(root, 'outside');
    mkdirSync(outside, { recursive: true });
    const up = '../'.repeat(12);
    const attacks: Array<Array<[Member, string?]>> = [
      [[{ name: `workspace/${up}${outside.slice(1)}/up` }, 'x']],
      [[{ name: `${outside}/absolute` }, 'x']],
      [[{ name: 'workspace/link', type: 'symlink', linkname: outside }], [{ name: 'workspace/link/through' }, 'x']],
      [
        [{ name: 'workspace/a', type: 'symlink', linkname: `${up}${outside.slice(1)}` }],
        [{ name: 'workspace/a/through' }, 'x'],
      ],
      [
        [{ name: 'workspace/one', type: 'symlink', linkname: '.' }],
        [{ name: 'workspace/one/two', type: 'symlink', linkname: outside }],
        [{ name: 'workspace/two/through' }, 'x'],
      ],
      [
        [{ name: 'workspace/hard', type: 'link', linkname: `${outside}/victim` }],
        [{ name: 'workspace/hard' }, 'overwritten'],
      ],
      [
        [{ name: 'workspace/s', type: 'symlink', linkname: `${outside}/victim` }],
        [{ name: 'workspace/h', type: 'link', linkname: 'workspace/s' }],
        [{ name: 'workspace/h' }, 'overwritten'],
      ],
      [[{ name: 'workspace', type: 'symlink', linkname: outside }], [{ name: 'workspace/through' }, 'x']],
      [[{ name: 'workspace', type: 'directory' }], [{ name: 'workspace/x' }, 'x']],
    ];
    for (const attack of attacks) {
      writeFileSync(path.join(outside, 'victim'), 'as it was');
      await code(restoreDirectories(place(), Readable.from([await foreign(...attack)]), bounds));
      expect([attack, readdirSync(outside), readFileSync(path.join(outside, 'victim'), 'utf8')]).toEqual([
        attack,
        ['victim'],
        'as it was',
      ]);
    }
  });

  it('gives up at once when its reader or its caller does, and leaves no program and no folder behind', async () => {
    const from = place();
    execFileSync('sh', ['-c', `head -c 50000000 /dev/urandom > "${from.workspace}/noise"`]);
    const folders = (): string[] =>
      readdirSync(os.tmpdir()).filter((name) => name.startsWith('slipway-archive-') && !name.includes('test'));
    const before = folders();
    const first = await archiveDirectories(from, bounds);
    first.stream.destroy();
    const control = new AbortController();
    const second = await archiveDirectories(from, { maxBytes: 2 ** 30, signal: control.signal });
    control.abort(new Error('not wanted any more'));
    await expect(buffer(second.stream)).rejects.toThrow();
    const stuck = new AbortController();
    const restoring = restoreDirectories(place(), new Readable({ read() {} }), { maxBytes: 1, signal: stuck.signal });
    stuck.abort(new Error('not wanted any more'));
    await expect(restoring).rejects.toThrow('not wanted any more');
    await until('the folders are gone', () => folders().every((name) => before.includes(name)));
    expect(
      existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
        ? readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
        : '',
    ).toBe('');
  });
});
