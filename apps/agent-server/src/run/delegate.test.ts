import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import {
  type ModelRequest,
  type ModelScript,
  type ModelServer,
  type ModelTurn,
  startModelServer,
  stopwatch,
  textOfMessage,
  until,
} from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';

const call = (name: string, given: object): ModelTurn => ({ toolCalls: [{ name, arguments: { ...given } }] });
const terminal = (command: string): ModelTurn => call('terminal', { command });
const finish = (message: string): ModelTurn => call('finish', { message });
const isSub = ({ headers }: ModelRequest): boolean => headers['x-slipway-purpose'] === 'sub-agent';
const messages = (request: ModelRequest) => request.body.messages ?? [];
const answers = (request: ModelRequest): number => messages(request).filter(({ role }) => role === 'tool').length;
const task = (request: ModelRequest): string =>
  messages(request)
    .filter(({ role }) => role === 'user')
    .map(textOfMessage)[0] ?? '';

/** Over the real wire: both processes of a sandbox, and a model that plays the parent and its sub-agents. */
describe('an agent that delegates to several others', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: [] });
  });
  afterAll(async () => {
    await sandbox.close();
    await model.close();
  });

  /** The parent spawns `one` and `two`, delegates `tasks`, and finishes; `sub` answers for both. */
  const parentOf = (
    sub: (request: ModelRequest) => ModelTurn,
    tasks = { one: 'task one', two: 'task two' },
  ): ModelScript => {
    const script = [
      call('delegate', { command: 'spawn', ids: ['one', 'two'] }),
      call('delegate', { command: 'delegate', tasks }),
      finish('Both are back.'),
    ];
    return (request) => (isSub(request) ? sub(request) : (script.shift() ?? finish('Nothing more.')));
  };
  const start = async (id: string = randomUUID()): Promise<string> => {
    const { status } = await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url, num_retries: 0 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
    });
    expect(status).toBeLessThan(300);
    return id;
  };
  const say = async (id: string, text: string): Promise<void> => {
    expect(
      (
        await sandbox.call('POST', `/api/conversations/${id}/events`, {
          role: 'user',
          content: [{ type: 'text', text }],
          run: true,
        })
      ).status,
    ).toBe(200);
  };
  const rests = (id: string, status: string): Promise<ConversationInfo> =>
    until(
      `status ${status}`,
      async () => {
        const { body } = await sandbox.call<ConversationInfo>('GET', `/api/conversations/${id}`);
        return body.execution_status === status ? body : null;
      },
      20_000,
    );
  const events = async (id: string): Promise<ConversationEvent[]> =>
    (await sandbox.call<{ items: ConversationEvent[] }>('GET', `/api/conversations/${id}/events/search?limit=100`)).body
      .items;
  const file = (name: string): string => path.join(sandbox.workspace, name);

  it('has them work at the same time, in terminals of their own, and reads what each reports', async () => {
    // Each waits for the other: in one terminal, or one after the other, neither would end.
    const meeting = (mine: string, other: string): ModelTurn =>
      terminal(`cd /tmp && touch ${file(mine)}; until [ -e ${file(other)} ]; do sleep 0.05; done; echo met ${other}`);
    model.use(
      parentOf((request) => {
        if (answers(request) > 0)
          return finish(`${task(request)}: ${messages(request).map(textOfMessage).at(-1)?.slice(0, 40)}`);
        return task(request) === 'task one' ? meeting('one', 'two') : meeting('two', 'one');
      }),
    );
    const id = await start();
    await say(id, 'meet');
    const { stats } = await rests(id, 'finished');
    const log = await events(id);
    const seen = log.flatMap((event) =>
      event.kind === 'ObservationEvent' && event.observation.kind === 'DelegateObservation' ? [event.observation] : [],
    );
    expect(seen.map(({ is_error, command }) => [command, is_error])).toEqual([
      ['spawn', false],
      ['delegate', false],
    ]);
    expect(JSON.stringify(seen[1]?.content)).toMatch(/Agent one: task one: met two.*Agent two: task two: met one/);
    expect(Object.keys(stats.usage_to_metrics ?? {}).sort()).toEqual(['agent', 'delegate:one', 'delegate:two']);
    expect(JSON.stringify(model.requests.filter((request) => !isSub(request)).at(-1)?.body.messages)).not.toContain(
      'until [ -e',
    );
  });

  it('is interrupted together with all of them within a second, whatever each is at', async () => {
    model.use(
      parentOf((request) =>
        task(request) === 'task one' ? terminal(`touch ${file('asleep')}; sleep 613`) : { fault: 'hang' },
      ),
    );
    const id = await start();
    const from = model.requests.length;
    await say(id, 'wait');
    await until(
      'one to sleep and the other to think',
      () => existsSync(file('asleep')) && model.requests.slice(from).filter(isSub).length === 2,
    );
    const passed = stopwatch();
    expect((await sandbox.call('POST', `/api/conversations/${id}/interrupt`)).status).toBe(200);
    expect(passed()).toBeLessThan(1_000);
    await rests(id, 'paused');
    const log = JSON.stringify(await events(id));
    expect(log.split('"kind":"InterruptEvent"')).toHaveLength(1 + 3);
    const { body } = await sandbox.call<{ stdout: string }>('POST', '/api/bash/execute_bash_command', {
      command: 'pgrep -fx "sleep 613" || echo none',
      timeout: 10,
    });
    expect(body.stdout.trim()).toBe('none');
  });

  it('learns after a restart of the sandbox that they were stopped, and lets them go on with what they know', async () => {
    model.use(
      parentOf((request) =>
        answers(request) === 0 ? terminal(`echo knowledge of ${task(request)}`) : { fault: 'hang' },
      ),
    );
    const id = await start();
    const from = model.requests.length;
    await say(id, 'learn');
    await until(
      'both to have learnt',
      () => model.requests.slice(from).filter((request) => isSub(request) && answers(request) > 0).length === 2,
    );
    await sandbox.kill('agentServer');
    await sandbox.kill('actionServer');
    sandbox = await TestSandbox.start(sandbox);
    const script = [call('delegate', { command: 'delegate', tasks: { two: 'go on' } }), finish('done')];
    model.use((request) => (isSub(request) ? finish('I still know.') : (script.shift() ?? finish('done'))));
    await start(id);
    const again = model.requests.length;
    await say(id, 'go on');
    await rests(id, 'finished');
    const [parent, sub] = model.requests.slice(again);
    expect(JSON.stringify(parent?.body.messages)).toContain(
      'Its sub-agents (one, two) were stopped with it and keep what they know',
    );
    expect(
      sub === undefined
        ? []
        : messages(sub)
            .filter(({ role }) => role === 'user')
            .map(textOfMessage),
    ).toEqual(['task two', 'go on']);
    expect(JSON.stringify(sub?.body.messages)).toContain('knowledge of task two');
    expect(JSON.stringify(await events(id))).toContain('Agent two: I still know.');
  });
});
