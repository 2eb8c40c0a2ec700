import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { itUnless } from '@slipway/testing/jest';
import { writeTextFile } from '../editor/text-file.js';
import { type RunningServer, startActionServer, textOf } from '../testing/running-server.js';
import { versionOfBytes } from '../tree/file-state.js';
import { saveFile } from '../tree/save-file.js';
import { prepareReplacement } from './replacement.js';

const root = process.getuid?.() === 0;
/** Whether files of the folder for temporary files can have attributes of their own, and `setfattr` sets them. */
function attributesOf(file: string): string | null {
  const set = spawnSync('python3', ['-c', 'import os,sys; os.setxattr(sys.argv[1], "user.slipway", b"kept")', file]);
  return set.status === 0 ? 'kept' : null;
}
const attribute = (file: string): string =>
  execFileSync('python3', ['-c', 'import os,sys; print(os.getxattr(sys.argv[1], "user.slipway").decode())', file], {
    encoding: 'utf8',
  }).trim();

describe('a file that is written again', () => {
  let server: RunningServer;
  const at = (...names: string[]): string => path.join(server.workspace, ...names);
  /** Every way in which a file gets another content, from `one` to `two`. */
  const ways: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
    edit: async (name) =>
      done(
        await server.act({
          kind: 'FileEditorAction',
          command: 'str_replace',
          path: at(name),
          old_str: 'one',
          new_str: 'two',
        }),
      ),
    patch: async (name) =>
      done(
        await server.act({
          kind: 'ApplyPatchAction',
          patch: `*** Begin Patch\n*** Update File: ${at(name)}\n@@\n-one\n+two\n*** End Patch`,
        }),
      ),
    upload: async (name) =>
      ok((await server.send('POST', `/file/upload?path=${encodeURIComponent(name)}`, 'two\n')).status),
    save: async (name) => {
      const base = versionOfBytes(readFileSync(at(name)));
      expect(await saveFile(server.workspace, { path: name, text: 'two\n', encoding: 'utf8', base })).toEqual({
        written: expect.any(String),
      });
    },
  };
  const done = (observation: { is_error: boolean; content: Parameters<typeof textOf>[0]['content'] }): void =>
    expect([observation.is_error, textOf(observation)]).toEqual([false, expect.any(String)]);
  const ok = (status: number): void => expect(status).toBe(200);
  beforeAll(async () => {
    server = await startActionServer();
  });
  afterAll(() => server.close());

  for (const [way, write] of Object.entries(ways)) {
    it(`by ${way} keeps its mode, owner and attributes, and a link to it stays one`, async () => {
      const folder = at(way);
      mkdirSync(folder);
      const file = path.join(folder, 'run.sh');
      writeFileSync(file, 'one\n');
      const set = attributesOf(file);
      if (root) chownSync(file, 12_345, 54_321);
      chmodSync(file, 0o751);
      symlinkSync('run.sh', path.join(folder, 'link'));
      const { uid, gid } = statSync(file);
      await write(`${way}/link`);
      expect([readFileSync(file, 'utf8'), readlinkSync(path.join(folder, 'link'))]).toEqual(['two\n', 'run.sh']);
      expect([statSync(file).mode & 0o7777, statSync(file).uid, statSync(file).gid]).toEqual([0o751, uid, gid]);
      if (set !== null) expect(attribute(file)).toBe(set);
      expect(readdirSync(folder).sort()).toEqual(['link', 'run.sh']);
    });

    it(`by ${way} stays the same file under all of its names`, async () => {
      const folder = at(`${way}-names`);
      mkdirSync(folder);
      writeFileSync(path.join(folder, 'first'), 'one\n');
      linkSync(path.join(folder, 'first'), path.join(folder, 'second'));
      const { ino } = statSync(path.join(folder, 'first'));
      await write(`${way}-names/first`);
      for (const name of ['first', 'second']) {
        expect(readFileSync(path.join(folder, name), 'utf8')).toBe('two\n');
        expect(statSync(path.join(folder, name))).toMatchObject({ ino, nlink: 2 });
      }
      expect(readdirSync(folder).sort()).toEqual(['first', 'second']);
    });
  }

  it('may have a name that leads to no file yet: what it leads to is made, and the link stays', async () => {
    symlinkSync('to/come', at('dangling'));
    mkdirSync(at('to'));
    await writeTextFile(at('dangling'), { text: 'new', encoding: 'utf8' });
    expect([lstatSync(at('dangling')).isSymbolicLink(), readFileSync(at('to/come'), 'utf8')]).toEqual([true, 'new']);
  });

  it('is refused when a patch changes it under two of its names', async () => {
    writeFileSync(at('a'), 'one\nmore\n');
    linkSync(at('a'), at('b'));
    const answer = await server.act({
      kind: 'ApplyPatchAction',
      patch: `*** Begin Patch\n*** Update File: ${at('a')}\n@@\n-one\n+two\n*** Update File: ${at('b')}\n@@\n-more\n+less\n*** End Patch`,
    });
    expect([answer.is_error, textOf(answer)]).toEqual([true, expect.stringContaining('names the same file')]);
    expect(readFileSync(at('a'), 'utf8')).toBe('one\nmore\n');
  });

  it('is left as it was where a pipe, or a device, has taken its name', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    expect(await (await server.send('POST', '/file/upload?path=pipe', 'two')).json()).toMatchObject({
      code: 'request.invalid',
    });
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true);
  });

  itUnless(root ? false : 'only root can become another user')(
    'that may not be written is refused, and its new content blocks nothing',
    async () => {
      const folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'slipway-read-only-'));
      try {
        const file = path.join(folder, 'locked');
        writeFileSync(file, 'one\n');
        chmodSync(file, 0o444);
        for (const each of [folder, file]) chownSync(each, 65_534, 65_534);
        const script = `
        import { writeTextFile } from ${JSON.stringify(new URL('../editor/text-file.js', import.meta.url).href)};
        process.setgroups([]); process.setgid(65534); process.setuid(65534);
        const code = await writeTextFile(${JSON.stringify(file)}, { text: 'two', encoding: 'utf8' }).then(() => 'written', ({ code, detail }) => code + ' ' + detail);
        console.log(code);`;
        expect(
          execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: '/', encoding: 'utf8' }),
        ).toContain('request.invalid');
        expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['one\n', ['locked']]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('is whole in one of two places when the process dies in the midst of writing over its bytes', async () => {
    const folder = at('crash');
    mkdirSync(folder);
    const [file, size] = [path.join(folder, 'first'), 64 * 1024 * 1024];
    writeFileSync(file, Buffer.alloc(size, 'a'));
    linkSync(file, path.join(folder, 'second'));
    const written = path.join(folder, 'written');
    const script = `
      import { writeFileSync } from 'node:fs';
      import { prepareReplacement } from ${JSON.stringify(new URL('replacement.js', import.meta.url).href)};
      writeFileSync(${JSON.stringify(written)}, Buffer.alloc(${size}, 'b'));
      const { step } = await prepareReplacement(${JSON.stringify(written)}, ${JSON.stringify(file)});
      process.kill(process.pid, 'SIGSTOP');
      step();`;
    // Killed at the first byte that has changed.
    execFileSync('bash', [
      '-c',
      `"$0" --input-type=module -e "$1" & pid=$!
      until [[ $(ps -o stat= -p $pid) == T* ]]; do :; done
      kill -CONT $pid
      until [[ $(head -c 1 "$2") == b ]]; do :; done
      kill -9 $pid; wait $pid 2>/dev/null; true`,
      process.execPath,
      script,
      file,
    ]);
    expect(existsSync(written)).toBe(true);
    expect(readFileSync(written).equals(Buffer.alloc(size, 'b'))).toBe(true);
  });

  it('of several names that runs as a program is not written, is not said to be, and leaves nothing open or beside it', async () => {
    const folder = at('running');
    mkdirSync(folder);
    const program = path.join(folder, 'program');
    copyFileSync(execFileSync('sh', ['-c', 'readlink -f "$(command -v sleep)"'], { encoding: 'utf8' }).trim(), program);
    linkSync(program, path.join(folder, 'other-name'));
    const before = readFileSync(program);
    // By this name whatever it is a part of, such as all of coreutils, sleeps.
    const running = spawn(program, ['600'], { argv0: 'sleep', stdio: 'ignore' });
    try {
      await once(running, 'spawn');
      const open = (): number => readdirSync('/proc/self/fd').length;
      const openBefore = open();
      for (let time = 0; time < 5; time += 1)
        await expect(writeTextFile(program, { text: 'two', encoding: 'utf8' })).rejects.toThrow(
          expect.objectContaining({ message: expect.not.stringContaining('in part') }),
        );
      expect([readFileSync(program).equals(before), readdirSync(folder).sort(), open()]).toEqual([
        true,
        ['other-name', 'program'],
        openBefore,
      ]);
    } finally {
      running.kill('SIGKILL');
    }
  });

  itUnless(root ? false : 'only root can make a small disk')(
    'is refused before its first byte is touched when there is no room for it',
    async () => {
      const folder = at('small');
      mkdirSync(folder);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
      try {
        writeFileSync(path.join(folder, 'first'), Buffer.alloc(4_096, 'a'));
        linkSync(path.join(folder, 'first'), path.join(folder, 'second'));
        writeFileSync(path.join(folder, 'written'), Buffer.alloc(700_000, 'b'));
        await expect(
          prepareReplacement(path.join(folder, 'written'), path.join(folder, 'first')),
        ).rejects.toMatchObject({ code: 'sandbox.disk-full' });
        expect(readFileSync(path.join(folder, 'second')).equals(Buffer.alloc(4_096, 'a'))).toBe(true);
      } finally {
        execFileSync('umount', [folder]);
      }
    },
  );
});
