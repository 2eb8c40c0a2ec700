import { execFileSync } from 'node:child_process';
import { chmod, link, mkdir, mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FileEditorAction, FileEditorObservation, MAX_OBSERVATION_LENGTH } from '@slipway/contracts/actions';
import fc from 'fast-check';
import { textOf } from '../testing/running-server.js';
import { FileEditor } from './file-editor.js';

describe('the file editor', () => {
  let folder: string;
  const editor = new FileEditor();
  const edit = async (command: string, file: string, more: Record<string, unknown> = {}) => {
    const observation = await editor.execute(
      FileEditorAction.parse({ kind: 'FileEditorAction', command, path: file, ...more }),
    );
    return { ...FileEditorObservation.parse(observation), text: textOf(observation) };
  };
  const at = (name: string): string => path.join(folder, name);
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-editor-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('creates a file with its folders, and refuses to overwrite one', async () => {
    const made = await edit('create', at('deep/er/a.txt'), { file_text: 'one\ntwo\n' });
    expect([made.is_error, made.prev_exist, made.new_content]).toEqual([false, false, 'one\ntwo\n']);
    expect((await edit('create', at('deep/er/a.txt'), { file_text: 'x' })).text).toContain('already exists');
    expect(await readFile(at('deep/er/a.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  it('shows a file with line numbers, and a range of it', async () => {
    await writeFile(at('lines'), 'a\nb\nc\n');
    expect((await edit('view', at('lines'))).text).toContain('     1\ta\n     2\tb\n     3\tc');
    expect((await edit('view', at('lines'), { view_range: [2, -1] })).text).toMatch(/:\n {5}2\tb\n {5}3\tc$/);
    expect((await edit('view', at('lines'), { view_range: [4, 9] })).is_error).toBe(true);
    expect((await edit('view', at('lines'), { view_range: [3, 2] })).is_error).toBe(true);
  });

  it('lists a directory two levels deep without hidden entries', async () => {
    await mkdir(at('tree/one/two/three'), { recursive: true });
    await writeFile(at('tree/.hidden'), '');
    const { text } = await edit('view', at('tree'));
    expect(text).toContain('tree/one/two/');
    expect(text).not.toContain('three');
    expect(text).toContain('1 hidden');
  });

  it('replaces a text that stands there once, and keeps everything else of the file', async () => {
    await writeFile(at('crlf'), 'a\r\nb\r\n\ufeffc', { mode: 0o750 });
    await chmod(at('crlf'), 0o750);
    const done = await edit('str_replace', at('crlf'), { old_str: 'b', new_str: 'é😀' });
    expect([done.is_error, done.old_content]).toEqual([false, 'a\r\nb\r\n\ufeffc']);
    expect(await readFile(at('crlf'), 'utf8')).toBe('a\r\né😀\r\n\ufeffc');
    expect((await stat(at('crlf'))).mode & 0o777).toBe(0o750);
  });

  it('names the lines of several matches, and changes nothing', async () => {
    await writeFile(at('twice'), 'x\ny\nx\n');
    expect((await edit('str_replace', at('twice'), { old_str: 'x', new_str: 'z' })).text).toContain('lines [1, 3]');
    expect(await readFile(at('twice'), 'utf8')).toBe('x\ny\nx\n');
  });

  it('says where a text is that differs only in white space', async () => {
    await writeFile(at('near'), 'top\n\tif (a) {\n\t\tb();\n');
    expect((await edit('str_replace', at('near'), { old_str: '  if (a) {\n    b();', new_str: '' })).text).toContain(
      'white space from the text at line 2',
    );
    expect((await edit('str_replace', at('near'), { old_str: 'if (a) {\n c();', new_str: '' })).text).toContain(
      'line 2',
    );
    expect((await edit('str_replace', at('near'), { old_str: 'nowhere', new_str: '' })).is_error).toBe(true);
  });

  it('inserts after a line, at the beginning and at the end', async () => {
    await writeFile(at('insert'), 'a\nb\n');
    await edit('insert', at('insert'), { insert_line: 0, new_str: 'first' });
    await edit('insert', at('insert'), { insert_line: 3, new_str: 'last\n' });
    expect(await readFile(at('insert'), 'utf8')).toBe('first\na\nb\nlast\n');
    expect((await edit('insert', at('insert'), { insert_line: 5, new_str: 'x' })).text).toContain('[0, 4]');
  });

  it('takes edits back one by one, also the creation', async () => {
    await edit('create', at('undo'), { file_text: '1' });
    await edit('str_replace', at('undo'), { old_str: '1', new_str: '2' });
    await edit('str_replace', at('undo'), { old_str: '2', new_str: '3' });
    expect((await edit('undo_edit', at('undo'))).new_content).toBe('2');
    await edit('undo_edit', at('undo'));
    expect(await readFile(at('undo'), 'utf8')).toBe('1');
    await edit('undo_edit', at('undo'));
    expect(await stat(at('undo')).catch(() => 'gone')).toBe('gone');
    expect((await edit('undo_edit', at('undo'))).is_error).toBe(true);
  });

  it('writes through a link, and leaves it a link', async () => {
    await writeFile(at('target'), 'old');
    await symlink('target', at('symbolic'));
    await edit('str_replace', at('symbolic'), { old_str: 'old', new_str: 'new' });
    expect(await readFile(at('target'), 'utf8')).toBe('new');
    await link(at('target'), at('hard'));
  });

  it('refuses a binary file, and one over 10 MiB without reading it, with their codes', async () => {
    await writeFile(at('binary'), Buffer.from([1, 2, 0, 3]));
    expect(await edit('view', at('binary'))).toMatchObject({ is_error: true, error_code: 'file.binary' });
    const handle = await open(at('huge'), 'w');
    await handle.truncate(100 * 1024 * 1024);
    await handle.write('line 1\nline 2\n', 0);
    await handle.close();
    const before = process.memoryUsage().rss;
    expect(await edit('view', at('huge'))).toMatchObject({ is_error: true, error_code: 'file.too-large' });
    expect(await edit('str_replace', at('huge'), { old_str: 'a', new_str: 'b' })).toMatchObject({
      error_code: 'file.too-large',
    });
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(40);
  });

  it('shows a range of lines of a file of any size', async () => {
    await writeFile(at('long'), Array.from({ length: 2_000_000 }, (_, index) => `line ${index + 1}`).join('\n'));
    expect((await edit('view', at('long'), { view_range: [1_500_000, 1_500_001] })).text).toContain(
      '1500000\tline 1500000\n1500001\tline 1500001',
    );
    expect((await edit('view', at('long'), { view_range: [1, -1] })).text.length).toBeLessThanOrEqual(
      MAX_OBSERVATION_LENGTH,
    );
  });

  it('edits a Latin-1 file without touching its other bytes', async () => {
    await writeFile(at('latin'), Buffer.from([0x63, 0xe9, 0x0a, 0x61]));
    await edit('str_replace', at('latin'), { old_str: 'a', new_str: 'ü' });
    expect(await readFile(at('latin'))).toEqual(Buffer.from([0x63, 0xe9, 0x0a, 0xfc]));
    expect((await edit('str_replace', at('latin'), { old_str: 'ü', new_str: '😀' })).is_error).toBe(true);
  });

  it('keeps UTF-16 with its mark, in both orders', async () => {
    for (const big of [false, true]) {
      const bytes = (text: string): Buffer =>
        big ? Buffer.from(text, 'utf16le').swap16() : Buffer.from(text, 'utf16le');
      await writeFile(at('wide'), bytes('\ufeffold é😀\r\n'));
      expect((await edit('view', at('wide'))).text).toContain('old é😀');
      await edit('str_replace', at('wide'), { old_str: 'old', new_str: 'nëw' });
      expect(await readFile(at('wide'))).toEqual(bytes('\ufeffnëw é😀\r\n'));
    }
  });

  it('shows a picture as a picture, by its bytes, and says what to do with one that is too large', async () => {
    const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(20)]);
    await writeFile(at('picture.txt'), png);
    const shown = await edit('view', at('picture.txt'));
    expect(shown.content).toEqual([
      { type: 'text', text: `${at('picture.txt')} is a picture (image/png, 28 bytes).` },
      { type: 'image', image_urls: [`data:image/png;base64,${png.toString('base64')}`] },
    ]);
    await writeFile(at('large.png'), Buffer.concat([png, Buffer.alloc(2_000_000)]));
    expect(await edit('view', at('large.png'))).toMatchObject({ is_error: true, error_code: 'file.too-large' });
    expect(await edit('str_replace', at('picture.txt'), { old_str: 'P', new_str: 'Q' })).toMatchObject({
      error_code: 'file.binary',
    });
  });

  it('answers pipes, devices, links in a circle and what may not be a path with a code, and waits for none', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    await symlink('round', at('round'));
    for (const file of [
      at('pipe'),
      '/dev/zero',
      '/dev/null',
      at('round'),
      at('a\0b'),
      at('x'.repeat(300)),
      '/proc/self/mem',
      '/..//../dev/full',
    ])
      for (const [command, more] of [
        ['view', {}],
        ['view', { view_range: [1, -1] }],
        ['create', { file_text: 'x' }],
        ['str_replace', { old_str: 'a', new_str: 'b' }],
        ['insert', { insert_line: 0, new_str: 'x' }],
        ['undo_edit', {}],
      ] as const)
        expect([command, file, await edit(command, file, more)]).toEqual([
          command,
          file,
          expect.objectContaining({ is_error: true, error_code: expect.any(String) }),
        ]);
  });

  it('answers a relative path, a missing file, a directory and missing parameters with what to do', async () => {
    expect((await edit('view', 'relative/a.txt')).text).toContain('/relative/a.txt');
    expect(await edit('view', at('missing'))).toMatchObject({ is_error: true, error_code: 'file.not-found' });
    expect((await edit('str_replace', folder, { old_str: 'a', new_str: 'b' })).is_error).toBe(true);
    for (const command of ['create', 'str_replace', 'insert'])
      expect((await edit(command, at('new'))).is_error).toBe(true);
  });

  it('edits as a string replacement does, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        async (before, old, replacement, after) => {
          const whole = `${before}${old}${after}`;
          fc.pre(
            !whole.includes('\0') &&
              !replacement.includes('\0') &&
              whole.indexOf(old) === whole.lastIndexOf(old) &&
              old !== replacement,
          );
          await writeFile(at('any'), whole);
          expect((await edit('str_replace', at('any'), { old_str: old, new_str: replacement })).is_error).toBe(false);
          expect(await readFile(at('any'), 'utf8')).toBe(whole.split(old).join(replacement));
          await edit('undo_edit', at('any'));
          expect(await readFile(at('any'), 'utf8')).toBe(whole);
        },
      ),
      { numRuns: 50 },
    );
  });
});
