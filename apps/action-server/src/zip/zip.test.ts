import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunningServer, startActionServer } from '../testing/running-server.js';

/** Python's own zipfile: another's work on both sides. */
const python = (program: string, ...args: string[]): string =>
  execFileSync('python3', ['-c', `import sys, zipfile, os\n${program}`, ...args], { encoding: 'utf8' });

describe('folders in and out as zip archives', () => {
  let server: RunningServer;
  const at = (name: string): string => path.join(server.workspace, name);
  const archive = (program: string): Buffer => {
    python(
      `z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\n${program}\nz.close()`,
      path.join(server.stateDirectory, 'made.zip'),
    );
    return readFileSync(path.join(server.stateDirectory, 'made.zip'));
  };
  const unpack = (where: string, body: Buffer): Promise<Response> =>
    server.send('POST', `/file/unzip?path=${encodeURIComponent(where)}`, body);
  const code = async (answer: Promise<Response>): Promise<unknown> =>
    ((await (await answer).json()) as { code?: string }).code;
  beforeAll(async () => {
    server = await startActionServer();
  });
  afterAll(() => server.close());

  it('gives a folder as an archive that others read, without what leads out of it', async () => {
    mkdirSync(at('out/deep/empty'), { recursive: true });
    const bytes = randomBytes(3_000_000);
    writeFileSync(at('out/deep/é 😀.bin'), bytes);
    writeFileSync(at('out/run.sh'), 'echo\n'.repeat(100_000));
    chmodSync(at('out/run.sh'), 0o755);
    writeFileSync(at('out/empty.txt'), '');
    symlinkSync('/etc/passwd', at('out/link'));
    execFileSync('mkfifo', [at('out/pipe')]);
    const answer = await server.send('GET', '/file/zip?path=out');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
    const file = path.join(server.stateDirectory, 'out.zip');
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    const [bad, names, mode] = python(
      "z = zipfile.ZipFile(sys.argv[1]); print(z.testzip()); print('|'.join(z.namelist())); print(oct(z.getinfo('run.sh').external_attr >> 16)); z.extractall(sys.argv[2])",
      file,
      path.join(server.stateDirectory, 'there'),
    ).split('\n');
    expect([bad, names, mode]).toEqual(['None', 'deep/|deep/empty/|deep/é 😀.bin|empty.txt|run.sh', '0o100755']);
    expect(readFileSync(path.join(server.stateDirectory, 'there/deep/é 😀.bin')).equals(bytes)).toBe(true);
    expect(await code(server.send('GET', '/file/zip?path=out/run.sh'))).toBe('request.invalid');
    expect(await code(server.send('GET', '/file/zip?path=missing'))).toBe('file.not-found');
    expect(await code(server.send('GET', '/file/zip?path=/etc'))).toBe('file.outside-workspace');
  });

  it('packs files of every size, small ones in one go, in memory that does not grow with their number', async () => {
    mkdirSync(at('sizes'));
    for (const size of [0, 1, 7, 255, 256, 511, 512, 513, 4_095, 4_096, 32_768, 65_535, 65_536, 65_537, 300_000]) {
      writeFileSync(at(`sizes/random-${size}`), randomBytes(size));
      writeFileSync(at(`sizes/same-${size}`), Buffer.alloc(size, 'ab'));
    }
    for (let index = 0; index < 1_500; index += 1) writeFileSync(at(`sizes/many-${index}`), `content of ${index}\n`);
    const peak = (): number =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = peak();
    const file = path.join(server.stateDirectory, 'sizes.zip');
    writeFileSync(file, Buffer.from(await (await server.send('GET', '/file/zip?path=sizes')).arrayBuffer()));
    expect(peak() - before).toBeLessThan(100);
    const script =
      'z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()), sum(i.file_size for i in z.infolist()))';
    const total = readdirSync(at('sizes')).reduce((sum, name) => sum + statSync(at(`sizes/${name}`)).size, 0);
    expect(python(script, file).trim()).toBe(`None 1530 ${total}`);
  });

  it('unpacks what others make, and what it made itself, in place of files of the same names', async () => {
    mkdirSync(at('in'), { recursive: true });
    writeFileSync(at('in/old.txt'), 'old');
    const made = archive(
      "z.writestr('old.txt', 'new'); z.writestr('deep/b.txt', 'b' * 100000); z.writestr(zipfile.ZipInfo('folder/'), ''); z.writestr('stored', 'x', zipfile.ZIP_STORED)",
    );
    const answer = await unpack('in', made);
    expect([answer.status, await answer.json()]).toEqual([200, { path: at('in'), files: 3, sizeBytes: 100_004 }]);
    expect([
      readFileSync(at('in/old.txt'), 'utf8'),
      statSync(at('in/deep/b.txt')).size,
      readdirSync(at('in/folder')),
    ]).toEqual(['new', 100_000, []]);
    const own = Buffer.from(await (await server.send('GET', '/file/zip?path=in')).arrayBuffer());
    expect((await unpack('again', own)).status).toBe(200);
    expect(readFileSync(at('again/deep/b.txt')).equals(readFileSync(at('in/deep/b.txt')))).toBe(true);
  });

  for (const [what, program] of [
    ['a name that climbs out', "z.writestr('a', 'x'); z.writestr('../../escaped', 'x')"],
    ['an absolute name', "z.writestr('/tmp/escaped', 'x')"],
    ['a name of Windows', "z.writestr('C:/escaped', 'x')"],
    ['a name with a backslash', "i = zipfile.ZipInfo('x'); i.filename = '..\\\\\\\\escaped'; z.writestr(i, 'x')"],
    [
      'a link',
      "i = zipfile.ZipInfo('escaped'); i.create_system = 3; i.external_attr = 0o120777 << 16; z.writestr(i, '/etc')",
    ],
    ['one name twice', "z.writestr('a', '1'); z.writestr('a', '2')"],
    ['an entry that another packing is of', "z.writestr('a', 'x' * 1000, zipfile.ZIP_BZIP2)"],
  ] as const)
    it(`takes nothing of an archive with ${what}`, async () => {
      const before = readdirSync(server.workspace).sort();
      expect(await code(unpack('hostile', archive(program)))).toBe('request.invalid');
      expect(readdirSync(server.workspace).sort()).toEqual(before);
      expect(existsSync('/tmp/escaped') || existsSync(path.join(server.workspace, '../escaped'))).toBe(false);
    });

  it('takes nothing of what is cut off, changed, no archive, or larger than it says', async () => {
    const whole = archive("z.writestr('a', os.urandom(1000)); z.writestr('bomb', b'0' * 50_000_000)");
    const changed = Buffer.from(whole);
    changed.fill(7, 60, 200);
    const list = whole.indexOf(Buffer.from('PK\u0001\u0002', 'latin1'), whole.lastIndexOf('bomb') - 60);
    const bomb = Buffer.from(whole);
    bomb.writeUInt32LE(10, list + 24);
    const before = readdirSync(server.workspace).sort();
    for (const bad of [
      whole.subarray(0, -30),
      whole.subarray(0, 40),
      Buffer.from('no archive'),
      Buffer.alloc(0),
      changed,
      bomb,
      Buffer.concat([whole.subarray(0, -12), Buffer.alloc(12, 0xff)]),
    ])
      expect(await code(unpack('hostile', bad))).toBe('request.invalid');
    expect(readdirSync(server.workspace).sort()).toEqual(before);
  });

  it('follows no link of the workspace out of it', async () => {
    symlinkSync('/tmp', at('to-tmp'));
    const made = archive("z.writestr('to-tmp/escaped', 'x')");
    expect(await code(unpack('.', made))).toBe('file.outside-workspace');
    expect(await code(unpack('to-tmp', made))).toBe('file.outside-workspace');
    expect(await code(unpack('in/old.txt', made))).toBe('request.invalid');
    expect(existsSync('/tmp/escaped')).toBe(false);
  });
});
