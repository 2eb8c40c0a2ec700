import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { textOfContent } from '@slipway/contracts/events';
import { stopwatch, until } from '@slipway/testing';
import {
  app,
  expectSameLog,
  finish,
  kinds,
  model,
  processes,
  sandbox,
  say,
  setUpAgentServer,
  start,
  statuses,
  terminal,
  untilStatus,
} from './testing/agent-server-setup.js';

describe('agent-server', () => {
  setUpAgentServer();

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
});
