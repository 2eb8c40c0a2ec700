import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { textOfMessage, until } from '@slipway/testing';
import {
  app,
  expectSameLog,
  finish,
  kinds,
  model,
  restartSandbox,
  sandbox,
  say,
  setUpAgentServer,
  start,
  status,
  statuses,
  terminal,
  untilStatus,
} from './testing/agent-server-setup.js';

describe('agent-server that is killed, stopped or started again', () => {
  setUpAgentServer();

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
      await restartSandbox();
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
      await restartSandbox();
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
      await restartSandbox();
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
      await restartSandbox();
      await start([finish('third')], { id });
      await say(id, 'and again');
      await until('the third end', () => statuses(app.events).filter((value) => value === 'finished').length === 3);
      expect(new Set(app.events.map((event) => event.id)).size).toBe(app.events.length);
      await expectSameLog(id);
    });
  });
});
