import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CommandRunner } from '../command/command-runner.js';
import { textOf } from '../testing/running-server.js';
import { askedBy } from './egress-asker.js';
import { OutputAllowance } from './output-allowance.js';
import { ShellEnvironment } from './shell-environment.js';
import { ShellStarts } from './shell-starts.js';
import { Terminal } from './terminal.js';

const PROXY = 'http://sandbox:slp_egr_abc.DEF-1@egress.example:3128';
const asked = (asker: string): string => PROXY.replace('sandbox:', `sandbox.${asker}:`);

describe('who asks, in the address of the proxy', () => {
  it('stands behind the user, in place of who asked before, and in no other proxy', () => {
    const env = {
      HTTP_PROXY: PROXY,
      https_proxy: asked('one'),
      HTTPS_PROXY: 'http://proxy.example:3128',
      NO_PROXY: '::1',
    };
    expect(askedBy(env, 'two')).toEqual({ ...env, HTTP_PROXY: asked('two'), https_proxy: asked('two') });
    expect(askedBy(askedBy(env, 'two'), undefined)).toEqual({ ...env, https_proxy: PROXY });
    for (const other of ['http://sandboxed:x@egress.example', 'http://sandbox@egress.example', 'sandbox:x@y', ''])
      expect(askedBy({ HTTP_PROXY: other }, 'two')).toEqual({ HTTP_PROXY: other });
  });
});

describe('a command of an action', () => {
  let folder: string;
  let environment: ShellEnvironment;
  let terminal: Terminal;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-asker-'));
    environment = new ShellEnvironment({ PATH: process.env['PATH'], HOME: folder });
    environment.configure({ HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, http_proxy: PROXY, https_proxy: PROXY });
    terminal = new Terminal({
      workspace: folder,
      outputDirectory: path.join(folder, 'out'),
      environment,
      allowance: new OutputAllowance(),
      starts: new ShellStarts(),
    });
  });
  afterEach(() => {
    terminal.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = async (command: string, actionId?: string): Promise<string> =>
    textOf(
      await terminal.execute(
        { kind: 'TerminalAction', command, is_input: false, reset: false },
        AbortSignal.timeout(20_000),
        { actionId },
      ),
    );

  it('names it to programs, each its own, in one shell; without one nobody is named', async () => {
    const all = 'env -0 | tr "\\0" "\\n" | grep -i "^https\\?_proxy=" | sort -f';
    for (const id of ['one', 'two']) {
      const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];
      expect((await run(all, id)).split('\n').toSorted()).toEqual(
        names.map((name) => `${name}=${asked(id)}`).toSorted(),
      );
    }
    expect(await run('printenv HTTPS_PROXY')).toBe(PROXY);
    expect(await run(`printenv HTTPS_PROXY; : ${'x'.repeat(3_000)}`, 'long')).toBe(asked('long'));
  });

  it('leaves what a command has set, unset, kept from programs or made readonly', async () => {
    await run(
      'export HTTP_PROXY=http://mine.example:1; unset http_proxy; export -n https_proxy; readonly HTTPS_PROXY',
      'one',
    );
    expect(
      await run(
        'echo "$HTTP_PROXY $http_proxy"; printenv https_proxy || echo "kept $https_proxy"; echo "$HTTPS_PROXY"',
        'two',
      ),
    ).toBe(`http://mine.example:1 \nkept ${asked('two')}\n${asked('one')}`);
    expect(await run('echo goes on', 'three')).toBe('goes on');
  });

  it('changes nothing else that the command sees, whatever options the shell has', async () => {
    await run('[[ abc =~ b ]]; set -u; (exit 7)', 'one');
    expect(await run('echo "$? $BASH_REMATCH"', 'two')).toBe('7 b');
    await run('set -o posix -f -u -e; IFS=/; shopt -s nocasematch; set -x', 'three');
    expect(await run('printenv HTTP_PROXY', 'four')).toBe(`++ printenv HTTP_PROXY\n${asked('four')}`);
    await run('set +x; set +o posix +f +u +e', 'five');
    expect(await run('compgen -v __slipway_name; compgen -v __slipway_value; history | grep -c four', 'six')).toBe('0');
  });

  it('is what its programs in the background go on to name, when the next one runs', async () => {
    await run('mkfifo go; { read -r _ < go; printenv HTTP_PROXY > said; } &', 'one');
    const said = await run('echo > go; wait $!; cat said; printenv HTTP_PROXY', 'two');
    expect(said.split('\n').slice(-2)).toEqual([asked('one'), asked('two')]);
  });

  it('is not named by a user’s shell and by scripts, which name themselves', async () => {
    expect(environment.forPeople()).toMatchObject({ HTTP_PROXY: asked('terminal'), https_proxy: asked('terminal') });
    expect(environment.variables()['HTTP_PROXY']).toBe(PROXY);
    const commands = new CommandRunner(folder, environment);
    const ran = await commands.run({ command: 'printenv HTTPS_PROXY', timeout: 10 }, AbortSignal.timeout(20_000));
    expect(ran.stdout.trim()).toBe(asked('script'));
    commands.close();
  });
});
