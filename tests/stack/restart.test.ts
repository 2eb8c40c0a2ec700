import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { QueuedMessage } from '@slipway/contracts/conversations';
import type { Me } from '@slipway/contracts/organizations';
import type { Changes } from '@slipway/contracts/repositories';
import { createSampleRepository, type ModelRequest, type ModelTurn, until } from '@slipway/testing';
import { OpenStack } from './open-stack.ts';
import { killAll, processesOf, stillAlive } from './processes.ts';
import { finish, terminal } from './script-book.ts';
import type { Talk } from './talk.ts';

/** Tool calls of a conversation, and how many of them are done when the stack goes away. */
const STEPS = 16;
const STEPS_BEFORE = 5;
/** Longest from the stack being there again to the end of a conversation that was at work. Milliseconds. */
const BACK_MS = 30_000;

jest.setTimeout(240_000);

describe('the whole stack goes away in the middle of a conversation and comes back on the same data', () => {
  let open: OpenStack;
  let apart: ChildProcess | undefined;

  beforeAll(async () => {
    open = await OpenStack.open();
    await createSampleRepository(open.repositories, 'sample.git', { 'README.md': '# Sample\n' });
  });
  afterAll(async () => {
    killAll(open.stack.dataDirectory, apart);
    await open.close();
  });

  /** A file for each step, whoever else says something meanwhile. */
  const steps = (request: ModelRequest): ModelTurn => {
    const done = (request.body.messages ?? []).filter(({ role }) => role === 'assistant').length;
    return done < STEPS ? terminal(`sleep 0.3; echo ${done} > step-${done}.txt`) : finish();
  };
  const doneSteps = (talk: Talk): string[] =>
    talk
      .of('ObservationEvent')
      .flatMap(
        ({ observation }) =>
          /step-\d+\.txt/.exec(observation['exit_code'] === 0 ? String(observation['command']) : '') ?? [],
      );

  async function atWork(name: string): Promise<Talk> {
    const talk = await open.talk(name, steps, { repository: `${open.git.url}/sample.git` });
    await until('some steps are done', () => doneSteps(talk).length >= STEPS_BEFORE, BACK_MS);
    return talk;
  }

  /**
   * No request comes: the conversation comes to its end by itself, and everything is as if the stack had never been
   * away.
   */
  async function expectBack(
    talk: Talk,
    before: { lines: Talk['watcher']['log']; message: QueuedMessage },
  ): Promise<void> {
    await talk.ended('finished', before.message, BACK_MS);
    expect(((await (await open.user.fetch('/api/v1/me')).json()) as Me).id).toBe(open.user.me.id);
    await talk.expectWholeLog();
    expect(talk.watcher.log.slice(0, before.lines.length)).toEqual(before.lines);
    expect(talk.events.filter(({ id }) => id === before.message.id)).toHaveLength(1);
    expect(await talk.get()).toMatchObject({ status: 'finished', queued: [] });
    const { files } = (await (await open.user.fetch(`${talk.path}/changes`)).json()) as Changes;
    expect(doneSteps(talk).length).toBeGreaterThanOrEqual(STEPS - 1);
    expect(files.map((file) => file.path)).toEqual(expect.arrayContaining(doneSteps(talk)));
    const late = open.follow(talk.id);
    await until('a new reader has the same log', () => late.watcher.lastSeq === talk.watcher.lastSeq);
    expect(late.watcher.log).toEqual(talk.watcher.log);
  }

  it('stopped: within 30 s the conversation ends by itself, its user is signed in, log and workspace are whole', async () => {
    const talk = await atWork('stopped');
    const message = await talk.send('And remember this.');
    const lines = [...talk.watcher.log];
    const processes = processesOf(open.stack.dataDirectory);
    await open.stack.stop();
    expect(stillAlive(processes)).toEqual([]);
    await open.startAgain();
    await expectBack(talk, { lines, message });
  });

  it('killed, every process at once and the database too: the same', async () => {
    await open.stack.stop();
    apart = spawn(
      process.execPath,
      [path.join(import.meta.dirname, 'stack-process.ts'), String(open.port), open.stack.dataDirectory],
      {
        env: { ...process.env, ...open.env },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let printed = '';
    apart.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await until('the stack runs in a process of its own', () => printed.includes('ready'), 60_000);
    const talk = await atWork('killed');
    const message = await talk.send('And remember this.');
    const lines = [...talk.watcher.log];
    const processes = processesOf(open.stack.dataDirectory);
    // Six services, Postgres with its connections, two processes of each sandbox and the agent's shell.
    expect(processes.length).toBeGreaterThan(12);
    killAll(open.stack.dataDirectory, apart);
    await until('nothing of it runs', () => stillAlive(processes).length === 0);
    await open.startAgain();
    await expectBack(talk, { lines, message });
  });
});
