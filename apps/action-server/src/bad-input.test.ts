import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_OBSERVATION_LENGTH, SandboxObservation } from '@slipway/contracts/actions';
import { ERRORS, type ErrorCode, Problem } from '@slipway/contracts/errors';
import { stopwatch } from '@slipway/testing';
import fc from 'fast-check';
import { type RunningServer, startActionServer, TOKEN, textOf } from './testing/running-server.js';

/** Longest that one answer to bad input may take, on a busy machine. Milliseconds. */
const ANSWER_MS = 20_000;
/** How much memory the process may take at its peak for all that is asked of it here. MiB. */
const PEAK_GROWTH = 900;

type Answer =
  | { readonly status: 200; readonly observation: ReturnType<typeof SandboxObservation.parse> }
  | { readonly status: number; readonly code: ErrorCode; readonly observation?: undefined };

describe('action-server, given bad input', () => {
  let server: RunningServer;
  let instance: unknown;
  let peakBefore = 0;
  const at = (...names: string[]): string => path.join(server.workspace, ...names);
  const peak = (): number =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1]) / 1024;
  const lifeOf = async (): Promise<unknown> =>
    ((await (await fetch(`${server.url}/alive`)).json()) as { instance: unknown }).instance;

  beforeAll(async () => {
    server = await startActionServer();
    instance = await lifeOf();
    for (const folder of ['folder', 'folder/deep']) mkdirSync(at(folder));
    writeFileSync(at('text'), 'one\ntwo\n');
    writeFileSync(at('binary'), Buffer.from([0, 1, 2, 255, 254, 10]));
    writeFileSync(at('latin'), Buffer.from([0x61, 0xe9, 0xff, 10]));
    writeFileSync(at('lines'), 'x\n'.repeat(1_000_000));
    writeFileSync(at('one-line'), 'a'.repeat(4_000_000));
    writeFileSync(at('sparse'), '');
    truncateSync(at('sparse'), 2 * 1024 ** 3);
    symlinkSync('/etc', at('out'));
    symlinkSync('round', at('round'));
    symlinkSync('/nowhere/at/all', at('dangling'));
    execFileSync('mkfifo', [at('pipe')]);
    peakBefore = peak();
  });
  afterAll(async () => {
    const [alive, grown] = [await lifeOf(), peak() - peakBefore];
    await server.close();
    // One process served all of it.
    expect(alive).toBe(instance);
    expect(grown).toBeLessThan(PEAK_GROWTH);
  });

  /** An observation that reads as one, or a problem document with its own status; anything else fails. */
  async function answerTo(
    method: string,
    route: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const passed = stopwatch();
    const response = await server.send(method, route, body, { headers: { 'x-session-api-key': TOKEN, ...headers } });
    const text = await response.text();
    expect(passed()).toBeLessThan(ANSWER_MS);
    if (response.ok) {
      const given = JSON.parse(text.startsWith('{') ? text : '{}') as { observation?: unknown };
      return given.observation === undefined
        ? { status: 200, code: 'none' as ErrorCode }
        : { status: 200, observation: SandboxObservation.parse(given.observation) };
    }
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    const problem = Problem.parse(JSON.parse(text));
    // What is wrong with the input is the caller's to mend: nothing of it is a fault of ours.
    expect([problem.code, problem.detail, response.status]).toEqual([
      expect.any(String),
      expect.stringMatching(/\w/),
      ERRORS[problem.code as ErrorCode].status,
    ]);
    expect([
      problem.code,
      problem.status < 500 || problem.code === 'sandbox.disk-full' || problem.code === 'sandbox.tool-unavailable',
    ]).toEqual([problem.code, true]);
    return { status: response.status, code: problem.code as ErrorCode };
  }
  const act = (action: unknown): Promise<Answer> => answerTo('POST', '/execute_action', JSON.stringify({ action }));
  async function outcome(action: unknown): Promise<string> {
    const { observation, ...rest } = await act(action);
    if (observation === undefined) return 'code' in rest ? rest.code : '';
    expect(textOf(observation).length).toBeLessThanOrEqual(MAX_OBSERVATION_LENGTH + 10_000);
    expect(textOf(observation).length).toBeGreaterThan(observation.is_error ? 10 : -1);
    return observation.is_error ? String(observation['error_code'] ?? 'said') : 'done';
  }

  const edit = (command: string, file: string, more: object = {}) => ({
    kind: 'FileEditorAction',
    command,
    path: file,
    ...more,
  });
  const patch = (...lines: string[]) => ({
    kind: 'ApplyPatchAction',
    patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
  });
  const run = (command: string, more: object = {}) => ({ kind: 'TerminalAction', command, ...more });

  /**
   * What is asked, and what comes of it: the code of a problem or of an observation, `said` for an error in words,
   * `done`.
   */
  const TABLE: ReadonlyArray<readonly [string, () => unknown, string]> = [
    ['nothing', () => undefined, 'request.invalid'],
    ['a list', () => [], 'request.invalid'],
    ['an unknown kind', () => ({ kind: 'LaunchAction' }), 'request.invalid'],
    ['a kind of the agent’s own', () => ({ kind: 'ThinkAction', thought: 'x' }), 'request.invalid'],
    ['a kind that every object has', () => ({ kind: '__proto__' }), 'request.invalid'],

    ['a terminal without a command', () => ({ kind: 'TerminalAction' }), 'request.invalid'],
    ['a terminal with a list for a command', () => ({ kind: 'TerminalAction', command: ['ls'] }), 'request.invalid'],
    ['a terminal with an endless timeout', () => run('true', { timeout: 1e9 }), 'request.invalid'],
    ['a terminal named like a path', () => run('true', { session: '../../etc' }), 'request.invalid'],
    ['a command of 5 MB', () => run(`: ${'x'.repeat(5_000_000)}`), 'said'],
    ['a command of half a surrogate pair', () => run('echo \ud800x'), 'done'],
    ['a command of control characters', () => run(': \x1b[31m\x03\x04\x1a\x7f'), 'done'],
    ['a command that prints a million lines', () => run('seq 1 1000000'), 'done'],
    ['a command that prints bytes that are no text', () => run('head -c 300000 /dev/urandom'), 'done'],
    ['a command that kills its own shell', () => run('kill -9 $$'), 'done'],
    ['a command that closes what it speaks through', () => run('exec 0<&- 1>&- 2>&-; true'), 'done'],
    ['a command after these', () => run('echo "still $((40 + 2))"'), 'done'],

    ['an editor without a path', () => ({ kind: 'FileEditorAction', command: 'view' }), 'request.invalid'],
    ['an editor with an unknown command', () => edit('delete', at('text')), 'request.invalid'],
    ['an editor with a path of 1 MB', () => edit('view', `/${'a/'.repeat(500_000)}`), 'request.invalid'],
    ['a range of words', () => edit('view', at('text'), { view_range: ['1', '2'] }), 'request.invalid'],
    ['a range beyond numbers', () => edit('view', at('text'), { view_range: [1, 1e308] }), 'request.invalid'],
    ['a range before the first line', () => edit('view', at('text'), { view_range: [-5, 2] }), 'request.invalid'],
    [
      'a line that no file has',
      () => edit('insert', at('text'), { insert_line: Number.MAX_SAFE_INTEGER, new_str: 'x' }),
      'request.invalid',
    ],
    ['a path with a NUL', () => edit('create', at('a\0b'), { file_text: '' }), 'request.invalid'],
    ['a path of half a surrogate pair', () => edit('view', at('\ud800')), 'file.not-found'],
    ['a name that is too long', () => edit('create', at('n'.repeat(300)), { file_text: '' }), 'request.invalid'],
    ['a name as long as a name may be', () => edit('create', at('ü'.repeat(127)), { file_text: 'x' }), 'done'],
    [
      'an edit of a name as long as a name may be',
      () => edit('str_replace', at('ü'.repeat(127)), { old_str: 'x', new_str: 'y' }),
      'done',
    ],
    ['a file below a file', () => edit('create', at('text', 'x'), { file_text: '' }), 'file.not-found'],
    ['a file below a device', () => edit('create', '/dev/null/x', { file_text: '' }), 'file.not-found'],
    ['a device in place of a new file', () => edit('create', '/dev/null', { file_text: 'x' }), 'request.invalid'],
    ['a link in a circle', () => edit('str_replace', at('round'), { old_str: 'a', new_str: 'b' }), 'request.invalid'],
    ['the memory of the process', () => edit('view', '/proc/self/mem'), 'request.invalid'],
    ['what the kernel has yet to say', () => edit('view', '/proc/kmsg'), 'request.invalid'],
    [
      'a range of what the kernel has yet to say',
      () => edit('view', '/proc/kmsg', { view_range: [1, 2] }),
      'request.invalid',
    ],
    ['a file of 2 GB', () => edit('view', at('sparse')), 'file.too-large'],
    ['a range of a file of 2 GB of nothing', () => edit('view', at('sparse'), { view_range: [1, 2] }), 'file.binary'],
    [
      'an edit of a file of 2 GB',
      () => edit('insert', at('sparse'), { insert_line: 0, new_str: 'x' }),
      'file.too-large',
    ],
    ['a text that is not UTF-8, whole', () => edit('view', at('latin')), 'done'],
    ['a text that has a NUL', () => edit('view', at('binary')), 'file.binary'],
    ['a million lines, whole', () => edit('view', at('lines')), 'done'],
    [
      'three hundred thousand new lines',
      () => edit('insert', at('lines'), { insert_line: 5, new_str: 'y\n'.repeat(300_000) }),
      'done',
    ],
    [
      'a text that repeats itself, nearly found everywhere',
      () => edit('str_replace', at('one-line'), { old_str: `b${'a'.repeat(2_000_000)}`, new_str: '' }),
      'request.invalid',
    ],
    [
      'a text that repeats itself, found everywhere',
      () => edit('str_replace', at('one-line'), { old_str: 'a'.repeat(2_000_000), new_str: '' }),
      'request.invalid',
    ],
    [
      'lines that repeat themselves, nearly found everywhere',
      () => edit('str_replace', at('lines'), { old_str: `${'x \n'.repeat(500_000)}z`, new_str: '' }),
      'request.invalid',
    ],

    ['a patch of nothing', () => ({ kind: 'ApplyPatchAction', patch: '' }), 'request.invalid'],
    ['a patch of 12 MB', () => ({ kind: 'ApplyPatchAction', patch: 'x'.repeat(12_000_000) }), 'request.invalid'],
    [
      'a patch of one line in a million',
      () => patch(`*** Update File: ${at('lines')}`, '@@', ' x', '+z', '*** End of File'),
      'done',
    ],
    [
      'a patch of lines that repeat themselves',
      () => patch(`*** Update File: ${at('lines')}`, '@@', Array<string>(500_000).fill(' x').join('\n'), '-q'),
      'request.invalid',
    ],
    ['a patch of a pipe', () => patch(`*** Update File: ${at('pipe')}`, '@@', '-a', '+b'), 'request.invalid'],
    ['a patch that adds below a file', () => patch(`*** Add File: ${at('text/x')}`, '+a'), 'file.not-found'],

    ['a glob of nothing', () => ({ kind: 'GlobAction', pattern: '' }), 'request.invalid'],
    ['a glob of 2 MB', () => ({ kind: 'GlobAction', pattern: '*'.repeat(2_000_000) }), 'request.invalid'],
    [
      'a glob of a thousand alternatives, again and again',
      () => ({ kind: 'GlobAction', pattern: '{a,b}'.repeat(100) }),
      'request.invalid',
    ],
    ['a glob in a device', () => ({ kind: 'GlobAction', pattern: '*', path: '/dev/null' }), 'request.invalid'],
    [
      'a grep whose expression would fill the memory',
      () => ({ kind: 'GrepAction', pattern: '(a{1000}){1000}' }),
      'request.invalid',
    ],
    [
      'a grep that backtracks elsewhere',
      () => ({ kind: 'GrepAction', pattern: '(a+)+$', path: at('one-line') }),
      'done',
    ],
    [
      'a grep of what looks like an option',
      () => ({ kind: 'GrepAction', pattern: '--pre=touch /tmp/never', include: '--pre=touch' }),
      'done',
    ],
    ['a grep in a circle', () => ({ kind: 'GrepAction', pattern: 'x', path: at('round') }), 'request.invalid'],
    ['a list of a file', () => ({ kind: 'ListDirectoryAction', dir_path: at('text') }), 'request.invalid'],
    ['a list with a number for a place', () => ({ kind: 'ListDirectoryAction', dir_path: 7 }), 'request.invalid'],
    ['a list of names that are not UTF-8', () => ({ kind: 'ListDirectoryAction', dir_path: at() }), 'done'],

    ['a cell of 2 MB', () => ({ kind: 'IPythonRunCellAction', code: 'x'.repeat(2_000_000) }), 'request.invalid'],
    [
      'a cell with a timeout of nothing',
      () => ({ kind: 'IPythonRunCellAction', code: '1', timeout: 0 }),
      'request.invalid',
    ],
  ];

  it('answers each of a table of bad actions in its own way, and goes on', async () => {
    execFileSync('bash', ['-c', "touch $'not-utf8-\\xff'"], { cwd: at() });
    for (const [what, action, expected] of TABLE) expect([what, await outcome(action())]).toEqual([what, expected]);
    expect(existsSync('/tmp/never')).toBe(false);
  });

  it('takes any JSON in place of any field', async () => {
    const valid: ReadonlyArray<Record<string, unknown>> = [
      run('true', { timeout: 5 }),
      edit('view', at('text'), { view_range: [1, 2] }),
      edit('str_replace', at('text'), { old_str: 'one', new_str: 'one' }),
      edit('insert', at('text'), { insert_line: 1, new_str: '' }),
      edit('undo_edit', at('text')),
      patch(`*** Update File: ${at('text')}`, '@@', '-nowhere'),
      { kind: 'GlobAction', pattern: '*.ts', path: at() },
      { kind: 'GrepAction', pattern: 'one', path: at('folder'), include: '*' },
      { kind: 'ListDirectoryAction', dir_path: at('folder'), recursive: true },
    ];
    // What is run, and where is written or searched, stays harmless whatever the text says.
    const tame = (field: string, value: unknown): unknown => {
      if (typeof value !== 'string') return value;
      if (field === 'command') return `true # ${value.replaceAll(/[\n\r]/g, ' ')}`;
      return /^(path|dir_path)$/.test(field) ? at('folder', value) : value;
    };
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom<unknown>(-1, 1e308, 2 ** 53, '\0', '../../..', '-x', '__proto__'),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(valid.length - 1), fc.nat(10), anything, async (which, nth, value) => {
        const action = valid[which] as Record<string, unknown>;
        const fields = Object.keys(action);
        const field = fields[nth % fields.length] as string;
        await act({ ...action, [field]: tame(field, value) });
      }),
      { numRuns: 100 },
    );
    expect(readFileSync(at('text'), 'utf8')).toContain('two');
  });

  it('keeps what comes and goes as files inside of the workspace, whatever its path', async () => {
    for (const name of ['sparse', 'lines', 'one-line']) rmSync(at(name));
    const before = readdirSync(path.dirname(server.workspace));
    const part = fc.constantFrom(
      '..',
      '.',
      '',
      'a',
      'out',
      'round',
      'dangling',
      'pipe',
      'text',
      'folder',
      'ü',
      '\0',
      '%2e%2e',
      'x'.repeat(300),
      '\\..',
      'C:',
      '~',
      '\ud800',
    );
    const wanted = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
    const ways = [
      ['GET', '/file/download'],
      ['GET', '/file/zip'],
      ['POST', '/file/upload', 'content'],
      ['POST', '/file/unzip', 'no archive'],
      ['POST', '/file/create_directory'],
      ['GET', '/file/search_subdirs'],
      ['GET', '/git/changes'],
      ['GET', '/git/diff'],
    ] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ways),
        wanted,
        fc.boolean(),
        async ([method, route, body], name, absolute) => {
          await answerTo(
            method,
            `${route}?path=${encodeURIComponent(`${absolute ? '/' : ''}${name}`.toWellFormed())}`,
            body,
          );
        },
      ),
      {
        numRuns: 100,
        examples: [
          [ways[2], 'out/slipway-bad-input', false],
          [ways[4], 'out/slipway-bad-input', false],
          [ways[2], 'dangling', false],
          [ways[2], `a/${'x'.repeat(300)}/b`, false],
        ],
      },
    );
    expect([
      existsSync('/etc/slipway-bad-input'),
      existsSync('/nowhere'),
      readdirSync(path.dirname(server.workspace)),
    ]).toEqual([false, false, before]);
  });

  it('refuses names of commits and files that no program can be given, or that pass for options', async () => {
    execFileSync('git', ['init', '-q', at('repository')]);
    for (const query of [
      'base=a%00b',
      'ref=%00',
      'base=--output=/tmp/never',
      'base=HEAD%0a--all',
      'commit=--all',
      'turn=..',
    ])
      expect([query, (await answerTo('GET', `/git/changes?path=repository&${query}`)).status]).toEqual([query, 400]);
    expect((await answerTo('GET', '/git/patch?path=repository&file=a%00b')).status).toBe(400);
    expect((await answerTo('GET', '/file/tar?path=.&exclude=a%00b')).status).toBe(400);
    expect(existsSync('/tmp/never')).toBe(false);
  });

  it('refuses a command or an environment that no program can be given', async () => {
    const bash = (request: object): Promise<Answer> =>
      answerTo('POST', '/bash/execute', JSON.stringify({ timeout: 10, ...request }));
    for (const request of [
      { command: 'echo a\0b' },
      { command: 'true', env: { A: 'x\0' } },
      { command: `: ${'x'.repeat(3_000_000)}` },
      { command: 'true', env: { A: 'x'.repeat(3_000_000) } },
      { command: 'true', timeout: 1e9 },
      { command: 7 },
    ])
      expect((await bash(request)).status).toBe(400);
    expect((await bash({ command: 'true', cwd: `/${'x'.repeat(5_000)}` })).status).toBe(404);
    expect((await bash({ command: 'true', cwd: at('text', 'x') })).status).toBe(404);
  });

  it('starts shells and programs whatever the environment is that it was configured with, and reports what it left out', async () => {
    // In the first terminal something may still run that the tests before have left.
    const fresh = { session: 'fresh' };
    const configure = (env: object, more: object = {}): Promise<Answer> =>
      answerTo('POST', '/configure', JSON.stringify({ env, ...more }));
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`MANY_${index}`, 'x'.repeat(60_000)]));
    expect(
      (
        await configure(
          { ...many, NUL: 'a\0b', 'A=B': 'x', '': 'x', HUGE: 'x'.repeat(200_000), GOOD: 'kept' },
          { working_dir: at('not-there') },
        )
      ).status,
    ).toBe(200);
    const said = textOf(await server.terminal('echo "$GOOD / $(printenv MANY_0 | wc -c) / $SLIPWAY_LEFT_OUT"', fresh));
    expect(said).toMatch(/^kept \/ 60001 \/ .*NUL A\?B.*HUGE/s);
    expect((await answerTo('POST', '/bash/execute', JSON.stringify({ command: 'true', timeout: 10 }))).status).toBe(
      200,
    );
    expect(await outcome({ kind: 'GrepAction', pattern: 'one', path: at('folder') })).toBe('done');
    await configure({}, { working_dir: '/a\0b' });
    expect(textOf(await server.terminal('pwd', fresh))).toBe(server.workspace);
  });

  it('answers a form that is none, a boundary that is none, and a body that ends too soon', async () => {
    const form = (type: string, body: string): Promise<Answer> =>
      answerTo('POST', '/file/upload?path=form', body, { 'content-type': type });
    expect((await form('multipart/form-data; boundary=b', 'nothing of a form')).status).toBe(400);
    expect((await form(`multipart/form-data; boundary=${'b'.repeat(5_000)}`, 'nothing of a form')).status).toBe(400);
    expect((await form('multipart/form-data; boundary=b', `--b\r\n${'x: y\r\n'.repeat(10_000)}\r\n`)).status).toBe(400);
    expect(
      (
        await form(
          'multipart/form-data; boundary=b',
          '--b\r\ncontent-disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n',
        )
      ).status,
    ).toBe(400);
    expect(existsSync(at('form'))).toBe(false);
    expect(readdirSync(at()).filter((name) => name.startsWith('.upload'))).toEqual([]);
  });
});
