import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ConversationEvent, textOfContent } from '@slipway/contracts/events';
import {
  type ModelScript,
  type ModelServer,
  startModelServer,
  stopwatch,
  textOfMessage,
  until,
} from '@slipway/testing';
import { TestSandbox } from './testing/sandbox.js';
import { TestApp } from './testing/test-app.js';

const terminal = (command: string, more: object = {}) => ({
  toolCalls: [{ name: 'terminal', arguments: { command, ...more } }],
});
const finish = (message = 'done') => ({ toolCalls: [{ name: 'finish', arguments: { message } }] });

describe('agent-server', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;

  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: [] });
  });
  afterAll(() => Promise.all([sandbox.close(), model.close()]));
  afterEach(() => app?.close());

  /** A conversation with its own app. */
  async function start(
    script: ModelScript,
    more: {
      resumeRun?: boolean;
      notice?: string;
      id?: string;
      maxIterations?: number;
      llm?: object;
      on?: TestSandbox;
      extra?: object;
    } = {},
  ): Promise<string> {
    if (more.id === undefined) app = await new TestApp().start();
    model.use(script);
    const { status, body } = await (more.on ?? sandbox).call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: more.id ?? randomUUID(),
      agent: {
        llm: {
          model: 'openai/scripted',
          base_url: model.url,
          api_key: 'sk-very-secret-key',
          num_retries: 2,
          ...more.llm,
        },
      },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      max_iterations: more.maxIterations ?? 20,
      slipway: {
        epoch: app.epoch,
        ingestUrl: app.url,
        ingestToken: 'ingest-token-very-secret',
        head: app.lines.length,
        resumeRun: more.resumeRun ?? false,
        ...(more.notice === undefined ? {} : { notice: more.notice }),
      },
      ...more.extra,
    });
    expect([200, 201]).toContain(status);
    return body.id;
  }

  async function say(id: string, text: string, more: object = {}): Promise<void> {
    const { status } = await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text }],
      run: true,
      ...more,
    });
    expect(status).toBe(200);
  }

  const statuses = (events: readonly ConversationEvent[]): unknown[] =>
    events.flatMap((event) =>
      event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status' ? [event.value] : [],
    );
  const status = (): unknown => statuses(app.events).at(-1);
  const untilStatus = (wanted: string): Promise<unknown> =>
    until(`status ${wanted}; app has ${JSON.stringify(app.events.slice(-3))}`, () => status() === wanted);
  const kinds = (): string[] =>
    app.events.map((event) => (event.kind === 'ConversationStateUpdateEvent' ? `${event.key}` : event.kind));

  /** The app's log and the sandbox's own file must hold the same events. */
  async function expectSameLog(id: string): Promise<void> {
    await until('the same log', async () => {
      const { body } = await sandbox.call<{ items: ConversationEvent[] }>(
        'GET',
        `/api/conversations/${id}/events/search?limit=100`,
      );
      expect(body.items.map((event) => event.id)).toEqual(app.events.map((event) => event.id));
      return true;
    });
  }

  describe('one task', () => {
    it('goes from message to finish with every step in the log, in order, once', async () => {
      const id = await start([terminal('echo "$GREETING"'), { ...finish('It says hello.'), text: 'That was easy.' }]);
      await say(id, 'greet me');
      await untilStatus('finished');
      expect(kinds()).toEqual([
        'SystemPromptEvent',
        'MessageEvent',
        'execution_status',
        'last_user_message_id',
        'stats',
        'ActionEvent',
        'ObservationEvent',
        'stats',
        'ActionEvent',
        'ObservationEvent',
        'execution_status',
      ]);
      const observation = app.events.find((event) => event.kind === 'ObservationEvent');
      expect(textOfContent(observation?.observation.content ?? [])).toContain('hello from the claim');
      await expectSameLog(id);
      const { body } = await sandbox.call<{ response: string }>('GET', `/api/conversations/${id}/agent_final_response`);
      expect(body.response).toBe('It says hello.');
    });

    it('ends with a plain answer, as OpenHands does', async () => {
      const id = await start([{ text: 'Forty-two.' }]);
      await say(id, 'what is it?');
      await untilStatus('finished');
      const last = app.events.find((event) => event.kind === 'MessageEvent' && event.source === 'agent');
      expect(last?.kind === 'MessageEvent' && last.llm_message.content[0]?.text).toBe('Forty-two.');
      await until('the deltas', () => app.deltas.map((delta) => delta.text).join('') === 'Forty-two.');
      expect(last?.kind === 'MessageEvent' && last.llm_response_id).toBe(app.deltas[0]?.responseId);
    });

    it('carries one trace id from the message to the model, the tool and the app', async () => {
      const id = await start([terminal('true'), finish()]);
      const trace = 'a'.repeat(32);
      await fetch(`${sandbox.url}/api/conversations/${id}/events`, {
        method: 'POST',
        headers: { 'x-session-api-key': sandbox.sessionKey, traceparent: `00-${trace}-${'b'.repeat(16)}-01` },
        body: JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'go' }], run: true }),
      });
      await untilStatus('finished');
      expect(model.requests.at(-1)?.headers['traceparent']).toContain(trace);
      expect(app.batches.at(-1)?.traceparent).toContain(trace);
    });
  });

  describe('messages', () => {
    it('takes the same event id once, however often it is sent', async () => {
      const id = await start([finish()]);
      const event_id = randomUUID();
      await Promise.all([1, 2, 3].map(() => say(id, 'once', { event_id })));
      await untilStatus('finished');
      await say(id, 'once', { event_id });
      expect(app.events.filter((event) => event.kind === 'MessageEvent')).toHaveLength(1);
      expect(statuses(app.events)).toEqual(['running', 'finished']);
    });

    it('takes a message that arrives during a run in at the next step', async () => {
      const id = await start(({ body }) =>
        JSON.stringify(body.messages).includes('second thought') ? finish() : { ...finish(), delayMs: 150 },
      );
      const calls = model.requests.length;
      await say(id, 'first');
      await until('the first call', () => model.requests.length > calls);
      await say(id, 'second thought');
      await untilStatus('finished');
      expect(statuses(app.events)).toEqual(['running', 'finished']);
      expect(app.events.filter((event) => event.kind === 'ActionEvent')).toHaveLength(2);
    });
  });

  describe('stop', () => {
    it('ends a hanging model call within a second', async () => {
      const id = await start([{ fault: 'hang' }]);
      const calls = model.requests.length;
      await say(id, 'think');
      await until('the call', () => model.requests.length > calls);
      const passed = stopwatch();
      expect((await sandbox.call('POST', `/api/conversations/${id}/interrupt`)).status).toBe(200);
      expect(passed()).toBeLessThan(1_000);
      await until('the model sees it', () => model.requests.at(-1)?.abortedAt !== null);
      await untilStatus('paused');
      expect(kinds()).toContain('InterruptEvent');
    });

    it('kills a command that would never end within a second, and the conversation goes on', async () => {
      const marker = `1${Math.floor(Math.random() * 1e6)}.5`;
      const id = await start([terminal(`sleep ${marker}`, { timeout: 3_000 }), finish()]);
      await say(id, 'sleep');
      await until('the sleep', async () => (await processes()).includes(`sleep ${marker}`));
      const passed = stopwatch();
      await sandbox.call('POST', `/api/conversations/${id}/interrupt`);
      expect(passed()).toBeLessThan(1_000);
      await until('it is dead', async () => !(await processes()).includes(`sleep ${marker}`));
      await untilStatus('paused');
      expect(app.events.filter((event) => event.kind === 'AgentErrorEvent')).toHaveLength(1);
      await say(id, 'go on');
      await untilStatus('finished');
    });

    it('pauses at the end of the step', async () => {
      const [turns, asked] = [[terminal('true'), finish()], Promise.withResolvers<void>()];
      const id = await start(async () => {
        await asked.promise;
        return turns.shift() ?? finish();
      });
      const calls = model.requests.length;
      await say(id, 'go');
      await until('the call', () => model.requests.length > calls);
      await sandbox.call('POST', `/api/conversations/${id}/pause`);
      asked.resolve();
      await untilStatus('paused');
      expect(kinds().slice(-3)).toEqual(['ObservationEvent', 'PauseEvent', 'execution_status']);
      expect((await sandbox.call('POST', `/api/conversations/${id}/run`)).status).toBe(200);
      await untilStatus('finished');
    });
  });

  describe('failures of the model', () => {
    it('repeats a call that broke off in the middle, and the log holds the answer once', async () => {
      const id = await start([
        { fault: 'cut-mid-stream', text: 'I was about' },
        { fault: 'status', status: 500 },
        { text: 'Here it is.' },
      ]);
      await say(id, 'tell');
      await untilStatus('finished');
      expect(app.events.filter((event) => event.kind === 'MessageEvent' && event.source === 'agent')).toHaveLength(1);
    });

    it('stops with the reason when the key is refused, without repeating', async () => {
      const before = model.requests.length;
      const id = await start([{ fault: 'status', status: 401, code: 'invalid_api_key' }]);
      await say(id, 'tell');
      await untilStatus('error');
      const failure = app.events.find((event) => event.kind === 'ConversationErrorEvent');
      expect(
        failure?.kind === 'ConversationErrorEvent' && [
          failure.code,
          failure.classification?.kind,
          failure.classification?.user_action,
        ],
      ).toEqual(['model.auth', 'auth', 'settings']);
      expect(model.requests.length - before).toBe(1);
    });
  });

  describe('failures of the tool process', () => {
    it('waits for it to come back, and gives it the environment again', async () => {
      const id = await start([terminal('echo "still: $GREETING"'), finish()]);
      await sandbox.kill('actionServer');
      await say(id, 'go');
      await until('the action', () => kinds().includes('ActionEvent'));
      await sandbox.startActionServer();
      await untilStatus('finished');
      const observation = app.events.find((event) => event.kind === 'ObservationEvent');
      expect(textOfContent(observation?.observation.content ?? [])).toContain('still: hello from the claim');
    });

    it('informs the model when it died in the middle of a command, and goes on', async () => {
      const id = await start([terminal('sleep 600', { timeout: 700 }), terminal('echo back'), finish()]);
      await say(id, 'go');
      await until('the action', () => kinds().includes('ActionEvent'));
      await until('the sleep', async () => (await processes()).includes('sleep 600'));
      await sandbox.kill('actionServer');
      await until('the error', () => kinds().includes('AgentErrorEvent'));
      await sandbox.startActionServer();
      await untilStatus('finished');
    });
  });

  describe('kill -9 and resume', () => {
    it('goes on after a restart with nothing lost, doubled or reordered', async () => {
      const id = await start([terminal('echo one'), terminal('sleep 60; echo two', { timeout: 90 })]);
      await say(id, 'work');
      await until('the second command', () => app.events.filter((event) => event.kind === 'ActionEvent').length === 2);
      app.fail('error-500', 'error-500', 'error-500', 'error-500');
      await say(id, 'also this', { event_id: randomUUID() });
      await sandbox.kill('agentServer');
      await sandbox.kill('actionServer');
      const sent = app.events.map((event) => event.id);
      app.nextEpoch();
      sandbox = await TestSandbox.start(sandbox);
      expect((await sandbox.call('GET', `/api/conversations/${id}`)).status).toBe(404);
      await start([finish()], { id, resumeRun: true });
      await untilStatus('finished');
      expect(app.events.map((event) => event.id).slice(0, sent.length)).toEqual(sent);
      expect(new Set(app.events.map((event) => event.id)).size).toBe(app.events.length);
      expect(
        app.events
          .filter((event) => event.kind === 'MessageEvent')
          .map((event) => event.kind === 'MessageEvent' && event.llm_message.content[0]?.text),
      ).toEqual(['work', 'also this']);
      const error = app.events.find((event) => event.kind === 'AgentErrorEvent');
      expect(error?.kind === 'AgentErrorEvent' && error.error).toContain('may or may not have had its effect');
      await expectSameLog(id);
    });

    it('informs an agent that has worked before about its files, once an epoch, and nothing to a new one', async () => {
      const id = await start([finish()], { notice: 'nobody was here' });
      await say(id, 'work');
      await untilStatus('finished');
      app.nextEpoch();
      const requests = model.requests.length;
      await start([finish()], { id, notice: 'all files are gone' });
      await start([finish()], { id, notice: 'all files are gone' });
      const notices = app.events.filter((event) => event.kind === 'MessageEvent' && event.source === 'environment');
      expect(notices).toMatchObject([{ llm_message: { role: 'user', content: [{ text: 'all files are gone' }] } }]);
      expect(model.requests.length).toBe(requests);
      await say(id, 'go on');
      await until('the model was asked', () => model.requests.length > requests);
      expect((model.requests.at(-1)?.body.messages ?? []).slice(-2).map((message) => textOfMessage(message))).toEqual([
        'all files are gone',
        'go on',
      ]);
      await untilStatus('finished');
    });

    it('is fenced when another sandbox has taken over: it writes no more and says so', async () => {
      const id = await start([
        { ...terminal('echo one'), delayMs: 100 },
        ...Array.from({ length: 10 }, () => ({ ...terminal('true'), delayMs: 50 })),
      ]);
      await say(id, 'work');
      app.nextEpoch();
      const length = app.lines.length;
      await until(
        'refused',
        async () =>
          (await sandbox.call('POST', `/api/conversations/${id}/run`)).status === 409 &&
          (await sandbox.call<{ code: string }>('POST', `/api/conversations/${id}/run`)).body.code ===
            'ingest.stale-epoch',
      );
      expect(app.lines.length).toBe(length);
    });
  });

  describe('SIGTERM', () => {
    it('hands the last events over before it ends, also to an app that stumbles, and the run goes on after the restart', async () => {
      const id = await start([terminal('sleep 60', { timeout: 90 }), finish()]);
      await say(id, 'work');
      await until('the action', () => kinds().includes('ActionEvent'));
      app.fail('error-500', 'lost-ack', 'cut');
      await say(id, 'one more thing');
      await sandbox.kill('agentServer', 'SIGTERM');
      await sandbox.kill('actionServer');
      expect(app.events.filter((event) => event.kind === 'MessageEvent')).toHaveLength(2);
      expect(status()).toBe('running');
      app.nextEpoch();
      sandbox = await TestSandbox.start(sandbox);
      await start([finish()], { id, resumeRun: true });
      await untilStatus('finished');
      expect(new Set(app.events.map((event) => event.id)).size).toBe(app.events.length);
    });

    it('leaves nothing running that says it runs, when the next start does not ask for it', async () => {
      const id = await start([{ fault: 'hang' }]);
      await say(id, 'work');
      await untilStatus('running');
      await sandbox.kill('agentServer');
      await sandbox.kill('actionServer');
      app.nextEpoch();
      sandbox = await TestSandbox.start(sandbox);
      await start([finish()], { id });
      await untilStatus('idle');
    });
  });

  describe('the same start again', () => {
    it('brings a new key and nothing else, in this process and the next one of the same epoch', async () => {
      const id = await start([terminal('echo one'), finish('first')]);
      await say(id, 'go');
      await untilStatus('finished');
      const length = app.lines.length;
      await start([finish('second')], { id, llm: { api_key: 'sk-the-second-key' } });
      expect(app.lines.length).toBe(length);
      await say(id, 'again');
      await until('the second end', () => statuses(app.events).filter((value) => value === 'finished').length === 2);
      expect(model.requests.at(-1)?.headers.authorization).toBe('Bearer sk-the-second-key');
      await sandbox.kill('agentServer');
      await sandbox.kill('actionServer');
      sandbox = await TestSandbox.start(sandbox);
      await start([finish('third')], { id });
      await say(id, 'and again');
      await until('the third end', () => statuses(app.events).filter((value) => value === 'finished').length === 3);
      expect(new Set(app.events.map((event) => event.id)).size).toBe(app.events.length);
      await expectSameLog(id);
    });
  });

  describe('secrets', () => {
    it('are hidden in the log, and reach the shell', async () => {
      const id = await start([
        terminal('echo "token is $MY_TOKEN"; echo $MY_TOKEN | wc -c'),
        finish('The token is hunter2-hunter2'),
      ]);
      expect(
        (await sandbox.call('POST', `/api/conversations/${id}/secrets`, { secrets: { MY_TOKEN: 'hunter2-hunter2' } }))
          .status,
      ).toBe(200);
      await say(id, 'print it; the key is sk-very-secret-key');
      await untilStatus('finished');
      const log = JSON.stringify(app.events);
      expect(log).not.toContain('hunter2-hunter2');
      expect(log).not.toContain('sk-very-secret-key');
      expect(log).toContain('token is <secret:MY_TOKEN>');
      expect(log).toContain('16');
    });
  });

  describe('routes', () => {
    it('answer what they do not know with a code and a sentence', async () => {
      expect((await sandbox.call('GET', `/api/conversations/${randomUUID()}`)).status).toBe(404);
      expect((await sandbox.call<{ code: string }>('GET', '/api/nothing')).body.code).toBe('resource.not-found');
      const notJson = await fetch(`${sandbox.url}/api/conversations`, {
        method: 'POST',
        headers: { 'x-session-api-key': sandbox.sessionKey },
        body: '{',
      });
      expect([notJson.status, ((await notJson.json()) as { code: string }).code]).toEqual([400, 'request.not-json']);
      const tooLarge = await fetch(`${sandbox.url}/api/conversations`, {
        method: 'POST',
        headers: { 'x-session-api-key': sandbox.sessionKey },
        body: 'x'.repeat(3 * 1024 * 1024),
      });
      expect(tooLarge.status).toBe(413);
      expect((await fetch(`${sandbox.url}/api/conversations/count`)).status).toBe(401);
      expect(
        (
          await fetch(`${sandbox.url}/api/conversations/count`, {
            headers: { authorization: `Bearer ${sandbox.sessionKey}` },
          })
        ).status,
      ).toBe(200);
    });

    it('page through events in both directions, by kind and by time', async () => {
      const id = await start([terminal('true'), finish()]);
      await say(id, 'go');
      await untilStatus('finished');
      const seen: string[] = [];
      let page: string | null = null;
      do {
        const query: string = page === null ? '' : `&page_id=${page}`;
        const { body } = await sandbox.call<{ items: ConversationEvent[]; next_page_id: string | null }>(
          'GET',
          `/api/conversations/${id}/events/search?limit=3&sort_order=TIMESTAMP_DESC${query}`,
        );
        seen.push(...body.items.map((event) => event.id));
        page = body.next_page_id;
      } while (page !== null);
      expect(seen.reverse()).toEqual(app.events.map((event) => event.id));
      expect((await sandbox.call('GET', `/api/conversations/${id}/events/count?kind=ActionEvent`)).body).toBe(2);
      expect((await sandbox.call('GET', `/api/conversations/${id}/events/search?limit=101`)).status).toBe(400);
    });

    it('run commands and hand files and git on to the tool process', async () => {
      await writeFile(path.join(sandbox.workspace, 'note.txt'), 'content of the note');
      const { body } = await sandbox.call<{ exit_code: number; stdout: string }>(
        'POST',
        '/api/bash/execute_bash_command',
        {
          command: 'cat note.txt; exit 3',
          timeout: 10,
        },
      );
      expect([body.exit_code, body.stdout]).toEqual([3, 'content of the note']);
      const file = await fetch(
        `${sandbox.url}/api/file/download?path=${encodeURIComponent(path.join(sandbox.workspace, 'note.txt'))}`,
        {
          headers: { 'x-session-api-key': sandbox.sessionKey },
        },
      );
      expect(await file.text()).toBe('content of the note');
      const form = new FormData();
      form.set('file', new Blob([Buffer.alloc(5 * 1024 * 1024, 7)]), 'large.bin');
      const target = encodeURIComponent(path.join(sandbox.workspace, 'large.bin'));
      const upload = await fetch(`${sandbox.url}/api/file/upload?path=${target}`, {
        method: 'POST',
        headers: { 'x-session-api-key': sandbox.sessionKey },
        body: form,
      });
      expect([upload.status, await upload.json()]).toEqual([200, expect.objectContaining({ success: true })]);
      const back = await fetch(`${sandbox.url}/api/file/download?path=${target}`, {
        headers: { 'x-session-api-key': sandbox.sessionKey },
      });
      expect((await back.arrayBuffer()).byteLength).toBe(5 * 1024 * 1024);
      const repo = path.join(sandbox.workspace, 'repo');
      await sandbox.call('POST', '/api/bash/execute_bash_command', {
        command: `git init -q ${repo} && cd ${repo} && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m start && echo new > a.txt`,
        timeout: 10,
      });
      const patch = await fetch(`${sandbox.url}/api/git/patch?path=${encodeURIComponent(repo)}`, {
        headers: { 'x-session-api-key': sandbox.sessionKey },
      });
      expect([patch.status, await patch.text()]).toEqual([200, expect.stringContaining('+new')]);
      const started = await sandbox.call<{ id: string }>('POST', '/api/bash/start_bash_command', {
        command: 'echo later',
        timeout: 10,
      });
      const output = await until(
        'its output',
        async () =>
          (
            await sandbox.call<{ items: Array<{ stdout: string }> }>(
              'GET',
              `/api/bash/bash_events/search?kind__eq=BashOutput&command_id__eq=${started.body.id}`,
            )
          ).body.items[0],
      );
      expect(output.stdout).toBe('later\n');
    });
  });

  async function processes(): Promise<string> {
    const { body } = await sandbox.call<{ stdout: string | null }>('POST', '/api/bash/execute_bash_command', {
      command: 'ps -eo args',
      timeout: 10,
    });
    return body.stdout ?? '';
  }
});
