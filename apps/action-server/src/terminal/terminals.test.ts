import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { processRow } from '../process/process-table.js';
import { type RunningServer, startActionServer, textOf } from '../testing/running-server.js';
import { OutputAllowance } from './output-allowance.js';
import { ShellEnvironment } from './shell-environment.js';
import { ShellStarts } from './shell-starts.js';
import { Terminals } from './terminals.js';

describe('several terminals', () => {
  let server: RunningServer;
  const run = async (
    session: string | undefined,
    command: string,
    more: Record<string, unknown> = {},
  ): Promise<string> =>
    textOf(await server.terminal(command, { ...(session === undefined ? {} : { session }), ...more }));
  beforeAll(async () => {
    server = await startActionServer();
  });
  afterAll(() => server.close());

  it('have directory and variables of their own, and one without a name is the first', async () => {
    await run(undefined, 'cd /usr; export WHO=first');
    await run('other', 'cd /etc; export WHO=other');
    expect(await run('main', 'echo $WHO $PWD')).toBe('first /usr');
    expect(await run('other', 'echo $WHO $PWD')).toBe('other /etc');
    const observation = await server.terminal('true', { session: 'other' });
    expect(observation).toMatchObject({ session: 'other', metadata: { working_dir: '/etc' } });
  });

  it('run beside each other: a program in one keeps no other waiting, and takes its input where it runs', async () => {
    expect(await run('asks', 'read -p "Name? " name; echo "hello $name"', { timeout: 0.2 })).toBe('Name? ');
    expect(await run(undefined, 'echo free')).toBe('free');
    expect(await run('asks', 'Ann', { is_input: true, timeout: 10 })).toBe('hello Ann');
  });

  it('are stopped one at a time: the one that was used last, and what others left running stays', async () => {
    const pid = Number(await run('server', 'echo $BASHPID; exec sleep 1000', { timeout: 0.3 }));
    await run('tests', 'sleep 1001', { timeout: 0.1 });
    expect((await server.send('POST', '/interrupt_terminal', '{}')).status).toBe(200);
    expect(await run('tests', 'echo done')).toBe('done');
    expect(processRow(pid)).toBeDefined();
    await run('server', '', { reset: true });
    await until('its program is gone', () => processRow(pid) === undefined);
  });

  it('are at most eight; one whose shell has ended makes room', async () => {
    for (let index = 0; index < 8; index++) await server.terminal('true', { session: `many-${index}` });
    const refused = await server.terminal('true', { session: 'one-more' });
    expect([refused.is_error, textOf(refused)]).toEqual([true, expect.stringContaining('many-0')]);
    await server.terminal('exit', { session: 'many-0' });
    await server.terminal('true');
    expect(await run('one-more', 'echo here')).toBe('here');
  });

  it('have names, and nothing else is one', async () => {
    for (const session of ['', '../x', 'a b', 'x'.repeat(41), 7])
      expect(
        (
          await server.send(
            'POST',
            '/execute_action',
            JSON.stringify({ action: { kind: 'TerminalAction', command: 'true', session } }),
          )
        ).status,
      ).toBe(400);
  });

  it('are bounded and quick for a million lines', async () => {
    const observation = await server.terminal('seq 1 1000000', { session: 'main', timeout: 60 });
    expect(observation.exit_code).toBe(0);
    expect(textOf(observation).startsWith('1\n2\n') && textOf(observation).endsWith('999999\n1000000')).toBe(true);
    expect(await run(undefined, `wc -l < ${observation.full_output_save_dir}`)).toBe('1000000');
  });
});

describe('a terminal whose shell has to wait for its turn', () => {
  it('keeps its place while others are opened, and is the one that its command runs in', async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-terminals-'));
    const { signal } = new AbortController();
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const starts = new ShellStarts(
      () => 0,
      () => {
        asked.resolve();
        return gate.promise;
      },
    );
    for (let turn = 0; turn < 12; turn += 1) await starts.turn(signal);
    const environment = new ShellEnvironment({ PATH: process.env['PATH'], HOME: directory });
    const terminals = new Terminals({
      workspace: directory,
      outputDirectory: directory,
      environment,
      allowance: new OutputAllowance(),
      starts,
    });
    const run = (session: string, command: string) =>
      terminals.execute({ kind: 'TerminalAction', session, command, is_input: false, reset: false }, signal);
    try {
      const late = run('late', 'KEPT=yes');
      await asked.promise;
      for (let other = 1; other <= 6; other += 1) await run(`other-${other}`, '');
      await run('one-more', '');
      gate.resolve();
      expect(await late).toMatchObject({ exit_code: 0 });
      expect(textOf(await run('late', 'echo $KEPT'))).toBe('yes');
    } finally {
      terminals.close();
      await rm(directory, { recursive: true, force: true });
    }
  }, 30_000);
});
