import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type FileState, MAX_LIVE_TEXT_BYTES, textChecksum } from '@slipway/contracts/live';
import { until } from '@slipway/testing';
import { FilesClient, startFilesServer } from '../testing/files-client.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

jest.setTimeout(120_000);

describe('the channel files', () => {
  let server: Awaited<ReturnType<typeof startFilesServer>>;
  let client: FilesClient;
  const at = (name: string): string => path.join(server.workspace, name);
  const stateOf = async (name: string): Promise<FileState> =>
    ((await client.ask({ type: 'open', path: name })) as { file: FileState }).file;
  const names = async (name: string): Promise<string[]> =>
    ((await client.ask({ type: 'list', path: name })) as { entries: { name: string }[] }).entries.map(
      (entry) => entry.name,
    );
  const lastSent = (name: string): unknown =>
    (client.unsolicited(name).at(-1) as { file?: FileState } | undefined)?.file;
  beforeAll(async () => {
    server = await startFilesServer();
    client = await FilesClient.connect(server.url);
  });
  afterAll(async () => {
    client?.socket.terminate();
    await server?.close();
  });

  it('lists directories first and by name, hidden ones too, and marks links and what git ignores', async () => {
    mkdirSync(at('repo/lib'), { recursive: true });
    mkdirSync(at('repo/build'));
    for (const name of ['.gitignore', 'B.txt', 'a.txt', 'c.log', '-v', ':x'])
      writeFileSync(at(`repo/${name}`), name === '.gitignore' ? 'build\n*.log\n' : '');
    symlinkSync('lib', at('repo/to-lib'));
    symlinkSync('nothing', at('repo/to-nothing'));
    execFileSync('git', ['init', '-q'], { cwd: at('repo') });
    const { entries } = (await client.ask({ type: 'list', path: 'repo' })) as {
      entries: { name: string; kind: string; link: boolean; ignored: boolean }[];
    };
    expect(
      entries.map(({ name, kind, link, ignored }) =>
        [name, kind, ...(link ? ['link'] : []), ...(ignored ? ['ignored'] : [])].join(' '),
      ),
    ).toEqual([
      '.git directory',
      'build directory ignored',
      'lib directory',
      '-v file',
      '.gitignore file',
      ':x file',
      'a.txt file',
      'B.txt file',
      'c.log file ignored',
      'to-lib directory link',
      'to-nothing other link',
    ]);
    writeFileSync(at('repo/.gitignore'), 'build\n');
    await until('new marks are sent', () => client.unsolicited('repo').length > 0);
    const again = (await client.ask({ type: 'list', path: 'repo' })) as {
      entries: { name: string; ignored: boolean }[];
    };
    expect(again.entries.filter(({ ignored }) => ignored).map(({ name }) => name)).toEqual(['build']);
  });

  it('gives a directory of 5,000 entries in pages, and reports one more', async () => {
    mkdirSync(at('many'));
    for (let index = 0; index < 5_000; index += 1) writeFileSync(at(`many/${String(index).padStart(4, '0')}`), '');
    const middle = (await client.ask({ type: 'list', path: 'many', offset: 2_000, limit: 3 })) as {
      total: number;
      generation: number;
      entries: { name: string }[];
    };
    expect([middle.total, middle.entries.map(({ name }) => name)]).toEqual([5_000, ['2000', '2001', '2002']]);
    writeFileSync(at('many/0000a'), '');
    await until('the change is sent', () => client.unsolicited('many').length > 0);
    const first = (await client.ask({ type: 'list', path: 'many', limit: 2 })) as {
      total: number;
      generation: number;
      entries: { name: string }[];
    };
    expect([first.total, first.generation > middle.generation, first.entries.map(({ name }) => name)]).toEqual([
      5_001,
      true,
      ['0000', '0000a'],
    ]);
    client.send({ type: 'let-go', path: 'many', of: 'directory' });
    rmSync(at('many'), { recursive: true });
  });

  it('reads text in its encoding, a picture, and says of anything else what it is', async () => {
    writeFileSync(at('utf8.txt'), '\u{feff}grün\r\n');
    writeFileSync(at('latin1.txt'), Buffer.from('gr\xfcn', 'latin1'));
    writeFileSync(at('wide.txt'), Buffer.from('\u{feff}wide', 'utf16le'));
    writeFileSync(at('pixel.txt'), PIXEL);
    writeFileSync(at('binary'), Buffer.from([1, 0, 2]));
    const huge = openSync(at('huge'), 'w');
    writeSync(huge, 'x', 2 * 1024 * 1024 * 1024);
    execFileSync('mkfifo', [at('pipe')]);
    symlinkSync('/etc/passwd', at('out'));
    symlinkSync('circle', at('circle'));
    expect(await stateOf('utf8.txt')).toMatchObject({
      kind: 'text',
      text: '\u{feff}grün\r\n',
      encoding: 'utf8',
      readOnly: false,
      checksum: textChecksum('\u{feff}grün\r\n'),
    });
    expect(await stateOf('latin1.txt')).toMatchObject({ kind: 'text', text: 'grün', encoding: 'latin1' });
    expect(await stateOf('wide.txt')).toMatchObject({ kind: 'text', text: '\u{feff}wide', encoding: 'utf16le' });
    expect(await stateOf('pixel.txt')).toMatchObject({
      kind: 'picture',
      mediaType: 'image/png',
      base64: PIXEL.toString('base64'),
    });
    expect(await stateOf('binary')).toEqual({ kind: 'binary', sizeBytes: 3 });
    expect(await stateOf('huge')).toEqual({
      kind: 'too-large',
      sizeBytes: 2 * 1024 * 1024 * 1024 + 1,
      limitBytes: MAX_LIVE_TEXT_BYTES,
    });
    expect(await stateOf('repo')).toEqual({ kind: 'directory' });
    expect(await stateOf('nowhere/at/all')).toEqual({ kind: 'gone' });
    for (const name of ['pipe', 'circle'])
      expect(await stateOf(name)).toMatchObject({ kind: 'refused', code: 'request.invalid' });
    for (const name of ['out', '../x', '/etc/passwd', 'repo/../../x'])
      expect(await stateOf(name)).toMatchObject({ kind: 'refused', code: 'file.outside-workspace' });
    expect(await client.ask({ type: 'list', path: '..' })).toMatchObject({
      type: 'failed',
      code: 'file.outside-workspace',
    });
  });

  it('reports each change of an open file: written, replaced, gone, a directory, and back', async () => {
    writeFileSync(at('open.txt'), 'one');
    await stateOf('open.txt');
    appendFileSync(at('open.txt'), ' two');
    await until('written', () => (lastSent('open.txt') as { text?: string } | undefined)?.text === 'one two');
    writeFileSync(at('other.txt'), 'three');
    renameSync(at('other.txt'), at('open.txt'));
    await until('replaced', () => (lastSent('open.txt') as { text?: string }).text === 'three');
    rmSync(at('open.txt'));
    await until('gone', () => (lastSent('open.txt') as FileState).kind === 'gone');
    mkdirSync(at('open.txt'));
    await until('a directory', () => (lastSent('open.txt') as FileState).kind === 'directory');
    rmSync(at('open.txt'), { recursive: true });
    writeFileSync(at('open.txt'), 'back');
    await until('back', () => (lastSent('open.txt') as { text?: string }).text === 'back');
    chmodSync(at('open.txt'), 0o755);
    symlinkSync('open.txt', at('link.txt'));
    await stateOf('link.txt');
    writeFileSync(at('open.txt'), 'by the link');
    await until(
      'what a link leads to',
      () => (lastSent('link.txt') as { text?: string } | undefined)?.text === 'by the link',
    );
    writeFileSync(at('elsewhere.txt'), 'led elsewhere');
    rmSync(at('link.txt'));
    symlinkSync('elsewhere.txt', at('link.txt'));
    await until('the link itself', () => (lastSent('link.txt') as { text?: string }).text === 'led elsewhere');
  });

  it('sees what happens to a folder that an open file is in, and to an open folder', async () => {
    mkdirSync(at('deep/down'), { recursive: true });
    writeFileSync(at('deep/down/file'), 'there');
    await names('');
    await names('deep/down');
    await stateOf('deep/down/file');
    renameSync(at('deep'), at('moved'));
    await until('the file is gone', () => (lastSent('deep/down/file') as FileState | undefined)?.kind === 'gone');
    await until(
      'so is the folder',
      () => (client.unsolicited('deep/down').at(-1) as { gone?: boolean } | undefined)?.gone === true,
    );
    mkdirSync(at('deep/down'), { recursive: true });
    writeFileSync(at('deep/down/file'), 'again');
    await until('the file is back', () => (lastSent('deep/down/file') as { text?: string }).text === 'again');
    await until(
      'so is the folder',
      () => (client.unsolicited('deep/down').at(-1) as { gone?: boolean }).gone === false,
    );
    writeFileSync(at('deep/down/file'), 'and watched');
    await until('it is watched', () => (lastSent('deep/down/file') as { text?: string }).text === 'and watched');
  });

  it('saves over the version that the text was made from, keeps mode and links, and leaves nothing beside it', async () => {
    mkdirSync(at('save'));
    writeFileSync(at('save/run.sh'), 'one\n', { mode: 0o750 });
    chmodSync(at('save/run.sh'), 0o750);
    symlinkSync('run.sh', at('save/link'));
    const { version } = (await stateOf('save/link')) as { version: string };
    const written = (await client.ask({ type: 'write', path: 'save/link', text: 'two\n', base: version })) as {
      version: string;
    };
    expect([
      readFileSync(at('save/run.sh'), 'utf8'),
      statSync(at('save/run.sh')).mode & 0o777,
      lstatSync(at('save/link')).isSymbolicLink(),
    ]).toEqual(['two\n', 0o750, true]);
    expect(await stateOf('save/run.sh')).toMatchObject({ version: written.version });
    expect(await client.ask({ type: 'write', path: 'save/link', text: 'two\n', base: 'any' })).toMatchObject({
      type: 'written',
    });
    expect(await client.ask({ type: 'write', path: 'save/new/file', text: 'new', base: null })).toMatchObject({
      type: 'written',
    });
    expect([readFileSync(at('save/new/file'), 'utf8'), readdirSync(at('save')).sort()]).toEqual([
      'new',
      ['link', 'new', 'run.sh'],
    ]);
    writeFileSync(at('save/latin1'), Buffer.from('gr\xfcn', 'latin1'));
    const latin = (await stateOf('save/latin1')) as { version: string };
    await client.ask({ type: 'write', path: 'save/latin1', text: 'grüner', encoding: 'latin1', base: latin.version });
    expect(readFileSync(at('save/latin1'))).toEqual(Buffer.from('gr\xfcner', 'latin1'));
    expect(
      await client.ask({ type: 'write', path: 'save/latin1', text: '€', encoding: 'latin1', base: null }),
    ).toMatchObject({
      type: 'failed',
      code: 'request.invalid',
    });
  });

  it('writes nothing over what it was not made from, and answers with what is there', async () => {
    writeFileSync(at('both'), 'base');
    const { version } = (await stateOf('both')) as { version: string };
    writeFileSync(at('both'), 'theirs');
    expect(await client.ask({ type: 'write', path: 'both', text: 'mine', base: version })).toMatchObject({
      type: 'conflict',
      file: { kind: 'text', text: 'theirs' },
    });
    expect(await client.ask({ type: 'write', path: 'both', text: 'mine', base: null })).toMatchObject({
      type: 'conflict',
      file: { text: 'theirs' },
    });
    rmSync(at('both'));
    expect(await client.ask({ type: 'write', path: 'both', text: 'mine', base: version })).toMatchObject({
      type: 'conflict',
      file: { kind: 'gone' },
    });
    mkdirSync(at('both'));
    expect(await client.ask({ type: 'write', path: 'both', text: 'mine', base: null })).toMatchObject({
      type: 'conflict',
      file: { kind: 'directory' },
    });
    expect(await client.ask({ type: 'write', path: 'pipe', text: 'mine', base: null })).toMatchObject({
      type: 'failed',
      code: 'request.invalid',
    });
    expect(await client.ask({ type: 'write', path: 'out', text: 'mine', base: null })).toMatchObject({
      type: 'failed',
    });
    expect(
      await client.ask({ type: 'write', path: 'big', text: 'x'.repeat(MAX_LIVE_TEXT_BYTES + 1), base: null }),
    ).toMatchObject({
      type: 'failed',
      code: 'request.too-large',
    });
    expect(existsSync(at('big'))).toBe(false);
  });

  it('makes, moves and deletes, and replaces nothing', async () => {
    expect(await client.ask({ type: 'create', path: 'made/by/hand.txt', kind: 'file' })).toMatchObject({
      type: 'done',
    });
    expect(await client.ask({ type: 'create', path: 'made/folder', kind: 'directory' })).toMatchObject({
      type: 'done',
    });
    writeFileSync(at('made/taken'), 'stays');
    symlinkSync('taken', at('made/link'));
    for (const request of [
      { type: 'create', path: 'made/taken', kind: 'file' },
      { type: 'create', path: 'made/link', kind: 'directory' },
      { type: 'rename', path: 'made/by/hand.txt', to: 'made/taken' },
      { type: 'rename', path: 'made/folder', to: 'made/by' },
      { type: 'rename', path: 'made', to: 'made/folder/made' },
      { type: 'rename', path: 'made/taken', to: '../taken' },
      { type: 'delete', path: '' },
      { type: 'delete', path: 'made/..' },
      { type: 'delete', path: 'made/nothing' },
      { type: 'create', path: 'made/taken/below', kind: 'file' },
    ] as const)
      expect([request, await client.ask(request)]).toEqual([request, expect.objectContaining({ type: 'failed' })]);
    expect(readFileSync(at('made/taken'), 'utf8')).toBe('stays');
    expect(await client.ask({ type: 'rename', path: 'made/link', to: 'made/x/link' })).toMatchObject({ type: 'done' });
    expect(lstatSync(at('made/x/link')).isSymbolicLink()).toBe(true);
    expect(await client.ask({ type: 'rename', path: 'made/taken', to: 'made/TAKEN' })).toMatchObject({ type: 'done' });
    symlinkSync('../../repo', at('made/x/repo'));
    expect(await client.ask({ type: 'delete', path: 'made/x/repo' })).toMatchObject({ type: 'done' });
    expect(await client.ask({ type: 'delete', path: 'made/by' })).toMatchObject({ type: 'done' });
    expect([readdirSync(at('made')).sort(), existsSync(at('repo/a.txt'))]).toEqual([['TAKEN', 'folder', 'x'], true]);
  });

  it('finds files by the letters of their path, the nearest first, and not what git ignores', async () => {
    const { paths } = (await client.ask({ type: 'find', id: 0, query: 'a.txt' } as never)) as { paths: string[] };
    expect(paths[0]).toBe('repo/a.txt');
    expect(((await client.ask({ type: 'find', query: 'repobtx' } as never)) as { paths: string[] }).paths).toContain(
      'repo/B.txt',
    );
    writeFileSync(at('repo/build/ignored.txt'), '');
    expect(((await client.ask({ type: 'find', query: 'ignored' } as never)) as { paths: string[] }).paths).toEqual([]);
  });

  it('searches for what was typed last: an older search ends, and is answered', async () => {
    // Each waits for its answer, of whichever kind: one that was quick may have been done.
    const answers = await Promise.all(
      ['r', 're', 'rep', 'repo', 'repob'].map((query) => client.ask({ type: 'find', query })),
    );
    expect(answers.at(-1)).toMatchObject({ type: 'found', paths: expect.arrayContaining(['repo/B.txt']) });
  });

  it('answers what it does not understand, and goes on', async () => {
    client.socket.send(JSON.stringify({ type: 'explode', id: 99_999 }));
    await until('the refusal', () =>
      client.messages.find((message) => message.type === 'failed' && message.id === 99_999),
    );
    expect(await stateOf('nowhere')).toEqual({ kind: 'gone' });
  });
});
