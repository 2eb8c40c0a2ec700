import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ERRORS, type Problem } from '@slipway/contracts/errors';
import { type Changes } from '@slipway/contracts/repositories';
import { type ModelTurn, until } from '@slipway/testing';
import { sandboxProcesses } from '../chaos/sandbox-processes.ts';
import {
  begin,
  expectExplained,
  harnessName,
  type Observation,
  open,
  processesNamed,
  sayHello,
  textOf,
} from './bad-input-setup.ts';
import { finish, terminal, workspaceOf } from './script-book.ts';
import type { Talk } from './talk.ts';

const MIB = 1024 * 1024;
/** How much more memory a process of the sandbox may have taken at its peak for 100 MB that went through it. Bytes. */
const PEAK_GROWTH = 64 * MIB;
/**
 * Longest from Stop to a sandbox in which nothing runs. Milliseconds; what is promised is a second, and one is for a
 * busy machine.
 */
const STOP_MS = 2_000;

/** Files and commands in the sandbox that are large, binary or endless. */
export function badCommands(): void {
  describe('in the sandbox', () => {
    /** Peak memory of both processes of the conversation's sandbox so far. Bytes. */
    async function peaks(talk: Talk): Promise<Record<'agent-server' | 'action-server', number>> {
      const { url } = await open.sandboxOf(talk);
      const processes = sandboxProcesses(open.stack.dataDirectory);
      const agent = processes.find((each) => each.kind === 'agent-server' && each.port === Number(new URL(url).port));
      const action = processes.find((each) => each.kind === 'action-server' && each.slotId === agent?.slotId);
      const peak = (pid = 0): number =>
        Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
      return { 'agent-server': peak(agent?.pid), 'action-server': peak(action?.pid) };
    }
    async function expectBounded(talk: Talk, before: Awaited<ReturnType<typeof peaks>>): Promise<void> {
      const now = await peaks(talk);
      for (const kind of ['agent-server', 'action-server'] as const)
        expect({ kind, growth: Math.max(0, now[kind] - before[kind] - PEAK_GROWTH) }).toEqual({ kind, growth: 0 });
    }
    /** One action for each turn of `turns`, which may need the workspace's path; answers what was observed. */
    async function act(talk: Talk, turns: (workspace: string) => readonly ModelTurn[]): Promise<Observation[]> {
      const from = talk.of('ObservationEvent').length;
      let taken = 0;
      const message = await talk.send(
        open.book.write(harnessName(), (request) => {
          taken += 1;
          return [...turns(workspaceOf(request)), finish()][taken - 1] ?? finish();
        }),
      );
      await talk.ended('finished', message);
      return talk
        .of('ObservationEvent')
        .slice(from)
        .map(({ observation }) => observation);
    }
    const view = (file: string, more: object = {}): ModelTurn => ({
      toolCalls: [{ name: 'file_editor', arguments: { command: 'view', path: file, ...more } }],
    });
    const warm = async (): Promise<Talk> => {
      const talk = await begin([terminal('true'), finish()]);
      await talk.ended('finished');
      return talk;
    };

    it('a binary file is not shown as text; the agent reads why, and goes on', async () => {
      const talk = await warm();
      const [, seen] = await act(talk, (workspace) => [
        terminal("printf '\\211PNG\\0\\1\\2\\377' > picture.png"),
        view(`${workspace}/picture.png`),
      ]);
      expect(seen).toMatchObject({ is_error: true, error_code: 'file.binary' });
      expect(textOf(seen)).toMatch(/picture\.png is not a text file/);
      await sayHello(talk);
    });

    it('a file of 100 MB is not read whole: the agent reads why, sees the lines that it asks for, and the changes stay visible', async () => {
      const talk = await warm();
      const before = await peaks(talk);
      const [, whole, part] = await act(talk, (workspace) => [
        terminal("yes 'a line of a large file' | head -c 100000000 > large.txt"),
        view(`${workspace}/large.txt`),
        view(`${workspace}/large.txt`, { view_range: [2_000_000, 2_000_001] }),
      ]);
      expect(whole).toMatchObject({ is_error: true, error_code: 'file.too-large' });
      expect(textOf(whole)).toMatch(/large\.txt has 96 MiB; the limit is 10 MiB\. View a range/);
      expect(textOf(part)).toMatch(/2000001\ta line of a large file/);
      await expectBounded(talk, before);
      // A machine under load is slower than a user may wait; then what was seen last is shown, and the next poll is a
      // new one.
      const changes = await until(
        'the changes are seen',
        async () => {
          const seen = (await (await open.user.fetch(`${talk.path}/changes`)).json()) as Changes;
          return seen.live ? seen : false;
        },
        30_000,
      );
      expect(changes.files).toMatchObject([{ path: 'large.txt', status: 'ADDED' }]);
      const problem = await until(
        'the diff is refused for its size',
        async () => {
          const diff = await open.user.fetch(`${talk.path}/diff`);
          return diff.status === ERRORS['file.too-large'].status ? ((await diff.json()) as Problem) : false;
        },
        30_000,
      );
      expectExplained(problem, 'file.too-large', /larger than 64 MiB/);
      await sayHello(talk);
    });

    it('a command that prints 100 MB is cut in the middle and kept in a file, in bounded memory', async () => {
      const talk = await warm();
      const before = await peaks(talk);
      const [printed] = await act(talk, () => [
        terminal("echo first; yes 'noise noise noise' | head -c 100000000; echo; echo last", { timeout: 60 }),
      ]);
      expect(printed).toMatchObject({ is_error: false, exit_code: 0, full_output_save_dir: expect.any(String) });
      expect(textOf(printed).length).toBeLessThanOrEqual(30_000);
      expect(textOf(printed)).toMatch(/^first\n[\s\S]*characters cut here[\s\S]*\nlast$/);
      await expectBounded(talk, before);
      await sayHello(talk);
    });

    it('a command that never ends times out and the agent goes on; Stop ends it within a second, with all of its processes', async () => {
      const name = harnessName();
      const talk = await open.talk(name, (_request, number) =>
        number === 1
          ? terminal('(trap "" INT TERM; sleep 86431 & sleep 86432; sleep 86433)', { timeout: 1 })
          : terminal('', { timeout: 600 }),
      );
      await until(
        'the agent has gone on after the timeout',
        () => open.book.requestsOf(name).length === 2 && talk.of('ActionEvent').length === 2,
      );
      expect(talk.of('ObservationEvent')[0]?.observation).toMatchObject({ exit_code: -1, timeout: true });
      expect(processesNamed('sleep 8643').length).toBeGreaterThan(0);
      await expectStopped(talk, 'sleep 8643');
      await sayHello(talk);
    });

    it('Stop while the model thinks ends the call to it, and the command that an earlier step left running', async () => {
      const name = harnessName();
      const talk = await open.talk(name, (_request, number) =>
        number === 1 ? terminal('sleep 86441', { timeout: 1 }) : { fault: 'hang' },
      );
      await until('the model is asked again', () => open.book.requestsOf(name).length === 2);
      await expectStopped(talk, 'sleep 8644');
      await until('the call to the model has ended', () => open.book.requestsOf(name)[1]?.abortedAt !== null, STOP_MS);
      await sayHello(talk);
    });

    async function expectStopped(talk: Talk, command: string): Promise<void> {
      expect((await talk.post('stop')).status).toBe(202);
      await until('nothing of the command runs', () => processesNamed(command).length === 0, STOP_MS);
      await talk.ended('paused');
      expect((await talk.get()).status).toBe('stopped');
      expect(talk.of('InterruptEvent')).toHaveLength(1);
    }
  });
}
