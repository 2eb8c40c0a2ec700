import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { ConversationEvent, EventOf } from '@slipway/contracts/events';
import {
  type ModelRequest,
  type ModelScript,
  type ModelServer,
  type ModelTurn,
  startModelServer,
  until,
} from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const MIB = 1024 * 1024;
/** A run on a busy machine. Milliseconds. */
const RUN_MS = 40_000;
/** Most that agent-server may have taken at its peak for all that is done here. MiB. */
const PEAK_GROWTH = 350;

const finish: ModelTurn = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
const calls = (...list: Array<readonly [string, Record<string, unknown> | string]>): ModelTurn => ({
  toolCalls: list.map(([name, given]) => ({ name, arguments: given })),
  chunkLength: 100_000,
});

/** Over the real wire: a model of its own kind, the loop, the tool process, and the app that keeps the log. */
describe('a model that answers badly', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  const apps: TestApp[] = [];
  let peakBefore = 0;
  const peak = (): number =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.agentServer?.pid}/status`, 'utf8'))?.[1]) / 1024;

  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: [] });
    peakBefore = peak();
  });
  afterAll(async () => {
    const grown = peak() - peakBefore;
    await sandbox.close();
    await model.close();
    for (const app of apps) await app.close();
    expect(grown).toBeLessThan(PEAK_GROWTH);
  });

  interface Run {
    readonly app: TestApp;
    readonly requests: readonly ModelRequest[];
    of<K extends ConversationEvent['kind']>(kind: K): Array<EventOf<K>>;
  }

  /**
   * One task from its message to the end of its run, whose status must be `status`; then the app has all that the
   * sandbox has, in its order.
   */
  async function run(script: ModelScript, status: string, retries = 0): Promise<Run> {
    const app = await new TestApp().start();
    apps.push(app);
    model.use(script);
    const from = model.requests.length;
    const { status: created, body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, num_retries: retries } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      slipway: { epoch: app.epoch, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false },
    });
    expect(created).toBe(201);
    await sandbox.call('POST', `/api/conversations/${body.id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'Do it.' }],
      run: true,
    });
    await until(
      `status ${status}`,
      async () => {
        const { execution_status: now } = (await sandbox.call<ConversationInfo>('GET', `/api/conversations/${body.id}`))
          .body;
        if (['error', 'stuck', 'finished'].includes(now) && now !== status)
          expect(JSON.stringify(app.events.slice(-2)).slice(0, 2_000)).toBe(status);
        return now === status;
      },
      RUN_MS,
    );
    const count = (await sandbox.call<number>('GET', `/api/conversations/${body.id}/events/count`)).body;
    await until('the app has every event', () => app.events.length === count, RUN_MS);
    const answered = new Set(
      app.events.flatMap((event) =>
        'tool_call_id' in event && event.kind !== 'ActionEvent' ? [event.tool_call_id] : [],
      ),
    );
    for (const event of app.events) if (event.kind === 'ActionEvent') expect(answered).toContain(event.tool_call_id);
    return {
      app,
      requests: model.requests.slice(from),
      of: (kind) => app.events.filter((event): event is EventOf<typeof kind> => event.kind === kind),
    };
  }
  const toolMessages = (request: ModelRequest | undefined): string[] =>
    (request?.body.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => String(content));

  it('with arguments of every wrong kind reads what is wrong with each, and goes on', async () => {
    const wrong: ReadonlyArray<readonly [string, Record<string, unknown> | string, RegExp]> = [
      ['launch_rocket', {}, /no tool "launch_rocket"\. The tools are:/],
      ['__proto__', {}, /no tool "__proto__"/],
      ['', {}, /^$/],
      ['terminal', '{"command": "ls', /not valid JSON/],
      ['terminal', 'ls -la', /not valid JSON/],
      ['terminal', '[]', /must be a JSON object/],
      ['terminal', 'null', /must be a JSON object/],
      ['terminal', '"ls"', /must be a JSON object/],
      ['terminal', '', /not valid: command/],
      ['terminal', { command: ['ls'] }, /not valid: command/],
      ['terminal', { command: 'true', timeout: 'soon' }, /not valid: timeout/],
      ['terminal', { command: 'true', session: '../../etc' }, /not valid: session/],
      ['file_editor', { command: 'view' }, /not valid: path/],
      ['file_editor', { command: 'burn', path: '/x' }, /not valid: command/],
      ['file_editor', { command: 'view', path: `/${'a/'.repeat(5_000)}` }, /not valid: path/],
      ['task_tracker', { command: 'plan', task_list: 'all of it' }, /not valid: task_list/],
      ['grep', { pattern: '' }, /not valid: pattern/],
      ['finish', {}, /not valid: message/],
    ];
    const named = wrong.filter(([name]) => name !== '');
    const { requests, of } = await run(
      [calls(...wrong.map(([name, given]) => [name, given] as const)), finish],
      'finished',
    );
    expect(of('AgentErrorEvent').map(({ error }) => error)).toEqual(
      named.map(([, , words]) => expect.stringMatching(words)),
    );
    expect(toolMessages(requests[1])).toHaveLength(named.length);
  });

  it('with arguments that are nested without end, or hold what every object has, does what else they say', async () => {
    const deep = `{"command": "echo deep", "extra": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const own =
      '{"command": "echo own", "__proto__": {"is_input": true}, "constructor": 1, "kind": "FinishAction", "toString": null}';
    const lone = '{"command": "echo \\ud800 lone"}';
    const { of, requests } = await run(
      [calls(['terminal', deep], ['terminal', own], ['terminal', lone]), finish],
      'finished',
    );
    const said = of('ObservationEvent').map(({ observation }) => observation.content.map(({ text }) => text).join(''));
    expect(said.slice(0, 3)).toEqual(['deep', 'own', '\ufffd lone']);
    expect(toolMessages(requests[1])).toHaveLength(3);
  });

  it('with 10 MB of arguments hears that its answer was cut off, and goes on; nothing of it is done', async () => {
    const { of, requests } = await run(
      [
        calls([
          'file_editor',
          { command: 'create', path: `${sandbox.workspace}/huge`, file_text: 'x'.repeat(10 * MIB) },
        ]),
        calls(['terminal', { command: 'ls huge' }]),
        finish,
      ],
      'finished',
    );
    expect(of('AgentErrorEvent').map(({ error }) => error)).toEqual([
      expect.stringMatching(/not valid JSON.*cut off there because it was too long/),
    ]);
    expect(of('ObservationEvent')[0]?.observation).toMatchObject({ exit_code: 2 });
    expect(requests).toHaveLength(3);
    expect(requests[2]?.raw.length).toBeLessThan(MIB);
  });

  it('with 2 MB of arguments has them done, and reads its own call as JSON afterwards', async () => {
    const text = 'y'.repeat(2 * MIB);
    const plan = Array.from({ length: 20_000 }, (_, index) => ({ title: `item ${index}`, status: 'todo' }));
    const { requests, app } = await run(
      [
        calls(
          ['file_editor', { command: 'create', path: `${sandbox.workspace}/large`, file_text: text }],
          ['task_tracker', { command: 'plan', task_list: plan }],
        ),
        finish,
      ],
      'finished',
    );
    expect(readFileSync(`${sandbox.workspace}/large`, 'utf8')).toBe(text);
    const assistant = requests[1]?.body.messages?.find(({ role }) => role === 'assistant');
    const shown = (assistant?.tool_calls ?? []).map(
      (call) => JSON.parse(call.function.arguments) as Record<string, unknown>,
    );
    expect(shown).toMatchObject([{ command: 'create', path: `${sandbox.workspace}/large` }, { command: 'plan' }]);
    for (const event of app.events) expect(JSON.stringify(event).length).toBeLessThan(2 * MIB);
  });

  it('with 200 calls at once has each of them done and answered, in their order', async () => {
    const many = Array.from({ length: 200 }, (_, index) =>
      index % 10 === 9
        ? (['no_such_tool', {}] as const)
        : index % 10 === 8
          ? (['terminal', { command: `echo ${index}` }] as const)
          : (['list_directory', { dir_path: `/${index}` }] as const),
    );
    const { of, requests } = await run([calls(...many), finish], 'finished');
    expect(of('AgentErrorEvent')).toHaveLength(20);
    expect(of('ActionEvent')).toHaveLength(181);
    const answers = toolMessages(requests[1]);
    expect(answers).toHaveLength(200);
    for (const [index, answer] of answers.entries())
      expect(answer).toContain(index % 10 === 9 ? 'no_such_tool' : String(index));
  });

  it('without end is broken off, and what it said until then is its answer', async () => {
    const { of, requests } = await run([{ text: 'On and on. '.repeat(MIB), chunkLength: 200_000 }], 'finished');
    const [said] = of('MessageEvent').filter(({ source }) => source === 'agent');
    const text = said?.llm_message.content[0]?.text ?? '';
    expect(text).toMatch(/^On and on\. .*characters left out/s);
    expect(text.length).toBeLessThan(100_000);
    expect(requests).toHaveLength(1);
  });

  it('with nothing in its answers is asked again, and given up with a sentence when it stays so', async () => {
    const { of, requests } = await run(() => ({ text: '' }), 'error', 1);
    expect(requests).toHaveLength(2);
    expect(of('ConversationErrorEvent')).toMatchObject([
      { code: 'model.bad-response', detail: expect.stringMatching(/empty answer/) },
    ]);
  });

  it('that asks for the same broken call over and over is warned, then stopped as stuck', async () => {
    const { of } = await run(() => calls(['terminal', '{"command":']), 'stuck');
    expect(of('ConversationErrorEvent')).toMatchObject([{ code: 'agent.stuck' }]);
    expect(of('MessageEvent').filter(({ source }) => source === 'environment')).toHaveLength(1);
  });
});
