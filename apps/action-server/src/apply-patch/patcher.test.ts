import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ApplyPatchAction,
  ApplyPatchObservation,
  FileEditorAction,
  MAX_OBSERVATION_LENGTH,
} from '@slipway/contracts/actions';
import fc from 'fast-check';
import { EditHistory } from '../editor/edit-history.js';
import { FileEditor } from '../editor/file-editor.js';
import { OneAtATime } from '../editor/one-at-a-time.js';
import { textOf } from '../testing/running-server.js';
import { Patcher } from './patcher.js';

describe('a patch', () => {
  let folder: string;
  let patcher: Patcher;
  let editor: FileEditor;
  const at = (name: string): string => path.join(folder, name);
  const read = (name: string): string => readFileSync(at(name), 'utf8');
  const apply = async (...lines: string[]) =>
    ApplyPatchObservation.parse(
      await patcher.execute(
        ApplyPatchAction.parse({
          kind: 'ApplyPatchAction',
          patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
        }),
      ),
    );
  const refused = async (...lines: string[]): Promise<string> => {
    const before = execFileSync('sh', ['-c', 'find . -type f | sort | xargs cat'], { cwd: folder }).toString('latin1');
    const answer = await apply(...lines);
    expect([answer.is_error, typeof answer['error_code'], answer.commit]).toEqual([true, 'string', null]);
    expect(textOf(answer)).toContain('Nothing was changed');
    expect(execFileSync('sh', ['-c', 'find . -type f | sort | xargs cat'], { cwd: folder }).toString('latin1')).toBe(
      before,
    );
    return textOf(answer);
  };

  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-patch-'));
    const [history, turns] = [new EditHistory(), new OneAtATime()];
    patcher = new Patcher({ history, turns, directory: () => folder });
    editor = new FileEditor(history, turns);
    writeFileSync(at('a.txt'), 'one\ntwo\nthree\nfour\nfive\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('adds, changes, moves and deletes files, and reports each', async () => {
    writeFileSync(at('old.txt'), 'x\n');
    writeFileSync(at('moved.sh'), 'echo\n');
    chmodSync(at('moved.sh'), 0o755);
    const done = await apply(
      '*** Add File: deep/new.txt',
      '+hello',
      '+',
      '*** Update File: a.txt',
      '@@',
      ' one',
      '-two',
      '+TWO',
      '+2.5',
      ' three',
      '@@',
      '-five',
      '*** Delete File: old.txt',
      '*** Update File: moved.sh',
      '*** Move to: bin/moved.sh',
      '@@',
      '-echo',
      '+echo moved',
    );
    expect(textOf(done)).toContain(
      `A ${at('deep/new.txt')} (+2 -0)\nM ${at('a.txt')} (+2 -2)\nD ${at('old.txt')} (+0 -1)\nR ${at('moved.sh')} -> ${at('bin/moved.sh')}`,
    );
    expect([read('deep/new.txt'), read('a.txt'), read('bin/moved.sh')]).toEqual([
      'hello\n\n',
      'one\nTWO\n2.5\nthree\nfour\n',
      'echo moved\n',
    ]);
    expect([existsSync(at('old.txt')), existsSync(at('moved.sh')), statSync(at('bin/moved.sh')).mode & 0o777]).toEqual([
      false,
      false,
      0o755,
    ]);
    expect(done).toMatchObject({
      fuzz: 0,
      commit: { changes: { [at('a.txt')]: { type: 'update', old_content: 'one\ntwo\nthree\nfour\nfive\n' } } },
    });
    expect(readdirSync(folder).sort()).toEqual(['a.txt', 'bin', 'deep']);
  });

  it('finds its place by the lines after @@, and at the end of the file', async () => {
    writeFileSync(at('twice.py'), 'class A:\n  def f():\n    pass\nclass B:\n  def f():\n    pass\n');
    await apply(
      '*** Update File: twice.py',
      '@@ class B:',
      '@@   def f():',
      '-    pass',
      '+    return 1',
      '*** End of File',
    );
    expect(read('twice.py')).toBe('class A:\n  def f():\n    pass\nclass B:\n  def f():\n    return 1\n');
    await apply('*** Update File: a.txt', '@@', '+six');
    expect(read('a.txt')).toBe('one\ntwo\nthree\nfour\nfive\nsix\n');
    await apply('*** Update File: a.txt', '@@ one', '+after one');
    expect(read('a.txt').startsWith('one\nafter one\ntwo\n')).toBe(true);
  });

  it('finds context that differs in white space or typographic signs, keeps the file’s own lines, and says so', async () => {
    writeFileSync(at('loose.txt'), 'say “hello”  \n\tindented – here\nlast\n');
    const done = await apply('*** Update File: loose.txt', '@@', ' say "hello"', '-indented - here', '+new');
    expect([done.is_error, done.fuzz > 0]).toEqual([false, true]);
    expect(textOf(done)).toContain('not found exactly');
    expect(read('loose.txt')).toBe('say “hello”  \nnew\nlast\n');
  });

  it('keeps line ends, encoding and a missing last line feed as they are', async () => {
    writeFileSync(at('crlf'), 'a\r\nb\r\nc\r\n');
    await apply('*** Update File: crlf', '@@', ' a', '-b', '+B');
    expect(read('crlf')).toBe('a\r\nB\r\nc\r\n');
    writeFileSync(at('latin'), Buffer.from([0x63, 0xe9, 0x0a, 0x61]));
    await apply('*** Update File: latin', '@@', '-a', '+ü');
    expect(readFileSync(at('latin'))).toEqual(Buffer.from([0x63, 0xe9, 0x0a, 0xfc, 0x0a]));
    writeFileSync(at('bare'), 'a\nb');
    await apply('*** Update File: bare', '@@', '-a', '+A');
    expect(read('bare')).toBe('A\nb');
  });

  it('changes nothing at all when one place is not found, and names each that is not', async () => {
    const message = await refused(
      '*** Add File: new.txt',
      '+x',
      '*** Update File: a.txt',
      '@@',
      '-nowhere',
      '+x',
      '*** Update File: missing.txt',
      '@@',
      '-x',
      '*** Delete File: gone.txt',
    );
    expect(message).toContain('these lines do not stand together');
    for (const name of ['a.txt', 'missing.txt', 'gone.txt']) expect(message).toContain(at(name));
    expect(existsSync(at('new.txt'))).toBe(false);
  });

  it('takes back what it did when a later file cannot be written', async () => {
    mkdirSync(at('full'));
    writeFileSync(at('full/x'), 'x\n');
    // A folder under the name of the file to be replaced: no user, not even root, can rename over it.
    const broken = new Patcher({ history: new EditHistory(), turns: new OneAtATime(), directory: () => folder });
    writeFileSync(at('b.txt'), 'b\n');
    const answer = await broken.execute({
      kind: 'ApplyPatchAction',
      patch: `*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: made/here.txt\n+x\n*** Add File: b.txt/under-a-file\n+x\n*** End Patch`,
    });
    expect(answer).toMatchObject({ is_error: true, error_code: 'file.not-found' });
    expect([read('a.txt').startsWith('one'), existsSync(at('made'))]).toEqual([true, false]);
    expect(readdirSync(folder).sort()).toEqual(['a.txt', 'b.txt', 'full']);
  });

  it('can be taken back file by file with the editor', async () => {
    await apply('*** Update File: a.txt', '@@', '-one', '+ONE', '*** Add File: new.txt', '+x');
    const undo = (name: string) =>
      editor.execute(FileEditorAction.parse({ kind: 'FileEditorAction', command: 'undo_edit', path: at(name) }));
    expect((await undo('a.txt')).is_error).toBe(false);
    await undo('new.txt');
    expect([read('a.txt'), existsSync(at('new.txt'))]).toEqual(['one\ntwo\nthree\nfour\nfive\n', false]);
    await apply('*** Delete File: a.txt');
    await undo('a.txt');
    expect(read('a.txt')).toBe('one\ntwo\nthree\nfour\nfive\n');
  });

  it('answers what is no patch with the line that is wrong', async () => {
    for (const patch of [
      'x',
      '*** Begin Patch',
      '*** Begin Patch\n*** End Patch',
      '*** End Patch\n*** Begin Patch',
      '\0',
      '*** Begin Patch\n*** Add File: a\0b\n+x\n*** End Patch',
    ])
      expect(await patcher.execute({ kind: 'ApplyPatchAction', patch })).toMatchObject({
        is_error: true,
        error_code: 'request.invalid',
      });
    expect(await refused('*** Update File: a.txt', '@@', '?x')).toContain('Line 4');
    await refused('*** Update File: a.txt');
    await refused('*** Add File: new.txt', 'no plus');
    await refused('*** Add File: a.txt', '+x');
    await refused('*** Delete File: .');
    await refused('nonsense');
    await refused('*** Update File: a.txt', '@@', '-one', '*** Update File: ./a.txt', '@@', '-two');
    expect(ApplyPatchAction.safeParse({ kind: 'ApplyPatchAction' }).success).toBe(false);
  });

  it('answers binary and huge files, pipes, devices, links that lead nowhere and folders with their code, and waits for none', async () => {
    writeFileSync(at('binary'), Buffer.from([1, 0, 2]));
    writeFileSync(at('huge'), 'x');
    truncateSync(at('huge'), 50 * 1024 * 1024);
    execFileSync('mkfifo', [at('pipe')]);
    symlinkSync('/nowhere/at/all', at('dangling'));
    symlinkSync('round', at('round'));
    for (const name of [
      'binary',
      'huge',
      'pipe',
      'dangling',
      'round',
      '.',
      '/dev/null',
      '/dev/zero',
      '../../../nowhere/x',
      'x'.repeat(5_000),
    ])
      expect([name, await apply(`*** Update File: ${name}`, '@@', '-x', '+y')]).toEqual([
        name,
        expect.objectContaining({ is_error: true, error_code: expect.any(String) }),
      ]);
  });

  it('is quick and bounded for a large file and thousands of changes', async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}`);
    writeFileSync(at('large'), `${lines.join('\n')}\n`);
    const chunks = Array.from({ length: 2_000 }, (_, index) => [
      '@@',
      `-line ${index * 50}`,
      `+LINE ${index * 50}`,
    ]).flat();
    const done = await apply('*** Update File: large', ...chunks);
    expect(done.is_error).toBe(false);
    expect(textOf(done).length).toBeLessThan(MAX_OBSERVATION_LENGTH);
    expect(read('large').match(/^LINE/gm)).toHaveLength(2_000);
  });

  it('makes of any text any other', async () => {
    const text = fc.array(fc.constantFrom('a', 'b', '', '  ', '\tx', '+y', '-z', '@@', '*** x'), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before.length > 0);
        writeFileSync(at('any'), `${before.join('\n')}\n`);
        const done = await apply(
          '*** Update File: any',
          '@@',
          ...before.map((line) => `-${line}`),
          ...after.map((line) => `+${line}`),
          '*** End of File',
        );
        expect([done.is_error, read('any')]).toEqual([false, after.length === 0 ? '' : `${after.join('\n')}\n`]);
      }),
      { numRuns: 100 },
    );
  });
});
