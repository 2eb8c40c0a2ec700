import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Conversation, MAX_PROMPT_LENGTH } from '@slipway/contracts/conversations';
import { ERRORS, type ErrorCode, type Problem } from '@slipway/contracts/errors';
import { type EventOf } from '@slipway/contracts/events';
import { type Changes } from '@slipway/contracts/repositories';
import {
  createSampleRepository,
  freePort,
  type ModelFault,
  type ModelTurn,
  textOfMessage,
  until,
} from '@slipway/testing';
import { startStack } from '../../deploy/local/stack.ts';
import { sandboxProcesses } from '../chaos/sandbox-processes.ts';
import { LLM_KEY, OpenStack } from './open-stack.ts';
import { finish, type Harness, terminal, workspaceOf } from './script-book.ts';
import type { Talk } from './talk.ts';

const MIB = 1024 * 1024;
/** How much more memory a process of the sandbox may have taken at its peak for 100 MB that went through it. Bytes. */
const PEAK_GROWTH = 64 * MIB;
/**
 * Longest from Stop to a sandbox in which nothing runs. Milliseconds; what is promised is a second, and one is for a
 * busy machine.
 */
const STOP_MS = 2_000;

type Observation = EventOf<'ObservationEvent'>['observation'];

/** A sentence that a user can use: of the right kind, with the essential words, and nothing of the machinery in it. */
function expectExplained(
  problem: { code?: string | undefined; detail?: string | undefined } | undefined,
  code: ErrorCode,
  words: RegExp,
): void {
  expect(problem).toMatchObject({ code, detail: expect.stringMatching(words) });
  expect(problem?.detail).not.toMatch(/node_modules|\n\s+at |undefined|\[object|ECONN|UND_ERR/);
  expect(ERRORS[code].nextStep).toMatch(/\w+ .*\.$/);
}

describe('bad input', () => {
  let open: OpenStack;
  const privateNames = ['private.git'];
  const sample = { 'README.md': '# Sample\n' };

  beforeAll(async () => {
    open = await OpenStack.open({
      privateNames,
      env: {
        SETUP_SCRIPT_TIMEOUT_SECONDS: '5',
        CLONE_TIMEOUT_SECONDS: '6',
        LLM_FIRST_BYTE_TIMEOUT_SECONDS: '4',
        LLM_SILENCE_TIMEOUT_SECONDS: '4',
      },
    });
    await createSampleRepository(open.repositories, 'sample.git', sample);
  });
  afterAll(() => open.close());

  const repository = (name: string): string => `${open.git.url}/${name}`;
  let harnesses = 0;
  const harnessName = (): string => {
    harnesses += 1;
    return `harness ${harnesses}`;
  };
  const sayHello = (talk: Talk): Promise<void> => goesOn(talk, [{ text: 'Hello again.' }]);
  /** The conversation takes another message and comes to its end with it. */
  async function goesOn(talk: Talk, harness: Harness): Promise<void> {
    const message = await talk.send(open.book.write(harnessName(), harness));
    await talk.ended('finished', message);
    await talk.expectWholeLog();
  }
  const begin = (harness: Harness, more: { repository?: string; branch?: string } = {}): Promise<Talk> =>
    open.talk(harnessName(), harness, more);

  describe('at the start', () => {
    const leftOpen: Server[] = [];
    afterAll(() => Promise.all(leftOpen.map(closed)));

    /** A start that fails at this step; the conversation and its log say the same. */
    async function expectFailedStart(talk: Talk, at: string, code: ErrorCode, words: RegExp): Promise<void> {
      const { start, status, sandboxStatus } = await talk.startFailed();
      expect([status, sandboxStatus]).toEqual(['failed', 'ERROR']);
      expect(start.steps.at(-1)).toMatchObject({ status: 'ERROR', state: 'failed', code });
      expectExplained(
        start.steps.find((step) => step.status === at && step.state === 'failed'),
        code,
        words,
      );
      await talk.expectWholeLog();
    }

    it.concurrent('an unknown repository is named, and once it is there a message starts the conversation', async () => {
      const talk = await begin([finish()], { repository: repository('later.git') });
      await expectFailedStart(
        talk,
        'PREPARING_REPOSITORY',
        'repository.not-found',
        /no git repository at .*later\.git/,
      );
      await createSampleRepository(open.repositories, 'later.git', sample);
      await sayHello(talk);
    });

    it.concurrent('a private repository without a token is distinguished from a missing one, without waiting for a password', async () => {
      await createSampleRepository(open.repositories, 'private.git', sample);
      const talk = await begin([finish()], { repository: repository('private.git') });
      await expectFailedStart(talk, 'PREPARING_REPOSITORY', 'repository.private', /private\.git asks for a password/);
      privateNames.length = 0;
      await sayHello(talk);
    });

    it.concurrent('a branch that does not exist is named, and once it is there a message starts the conversation', async () => {
      const talk = await begin([finish()], { repository: repository('sample.git'), branch: 'to-come' });
      await expectFailedStart(talk, 'PREPARING_REPOSITORY', 'repository.branch-not-found', /no branch "to-come"/);
      execFileSync('git', ['-C', path.join(open.repositories, 'sample.git'), 'branch', 'to-come', 'main']);
      await sayHello(talk);
    });

    it.concurrent('a setup script that fails shows its output, and once it is corrected in the repository a message starts the conversation', async () => {
      await createSampleRepository(open.repositories, 'fails.git', {
        '.openhands/setup.sh': 'echo looking for the compiler\necho no compiler here >&2\nexit 3\n',
      });
      const talk = await begin([finish()], { repository: repository('fails.git') });
      await expectFailedStart(
        talk,
        'RUNNING_SETUP_SCRIPT',
        'setup.failed',
        /status 3[\s\S]*looking for the compiler[\s\S]*no compiler here/,
      );
      await createSampleRepository(open.repositories, 'corrected.git', {
        '.openhands/setup.sh': 'echo corrected > setup.txt\n',
      });
      renameSync(path.join(open.repositories, 'fails.git'), path.join(open.repositories, 'before.git'));
      renameSync(path.join(open.repositories, 'corrected.git'), path.join(open.repositories, 'fails.git'));
      await goesOn(talk, [terminal('cat setup.txt'), finish()]);
      expect(talk.of('ObservationEvent').map(({ observation }) => textOf(observation))).toContain('corrected');
    });

    it.concurrent('a setup script that hangs is killed at its limit with all that it started, and shows its output', async () => {
      await createSampleRepository(open.repositories, 'hangs.git', {
        '.openhands/setup.sh': 'echo begun\nsleep 86421 &\nsleep 86422\n',
      });
      const talk = await begin([finish()], { repository: repository('hangs.git') });
      await expectFailedStart(
        talk,
        'RUNNING_SETUP_SCRIPT',
        'setup.timeout',
        /did not end within 5 s and was killed[\s\S]*begun/,
      );
      await until('nothing of it runs', () => processesNamed('sleep 8642').length === 0);
    });

    it.concurrent('a git server that does not answer is waited for in plain sight, and when it answers the start goes on by itself', async () => {
      const silent = await listening(createServer(() => {}));
      leftOpen.push(silent);
      const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const talk = await begin([finish()], { repository: `${address}/sample.git` });
      const problem = await until(
        'the step says what it waits for',
        async () =>
          (await talk.get()).start.steps.find(
            (step) => step.status === 'PREPARING_REPOSITORY' && step.detail?.includes('Trying again'),
          ),
        60_000,
      );
      expect(problem.detail).toMatch(/sample\.git was not there within 6 s/);
      silent.on(
        'request',
        (request, response) => void response.writeHead(301, { location: `${open.git.url}${request.url}` }).end(),
      );
      await talk.ended('finished');
      await talk.expectWholeLog();
    });

    it.concurrent('a git server without a listener is given up in the end, and once it is there a message starts the conversation', async () => {
      const server = createServer(
        (request, response) => void response.writeHead(301, { location: `${open.git.url}${request.url}` }).end(),
      );
      const port = await freePort();
      const talk = await begin([finish()], { repository: `http://127.0.0.1:${port}/sample.git` });
      await expectFailedStart(talk, 'PREPARING_REPOSITORY', 'repository.unreachable', /did not answer/);
      await listening(server, port);
      leftOpen.push(server);
      await sayHello(talk);
    });
  });

  describe('in a request', () => {
    const conversations = async (): Promise<number> =>
      (
        (await (await open.user.fetch(`/api/v1/orgs/${open.orgId}/conversations?limit=200`)).json()) as {
          data: unknown[];
        }
      ).data.length;
    async function expectRefused(response: Response, code: ErrorCode, words: RegExp): Promise<void> {
      const problem = (await response.json()) as Problem;
      expect([response.status, problem.status, response.headers.get('content-type')]).toEqual([
        ERRORS[code].status,
        ERRORS[code].status,
        expect.stringContaining('application/problem+json'),
      ]);
      expectExplained(problem, code, words);
    }

    it('a prompt of 1 MB is refused with its limit, whether it fits the body or not, and the longest allowed one reaches the model whole', async () => {
      const before = await conversations();
      await expectRefused(await open.create({ prompt: 'a'.repeat(1_000_000) }), 'request.invalid', /prompt/);
      await expectRefused(await open.create({ prompt: 'a'.repeat(MIB + 1) }), 'request.too-large', /./);
      expect(await conversations()).toBe(before);
      const name = harnessName();
      const prompt = open.book.write(name, [finish()]).padEnd(MAX_PROMPT_LENGTH, 'Ж');
      const talk = open.follow(((await (await open.create({ prompt })).json()) as Conversation).id);
      await talk.ended('finished');
      expect(textOfMessage(open.book.requestsOf(name)[0]?.body.messages?.at(-1) ?? { role: '' })).toBe(prompt);
    });

    it('a body that is not JSON is refused as that, on every route', async () => {
      const send = (body: string, address = `/api/v1/orgs/${open.orgId}/conversations`): Promise<Response> =>
        open.user.fetch(address, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      await expectRefused(await send('{"prompt": "x"'), 'request.not-json', /JSON/);
      await expectRefused(await send('prompt=x', '/api/conversations'), 'request.not-json', /JSON/);
      await expectRefused(await send('\u0000\u0001'), 'request.not-json', /JSON/);
      await expectRefused(await open.create({ prompt: 'with a \u0000 in it' }), 'request.invalid', /NUL/);
    });

    it('a model that is not offered is refused by name, and nothing is created', async () => {
      const before = await conversations();
      await expectRefused(await open.create({ prompt: 'x', model: 'no-such-model' }), 'model.unknown', /no-such-model/);
      expect(await conversations()).toBe(before);
    });
  });

  it('a port that is taken is named with the way out, before anything is started', async () => {
    const dataDirectory = path.join(open.folder, 'second');
    const second = startStack({
      port: open.port,
      dataDirectory,
      env: {},
      log: () => {},
      signal: AbortSignal.timeout(60_000),
    });
    await expect(second).rejects.toThrow(
      new RegExp(`port ${open.port} \\(app-server\\) is already taken.*SLIPWAY_PORT=`),
    );
    expect(existsSync(path.join(dataDirectory, 'postgres'))).toBe(false);
    expect((await open.user.fetch('/api/v1/me')).status).toBe(200);
  });

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

  describe('from the model', () => {
    const GOOD: ModelTurn = { text: 'Now it works.' };
    const lastError = (talk: Talk): EventOf<'ConversationErrorEvent'> | undefined =>
      talk.of('ConversationErrorEvent').at(-1);
    async function expectGivenUp(fault: ModelFault, code: ErrorCode, words: RegExp): Promise<Talk> {
      const talk = await begin([fault]);
      await talk.ended('error');
      expectExplained(lastError(talk), code, words);
      // The agent may be quicker than the last step of the start.
      await until('the conversation reads as failed', async () => (await talk.get()).status === 'failed');
      await sayHello(talk);
      return talk;
    }

    const passing: Array<[string, ModelFault]> = [
      ['nonsense', { fault: 'nonsense' }],
      ['JSON that breaks off', { fault: 'malformed-json' }],
      ['a stream of broken frames', { fault: 'malformed-sse' }],
      ['one endless line', { fault: 'huge-line' }],
      ['a page of HTML', { fault: 'wrong-content-type' }],
      ['half an answer and a broken connection', { fault: 'cut-mid-stream', text: 'half of an ans' }],
      ['a connection that breaks at once', { fault: 'cut' }],
      ['an error in the middle of its stream', { fault: 'error-in-stream', text: 'half' }],
      ['a 500', { fault: 'status', status: 500 }],
      ['a 429 that asks to wait a second', { fault: 'status', status: 429, retryAfterSeconds: 1 }],
      ['nothing, until its time is over', { fault: 'hang' }],
      ['half an answer and then nothing', { fault: 'hang-mid-stream', text: 'half' }],
    ];
    for (const [what, fault] of passing) {
      it.concurrent(`${what} is tried again, and leaves nothing of itself in the log`, async () => {
        const name = harnessName();
        const talk = await open.talk(name, (_request, number) => (number === 1 ? fault : GOOD));
        await talk.ended('finished');
        const said = talk.of('MessageEvent').filter(({ source }) => source === 'agent');
        // Frames that are noise around a good answer are an answer.
        expect(said.map(({ llm_message: message }) => message.content[0]?.text)).toEqual([
          fault.fault === 'malformed-sse' ? expect.any(String) : 'Now it works.',
        ]);
        expect(talk.of('ConversationErrorEvent')).toEqual([]);
        await talk.expectWholeLog();
      });
    }

    it.concurrent('nonsense without end is given up with a sentence, and the next message is answered', async () => {
      await expectGivenUp({ fault: 'nonsense' }, 'model.bad-response', /model/);
    });

    it.concurrent('500s without end are given up with a sentence, and the next message is answered', async () => {
      await expectGivenUp(
        { fault: 'status', status: 500, message: 'The engine is on fire.' },
        'model.unavailable',
        /engine is on fire/,
      );
    });

    it.concurrent('a refused key ends the run at once, without the key in the sentence', async () => {
      const talk = await expectGivenUp(
        { fault: 'status', status: 401, message: `Incorrect API key provided: ${LLM_KEY}.` },
        'model.auth',
        /refused the key/,
      );
      expect(JSON.stringify(talk.events)).not.toContain(LLM_KEY);
    });

    it.concurrent('used-up credit ends the run at once', async () => {
      await expectGivenUp(
        { fault: 'status', status: 429, code: 'insufficient_quota', message: 'You exceeded your current quota.' },
        'model.quota',
        /quota/,
      );
    });

    it.concurrent('malformed arguments and a tool that there is not are reported to the model, which goes on', async () => {
      const name = harnessName();
      const talk = await open.talk(name, [
        { text: 'Let me see.', toolCalls: [{ name: 'terminal', arguments: '{"command": "ls' }] },
        { toolCalls: [{ name: 'launch_rocket', arguments: {} }] },
        { toolCalls: [{ name: 'terminal', arguments: { command: 7 } }] },
        finish('It went well in the end.'),
      ]);
      await talk.ended('finished');
      expect(talk.of('AgentErrorEvent').map(({ tool_name, error }) => [tool_name, error])).toEqual([
        ['terminal', expect.stringMatching(/not valid JSON/)],
        ['launch_rocket', expect.stringMatching(/no tool "launch_rocket"\. The tools are: terminal/)],
        ['terminal', expect.stringMatching(/not valid: command/)],
      ]);
      const last = open.book.requestsOf(name).at(-1)?.body.messages ?? [];
      expect(last.filter(({ role }) => role === 'tool')).toHaveLength(3);
      await sayHello(talk);
    });

    it.concurrent('one call over and over is stopped as stuck, and a message that says otherwise goes on', async () => {
      const talk = await begin([terminal('echo again')]);
      await talk.ended('stuck');
      expectExplained(lastError(talk), 'agent.stuck', /same thing 5 times/);
      await sayHello(talk);
    });
  });
});

function textOf(observation: Observation | undefined): string {
  return observation?.content.map(({ text }) => text).join('') ?? '';
}

/** Command lines of this machine's processes that hold `words`. */
function processesNamed(words: string): string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((command) => command.startsWith(words));
}

async function listening(server: Server, port = 0): Promise<Server> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return server;
}

/** Also of a test that failed: what listens keeps the suite from its end. */
function closed(server: Server): void {
  server.closeAllConnections();
  server.close();
}
