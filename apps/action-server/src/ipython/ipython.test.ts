import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  IPythonRunCellAction,
  IPythonRunCellObservation,
  MAX_IMAGES_LENGTH,
  MAX_OBSERVATION_LENGTH,
} from '@slipway/contracts/actions';
import { stopwatch, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { pythonEnvironment } from '@slipway/testing/programs';
import { processRow } from '../process/process-table.js';
import { OutputAllowance } from '../terminal/output-allowance.js';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { textOf } from '../testing/running-server.js';
import { IPython, NO_KERNEL } from './ipython.js';

const VERSION = '6.30.1';
const python = await pythonEnvironment({ name: `ipykernel/${VERSION}`, packages: [`ipykernel==${VERSION}`] });

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/**
 * Of what may be printed: so little that a kernel on a slow machine prints more, too, and is slowed down. Bytes, and
 * bytes a millisecond.
 */
const AT_ONCE = 4 * 1024 * 1024;
const PER_MS = (1024 * 1024) / 1_000;

/** Starts a kernel, prints its number, and waits in a cell. */
const KILLED_SERVER = `
const { Kernel } = await import(${JSON.stringify(new URL('kernel.js', import.meta.url).href)});
const { OutputAllowance } = await import(${JSON.stringify(new URL('../terminal/output-allowance.js', import.meta.url).href)});
const kernel = await Kernel.start('python', { cwd: '.', env: process.env, allowance: new OutputAllowance(), signal: new AbortController().signal });
const listener = { text: (text) => process.stdout.write(text), display: () => {} };
await kernel.run('import os, time; print(os.getpid(), flush=True); time.sleep(1000)', listener, { silent: false });
`;

describeUnless('missing' in python ? python.missing : false)('a cell of Python', () => {
  let folder: string;
  let environment: ShellEnvironment;
  let ipython: IPython;
  const run = async (code: string, more: Record<string, unknown> = {}, signal = new AbortController().signal) =>
    IPythonRunCellObservation.parse(
      await ipython.execute(
        IPythonRunCellAction.parse({ kind: 'IPythonRunCellAction', code, include_extra: false, ...more }),
        signal,
      ),
    );
  const said = async (code: string, more: Record<string, unknown> = {}): Promise<string> =>
    textOf(await run(code, more));
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-cells-'));
    const bin = 'missing' in python ? '' : path.dirname(python.program('python'));
    environment = new ShellEnvironment({ ...process.env, HOME: folder, PATH: `${bin}:${process.env['PATH']}` });
    ipython = new IPython({
      environment,
      directory: () => folder,
      outputDirectory: path.join(folder, 'output'),
      allowance: new OutputAllowance(() => performance.now(), AT_ONCE, PER_MS),
    });
  });
  afterAll(() => {
    ipython.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is run by a real kernel that keeps its state, and shows what it prints and what its last line is', async () => {
    expect(ipython.missing).toBeNull();
    expect(await run('import os\nx = 41\nprint("héllo 😀")\nx + 1')).toMatchObject({
      is_error: false,
      execution_count: 1,
      timeout: false,
      content: [{ text: 'héllo 😀\n42' }],
    });
    expect(await said('x += 1; print(x, os.getcwd())')).toBe(`42 ${folder}`);
    expect(await said('!echo from the shell')).toBe('from the shell');
    expect(await said('')).toBe('');
    expect(await said('1', { include_extra: true })).toContain(`[Jupyter current working directory: ${folder}]`);
    // What was asked about the directory does not count.
    expect((await run('pass')).execution_count).toBe(5);
  });

  it('shows an error without colours, and the next cell runs', async () => {
    const failed = await run('def f():\n  raise ValueError("no good")\nf()');
    expect(failed.is_error).toBe(true);
    expect(textOf(failed)).toContain('ValueError: no good');
    expect(textOf(failed)).not.toContain('\u001b');
    expect(textOf(await run('this is no python'))).toContain('SyntaxError');
    expect(await said('input("name?")')).toContain('StdinNotImplementedError');
    expect(await said('print("fine")')).toBe('fine');
  });

  it('gives pictures as data URLs, the text of other displays, and a picture that is too large as a file', async () => {
    const shown = await run(
      `from IPython.display import display, Image, HTML\nimport base64\ndisplay(Image(base64.b64decode("${PNG}")))\ndisplay({"a": 1})\nHTML("<b>x</b>")`,
    );
    expect(shown.content.slice(1)).toEqual([{ type: 'image', image_urls: [`data:image/png;base64,${PNG}`] }]);
    expect(textOf(shown)).toContain("[picture 1]\n{'a': 1}");
    const large = await run(`Image(base64.b64decode("${PNG}") + b"x" * ${MAX_IMAGES_LENGTH})`);
    expect(large.content).toHaveLength(1);
    const [, file = ''] = /it is in (\S+\.png)\]/.exec(textOf(large)) ?? [];
    expect(await said(`os.path.getsize("${file}") > ${MAX_IMAGES_LENGTH}`)).toBe('True');
  });

  it('has the variables of the environment of every shell, also those that come later, and keeps its own', async () => {
    environment.configure({ TASK: 'it\'s "set"\n', GOES: '1' });
    expect(await said('print(repr(os.environ["TASK"]), x)')).toBe(`'it\\'s "set"\\n' 42`);
    environment.configure({ TASK: 'changed' });
    expect(await said('print(os.environ["TASK"], os.environ.get("GOES"))')).toBe('changed None');
    expect(await said('"ACTION_SERVER_TOKEN" in os.environ')).toBe('False');
  });

  it('names its action in the proxy’s address, unless a cell before it chose another proxy', async () => {
    const proxy = 'http://sandbox:secret@egress.example:3128';
    environment.configure({ HTTP_PROXY: proxy, HTTPS_PROXY: proxy });
    const named = async (code: string, actionId: string): Promise<string> => {
      const action = IPythonRunCellAction.parse({ kind: 'IPythonRunCellAction', code, include_extra: false });
      return textOf(await ipython.execute(action, new AbortController().signal, actionId));
    };
    const both = "import os; print(os.environ['HTTP_PROXY'], os.environ['HTTPS_PROXY'])";
    expect(await named(both, 'one')).toBe('http://sandbox.one:secret@egress.example:3128 '.repeat(2).trim());
    await named("os.environ['HTTP_PROXY'] = 'http://mine.example:1'", 'two');
    expect(await named(both, 'three')).toBe('http://mine.example:1 http://sandbox.three:secret@egress.example:3128');
    environment.configure({});
    expect(await named("print('HTTPS_PROXY' in os.environ, '_w' in globals())", 'four')).toBe('False False');
  });

  it('is interrupted at its timeout, with what it printed, and keeps the kernel', async () => {
    const late = await run('import time\nprint("early", flush=True)\ntime.sleep(600)', { timeout: 1 });
    expect([late.is_error, late.timeout]).toEqual([true, true]);
    expect(textOf(late)).toMatch(/^early\n[\s\S]*KeyboardInterrupt[\s\S]*interrupted after 1 seconds/);
    expect(await said('print(x)')).toBe('42');
  });

  it('ends with its request within a second, also one that heeds nothing: then the next says that the kernel is a new one', async () => {
    for (const [code, survives] of [
      ['time.sleep(600)', true],
      [
        'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nopen("pid", "w").write(str(os.getpid()))\nwhile True: pass',
        false,
      ],
    ] as const) {
      const abort = new AbortController();
      const asked = run(code, { timeout: 600 }, abort.signal).catch((error: Error) => error.message);
      const begun = stopwatch();
      await until('it runs', () => begun() > 500);
      const stopping = stopwatch();
      abort.abort(new Error('stopped'));
      expect(await asked).toBe('stopped');
      expect(stopping()).toBeLessThan(3_000);
      const next = await said('print("x" in globals())');
      if (survives) expect(next).toBe('True');
      else expect(next).toMatch(/^False\n\[The kernel is a new one/);
    }
  });

  it('reports a kernel that dies, and of its state, and goes on with a new one', async () => {
    const died = await run('print("last words", flush=True)\nimport os; os._exit(3)');
    expect(died.is_error).toBe(true);
    expect(textOf(died)).toContain('The kernel ended while it ran the cell');
    expect(await said('print("last" in globals(), "alive")', { reset: true })).toBe('False alive');
  });

  it('keeps the kernel when the cell holds half a surrogate pair or prints one, and says of a result that it is too large', async () => {
    await run('kept = 5');
    expect(await said('print("a\ud800b", kept)')).toBe('a\ufffdb 5');
    await run('print("\\ud800")');
    expect(await said('"x" * 60_000_000')).toBe('[a result that is too large to be shown]');
    expect(await said('kept')).toBe('5');
  });

  it('keeps the ends of a long output and the whole in a file, also of one that is slowed down, and answers bad input', async () => {
    const long = await run('for i in range(120_000): print(str(i).zfill(100))');
    expect(textOf(long).length).toBeLessThanOrEqual(MAX_OBSERVATION_LENGTH + 1_000);
    expect(textOf(long)).toContain(`all of it is in ${long.full_output_save_dir}`);
    expect(await said(`print(open("${long.full_output_save_dir}").read().count("\\n"))`)).toBe('120000');
    expect(await run('a\0b')).toMatchObject({ is_error: true, error_code: 'request.invalid' });
    expect((await run('!printf "\\377\\376 bytes"')).is_error).toBe(false);
    expect(IPythonRunCellAction.safeParse({ kind: 'IPythonRunCellAction', code: 7 }).success).toBe(false);
  });

  for (const [what, line, most] of [
    ['long lines', 'print("x" * 1000)', 0.6],
    ['lines that are each sent at once', 'print("x", flush=True)', 1.2],
  ] as const)
    it(`that prints ${what} without an end leaves most of the processor to others, and keeps its kernel when it is interrupted`, async () => {
      const kernel = Number(await said('import os\nprint(os.getpid())\nkept = 6'));
      const abort = new AbortController();
      const asked = run(`n = 0\nwhile True:\n  n += 1\n  ${line}`, { timeout: 900 }, abort.signal).catch(
        (error: Error) => error.message,
      );
      const bridge = processRow(kernel)?.parent;
      const spent = (): number => ticks(kernel) + ticks(bridge) + ticks(process.pid);
      let [begun, since] = [spent(), stopwatch()];
      const share = (): number => {
        const used = ((spent() - begun) * 10) / since();
        [begun, since] = [spent(), stopwatch()];
        return used;
      };
      // Parts of one core in two seconds. Without the pace the kernel alone takes one, and what reads it much of
      // another; how much work a line is depends on the machine.
      try {
        await until(
          'what may be printed at once is over, and little is taken from then on',
          () => since() > 2_000 && share() < most,
          120_000,
        );
      } finally {
        abort.abort(new Error('stopped'));
      }
      expect(await asked).toBe('stopped');
      expect(await said('print(kept, os.getpid(), n > 1000)')).toBe(`6 ${kernel} True`);
    });

  it('leaves nothing running when the server ends', async () => {
    const pids = (
      await said('import os, subprocess; child = subprocess.Popen(["sleep", "1000"]); print(os.getpid(), child.pid)')
    )
      .split(' ')
      .map(Number);
    ipython.close();
    await until('the kernel and what it started are gone', () => pids.every((pid) => processRow(pid) === undefined));
  });

  it('ends when the server is killed in the middle of a cell', async () => {
    const killed = spawn(process.execPath, ['-e', KILLED_SERVER], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: folder,
      env: { ...process.env, ...environment.variables() },
    });
    const [line] = (await once(killed.stdout, 'data')) as [Buffer];
    killed.kill('SIGKILL');
    await until('the kernel is gone', () => processRow(Number(line.toString())) === undefined);
  });
});

describe('a sandbox without a kernel', () => {
  it('says so in one sentence, and offers no cells', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-no-kernel-'));
    const bare = new IPython({
      environment: new ShellEnvironment({ PATH: folder, HOME: folder }),
      directory: () => folder,
      outputDirectory: folder,
      allowance: new OutputAllowance(),
    });
    expect(bare.missing).toBe(NO_KERNEL);
    const answer = await bare.execute(
      IPythonRunCellAction.parse({ kind: 'IPythonRunCellAction', code: '1' }),
      new AbortController().signal,
    );
    expect(answer).toMatchObject({
      is_error: true,
      error_code: 'sandbox.tool-unavailable',
      content: [{ text: NO_KERNEL }],
    });
    rmSync(folder, { recursive: true });
  });
});

/** Of a process' own processor time. Hundredths of a second. */
function ticks(pid: number | undefined): number {
  const fields = statusOf(pid);
  return Number(fields[11]) + Number(fields[12]);
}

function statusOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
}
