import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_OBSERVATION_LENGTH } from '@slipway/contracts/actions';
import { stopwatch, until } from '@slipway/testing';
import { processRow } from '../process/process-table.js';
import { type RunningServer, startActionServer, textOf } from '../testing/running-server.js';

describe('the agent’s terminal', () => {
  let server: RunningServer;
  const run = async (command: string, more?: Record<string, unknown>): Promise<[number | null, string]> => {
    const observation = await server.terminal(command, more);
    return [observation.exit_code, textOf(observation)];
  };
  beforeAll(async () => {
    server = await startActionServer();
  });
  afterAll(() => server.close());

  it('keeps directory, variables, functions, aliases and options from command to command', async () => {
    await run(
      'mkdir -p sub && cd sub && export A=1 b=2 && f() { echo "f$A$b"; } && alias hi="echo alias"\nset -o pipefail',
    );
    expect(await run('f; pwd; false | true; echo $?')).toEqual([0, `f12\n${server.workspace}/sub\n1`]);
    expect(await run('hi')).toEqual([0, 'alias']);
    expect((await server.terminal('cd /tmp')).metadata.working_dir).toBe('/tmp');
    await run('set +o pipefail');
  });

  it('hands `$?` on to the next command', async () => {
    expect((await run('exit_with() { return 42; }; exit_with'))[0]).toBe(42);
    expect(await run('echo $?')).toEqual([0, '42']);
  });

  it('runs commands of many lines, with heredocs, quotes and characters of every kind', async () => {
    expect(await run('cat <<"X"\nit\'s $HOME `here` \\ é😀\nX\nfor i in 1 2; do\n  echo "$i"\ndone')).toEqual([
      0,
      "it's $HOME `here` \\ é😀\n1\n2",
    ]);
    expect(await run(`printf '%s' '\t\x03\x04\x1a\x7f!$' | od -An -tx1`)).toEqual([0, ' 09 03 04 1a 7f 21 24']);
  });

  it('takes a command far longer than a line of a terminal may be', async () => {
    const long = 'é😀x'.repeat(40_000);
    expect(await run(`text='${long}'; echo \${#text}`)).toEqual([0, '120000']);
  });

  it('answers a syntax error and runs the next command', async () => {
    for (const broken of ["echo 'a", 'if true; then', 'echo $(', '}', 'case x in', 'a &&']) {
      expect((await run(broken))[0]).toBeGreaterThan(0);
      expect(await run('{ echo fine; }')).toEqual([0, 'fine']);
    }
    expect(await run('true\ntrue\nfi')).toEqual([2, expect.stringContaining('syntax error')]);
  });

  it('is not misled by a program that prints escape sequences, changes the prompt, or turns echo on', async () => {
    expect(await run("printf '\\e]0;open title'; printf '\\e[2J\\e[31mred\\e[0m\\n'")).toEqual([
      0,
      expect.stringContaining('red'),
    ]);
    await run('PS1="user@host$ "; PROMPT_COMMAND="echo noise"');
    expect(await run('echo one')).toEqual([0, 'one']);
    await run('stty sane');
    expect(await run('echo two')).toEqual([0, 'two']);
    await run('stty raw');
    expect(await run('echo three')).toEqual([0, 'three']);
    await run('stty sane -echo');
    expect(await run('set -x; echo traced')).toEqual([0, '++ echo traced\ntraced']);
    expect(await run('echo still')).toEqual([0, '++ echo still\nstill']);
    await run('set +x');
    expect((await run('set -u; echo $not_there; echo no'))[0]).not.toBe(0);
    expect(await run('set +u; echo on')).toEqual([0, 'on']);
    expect((await run('declare -f; set; env'))[0]).toBe(0);
  });

  it('starts a new shell, in the same directory and with a note, when the command ends the old one', async () => {
    for (const [ending, code] of [
      ['exit 3', 3],
      ['set -e; false', 1],
      ['exec sh -c "exit 5"', 5],
      ['kill -9 $$', 137],
    ] as const) {
      await run('cd /usr');
      const observation = await server.terminal(ending);
      expect(observation.exit_code).toBe(code);
      expect(observation.metadata.suffix).toContain('new shell');
      expect(await run('pwd')).toEqual([0, '/usr']);
    }
  });

  it('answers at the timeout with what was printed, leaves the program running, and reads on', async () => {
    const first = await server.terminal(
      `echo early; while [ ! -e ${server.workspace}/go-on ]; do sleep 0.05; done; echo late`,
      { timeout: 1 },
    );
    expect([first.exit_code, first.timeout, textOf(first)]).toEqual([-1, true, 'early\n']);
    const refused = await server.terminal('echo other');
    expect(refused.is_error).toBe(true);
    expect(textOf(refused)).toContain('is_input=true');
    writeFileSync(path.join(server.workspace, 'go-on'), '');
    const second = await server.terminal('', { timeout: 30 });
    expect([second.exit_code, textOf(second)]).toEqual([0, 'late']);
  });

  it('types text and keys into the running program', async () => {
    expect((await run('read -p "Name: " name; echo "hello $name"', { timeout: 1 }))[1]).toBe('Name: ');
    expect(await run('Bob', { is_input: true })).toEqual([0, 'hello Bob']);
    await run('cat', { timeout: 0.5 });
    expect((await run('line', { is_input: true, timeout: 1 }))[1]).toBe('line\n');
    expect(await run('C-d', { is_input: true })).toEqual([0, '']);
    await run('sleep 100', { timeout: 0.5 });
    expect((await run('C-c', { is_input: true }))[0]).toBe(130);
    await run('sleep 100', { timeout: 0.5 });
    expect((await run('C-z', { is_input: true }))[0]).toBe(148);
    await run('kill -9 %1; wait');
  });

  it('says what to do when there is nothing to read from or to type into', async () => {
    expect((await server.terminal('')).is_error).toBe(true);
    expect((await server.terminal('x', { is_input: true })).is_error).toBe(true);
    expect((await server.terminal('', { is_input: true, reset: true })).is_error).toBe(true);
    expect((await server.terminal('echo a\0b')).is_error).toBe(true);
  });

  it('gives a fresh shell on reset, also while a program runs', async () => {
    await run('export GONE=1; sleep 1000', { timeout: 0.1 });
    expect((await server.terminal('', { reset: true })).exit_code).toBe(0);
    expect(await run('echo "[$GONE]"; pwd')).toEqual([0, `[]\n${server.workspace}`]);
  });

  it('keeps the ends of a 100 MB output, the whole in a capped file, and its memory', async () => {
    const rss = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = rss();
    const observation = await server.terminal('echo first; yes 0123456789 | head -c 100000000; echo; echo last', {
      timeout: 60,
    });
    expect(rss() - before).toBeLessThan(60);
    const text = textOf(observation);
    expect(text.length).toBeLessThanOrEqual(MAX_OBSERVATION_LENGTH);
    expect(text.startsWith('first\n')).toBe(true);
    expect(text.endsWith('last')).toBe(true);
    expect(text).toContain(observation.full_output_save_dir as string);
    expect(statSync(observation.full_output_save_dir as string).size).toBe(50 * 1024 * 1024);
  });

  it('keeps all of a middle-sized output in the file', async () => {
    const observation = await server.terminal('seq 1 20000');
    expect(textOf(observation)).toContain('characters cut');
    expect(await readFile(observation.full_output_save_dir as string, 'utf8')).toBe(
      Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''),
    );
  });

  it('reports background output with the next command', async () => {
    await run('(sleep 0.2; echo from the background) &');
    await run('sleep 0.4');
    await run('(sleep 0.1; echo later; touch done) &');
    await until('the job is done', () => statSync(`${server.workspace}/done`, { throwIfNoEntry: false }));
    // What is written may be on its way to us still when the file is there: then the next answer has it.
    await until('a command tells', async () => (await server.terminal('true')).metadata.prefix.includes('later'));
  });

  for (const [what, command] of [
    ['a sleep', 'sleep 1000000'],
    ['a list of commands', 'sleep 1000000; sleep 1000000; echo never'],
    [
      'a program that traps INT',
      `python3 -c 'import signal,time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)'`,
    ],
    ['a subshell that traps INT and TERM', '(trap "" INT TERM; while :; do sleep 0.1; done)'],
    ['a loop of bash itself', 'while :; do :; done'],
    ['a program that prints without end', 'yes'],
  ] as const) {
    it(`stops ${what} within a second when the request is closed, and keeps the shell`, async () => {
      expect((await run('kept=yes; echo $$'))[0]).toBe(0);
      const abort = new AbortController();
      const started = performance.now();
      const request = server.terminal(command, { timeout: 60 }, abort.signal).then(
        () => 'answered',
        () => 'closed',
      );
      await until('it runs for 200 ms', () => performance.now() - started > 200);
      abort.abort();
      const passed = stopwatch();
      expect(await request).toBe('closed');
      // Its turn comes when the old one is gone.
      expect(await run('echo $kept')).toEqual([0, 'yes']);
      expect(passed()).toBeLessThan(1000);
    });
  }

  it('ends even a shell that ignores every signal, within a second', async () => {
    const abort = new AbortController();
    const started = performance.now();
    const request = server
      .terminal('trap "" INT TERM HUP; while :; do :; done', { timeout: 60 }, abort.signal)
      .catch(() => 'closed');
    await until('it runs for 200 ms', () => performance.now() - started > 200);
    abort.abort();
    const passed = stopwatch();
    expect(await request).toBe('closed');
    expect(await run('echo new')).toEqual([0, 'new']);
    expect(passed()).toBeLessThan(1000);
  });

  it('stops a program that has outlived its action when it is asked to, within a second, and keeps the shell', async () => {
    const [, shell] = await run('echo $$');
    await server.terminal('(trap "" INT TERM; sleep 1000000)', { timeout: 0.5 });
    const passed = stopwatch();
    expect((await server.send('POST', '/interrupt_terminal', '{}')).status).toBe(200);
    expect(await run('echo $$')).toEqual([0, shell]);
    expect(passed()).toBeLessThan(1000);
    expect((await server.send('POST', '/interrupt_terminal', '{}')).status).toBe(200);
  });

  it('begins in the configured directory, also after a reset, and stays where it is when it is configured the same again', async () => {
    const own = await startActionServer();
    const configure = (): Promise<Response> =>
      own.send('POST', '/configure', JSON.stringify({ env: {}, working_dir: `${own.workspace}/project` }));
    const where = async (command: string, more?: Record<string, unknown>): Promise<string> =>
      textOf(await own.terminal(command, more));
    await own.terminal('mkdir project');
    await configure();
    expect(await where('pwd')).toBe(`${own.workspace}/project`);
    await own.terminal('cd /tmp');
    await configure();
    expect(await where('pwd')).toBe('/tmp');
    expect(await where('pwd', { reset: true })).toBe(`${own.workspace}/project`);
    await own.close();
  });

  it('gives a shell the configured environment, and never the token', async () => {
    await server.send('POST', '/configure', JSON.stringify({ env: { TASK: 'from activation' } }));
    const [, env] = await run('env; echo $PAGER $GIT_TERMINAL_PROMPT');
    expect(env).toContain('TASK=from activation');
    expect(env).toContain('cat 0');
    expect(env).not.toContain('ACTION_SERVER_TOKEN');
  });

  it('gives the environment of now to the command after one that still ran, or was not read to its end, when it changed', async () => {
    const configure = (env: object, more: object = {}): Promise<Response> =>
      server.send('POST', '/configure', JSON.stringify({ env, ...more }));
    await configure({ TASK: 'before' });
    const gate = (name: string): string => `until [ -e '${server.workspace}/${name}' ]; do sleep 0.05; done`;
    await run(`cd /tmp; ${gate('one')}; echo slept`, { timeout: 0.05 });
    await configure({ TASK: 'now' });
    writeFileSync(path.join(server.workspace, 'one'), '');
    expect(
      await until('it has ended', async () => ((one) => (one[0] === 0 ? one : false))(await run('', { timeout: 1 }))),
    ).toEqual([0, 'slept']);
    expect(await run('echo "$TASK"; pwd')).toEqual([0, 'now\n/tmp']);
    await run(`${gate('two')}; echo unread`, { timeout: 0.05 });
    await configure({ TASK: 'later' }, { working_dir: server.workspace });
    writeFileSync(path.join(server.workspace, 'two'), '');
    const later = await until('the next command runs', async () =>
      ((one) => (one.exit_code === 0 ? one : false))(await server.terminal('echo "$TASK"; pwd')),
    );
    expect([textOf(later), later.metadata.prefix]).toEqual([
      expect.stringMatching(/^later\n/),
      expect.stringContaining('unread'),
    ]);
    await configure({});
  });

  it('ends what it started when it is stopped', async () => {
    const own = await startActionServer();
    await own.terminal('sleep 1000 & echo $! > pid; nohup sleep 1000 & echo $! > pid2; (sleep 1000; true) & jobs');
    await own.terminal('sleep 1000', { timeout: 0.1 });
    const pids = [
      Number(await readFile(`${own.workspace}/pid`, 'utf8')),
      Number(await readFile(`${own.workspace}/pid2`, 'utf8')),
    ];
    expect(pids.every((pid) => processRow(pid) !== undefined)).toBe(true);
    await own.close();
    await until('its processes are gone', () => pids.every((pid) => processRow(pid) === undefined));
  });

  it('keeps what was typed for a program away from the next command, whether the program read it or not', async () => {
    for (const input of [
      'abc',
      'echo injected',
      `${'x'.repeat(200_000)}`,
      'echo injected\n'.repeat(3_000),
      'UP',
      'TAB',
    ]) {
      await run('REPLY=mine; sleep 0.4', { timeout: 0.1 });
      await run(input, { is_input: true, timeout: 0.05 });
      await run('', { timeout: 20 });
      const next = await server.terminal('echo next $REPLY $__slipway_unread');
      expect([input.slice(0, 20), next.exit_code, textOf(next), next.metadata.prefix]).toEqual([
        input.slice(0, 20),
        0,
        'next mine',
        '',
      ]);
    }
    expect(await run('read -r line; read -r more; echo "$line, $more"', { timeout: 0.2 })).toEqual([-1, '']);
    await run('one', { is_input: true, timeout: 0.1 });
    expect(await run('two', { is_input: true, timeout: 20 })).toEqual([0, expect.stringContaining('one, two')]);
  });

  it('ends by C-c a program that does not read what was typed before, and refuses to keep more of that than its bound', async () => {
    await run('sleep 1000', { timeout: 0.1 });
    expect((await run('x\n'.repeat(200_000), { is_input: true, timeout: 0.1 }))[0]).toBe(-1);
    await run('x\n'.repeat(200_000), { is_input: true, timeout: 0.1 });
    expect(await run('x\n'.repeat(400_000), { is_input: true, timeout: 0.1 })).toEqual([
      null,
      expect.stringContaining('does not read'),
    ]);
    expect((await run('C-c', { is_input: true, timeout: 20 }))[0]).toBe(130);
    expect(await run('echo next')).toEqual([0, 'next']);
  });

  it('goes on with a search path of any length', async () => {
    expect((await run('before=$PATH; PATH="$PATH:$(head -c 200000 /dev/zero | tr "\\0" x)"; echo long'))[1]).toBe(
      'long',
    );
    expect(await run('unset PATH; set -u; echo none')).toEqual([0, 'none']);
    expect(await run('set +u; PATH=$before; echo short')).toEqual([0, 'short']);
  });

  it('cuts a long output between its lines, so that nothing that is known by its whole is shown in half; a line that is too long for that is cut', async () => {
    const [, text] = await run("seq -f 'token-%06g-end' 1 20000");
    const lines = text.split('\n');
    expect(lines.filter((line) => !/^token-\d{6}-end$/.test(line))).toEqual([
      expect.stringMatching(/^\[\.\.\. \d+ characters cut here/),
    ]);
    const cut = Number(/\.\.\. (\d+) characters/.exec(text)?.[1]);
    expect(lines.length - 1 + cut / 'token-000001-end\n'.length).toBe(20_000);
    expect((await run('head -c 100000 /dev/zero | tr "\\0" x'))[1].length).toBeGreaterThan(
      MAX_OBSERVATION_LENGTH - 1_000,
    );
  });
});
