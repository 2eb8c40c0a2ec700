import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SandboxAction, type SandboxObservation } from '@slipway/contracts/actions';
import { LlmRetry } from '@slipway/contracts/conversations';
import { type ConversationEvent, type EventOf } from '@slipway/contracts/events';
import { conversationStatus, INITIAL_STATUS, reduceConversationStatus } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { type ModelScript, type ModelServer, startModelServer, until } from '@slipway/testing';
import { runAgent } from './run.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from './testing.js';

const call = (name: string, args: object | string) => ({ name, arguments: args as Record<string, unknown> });
const terminal = (command: string) => ({ toolCalls: [call('terminal', { command })] });
const finish = { toolCalls: [call('finish', { message: 'done' })] };

describe('a run of the agent', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  function harness(
    script: ModelScript,
    execute = async (): Promise<ReturnType<typeof terminalObservation>> => terminalObservation('ok'),
  ) {
    server.use(script);
    const log = new MemoryLog();
    log.say('do it');
    return { log, ports: testPorts(log, server, execute), ...{ control: control() } };
  }
  const errorsOf = (events: readonly ConversationEvent[]): string[] =>
    events.flatMap((event) => (event.kind === 'AgentErrorEvent' ? [event.error] : []));
  const failureOf = (log: MemoryLog): EventOf<'ConversationErrorEvent'> | undefined =>
    log.events.find((event) => event.kind === 'ConversationErrorEvent');

  it('runs several tool calls of one answer in order, and the model reads them as one answer', async () => {
    const { log, ports, control } = harness([
      {
        text: 'Two things.',
        toolCalls: [
          call('terminal', { command: 'a' }),
          call('task_tracker', { command: 'plan', task_list: [{ title: 'one', status: 'done' }] }),
          call('think', { thought: 'so' }),
        ],
      },
      finish,
    ]);
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    const messages = server.requests.at(-1)?.body.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool']);
    expect(messages[1]?.tool_calls?.map(({ function: { name } }) => name)).toEqual([
      'terminal',
      'task_tracker',
      'think',
    ]);
    expect(messages[1]?.content).toBe('Two things.');
    expect(log.outline.at(-1)).toBe('execution_status=finished');
  });

  it('runs calls of one answer that change nothing beside each other, four at a time, and answers in their order', async () => {
    const view = (path: string) => call('file_editor', { command: 'view', path });
    const { log, ports, control } = harness([
      { toolCalls: [...'abcdef'].map((name) => view(`/${name}`)) },
      { toolCalls: [view('/g'), call('terminal', { command: 'rm /g' }), view('/h')] },
      finish,
    ]);
    const began: string[] = [];
    const waiting: Array<() => void> = [];
    const most = { atOnce: 0, now: 0 };
    const execute = async (action: SandboxAction): Promise<SandboxObservation> => {
      began.push(String('path' in action ? action.path : action.kind));
      most.now += 1;
      most.atOnce = Math.max(most.atOnce, most.now);
      if (began.length <= 6) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          // The last of those that may be there at once answers first.
          if (waiting.length === 4) for (const go of waiting.splice(0).reverse()) go();
          if (began.length === 6) for (const go of waiting.splice(0)) go();
        });
      }
      most.now -= 1;
      return terminalObservation(`answer ${began.at(-1)}`);
    };
    const beside = { ...ports, tools: { execute } };
    expect(await runAgent(beside, SETTINGS, control)).toBe('finished');
    expect(most.atOnce).toBe(4);
    expect(began).toEqual(['/a', '/b', '/c', '/d', '/e', '/f', '/g', 'TerminalAction', '/h']);
    const paths = new Map(
      log.events.flatMap((event) =>
        event.kind === 'ActionEvent' ? [[event.id, event.action['path'] ?? event.tool_name]] : [],
      ),
    );
    const answered = log.events.flatMap((event) =>
      event.kind === 'ObservationEvent' ? [paths.get(event.action_id)] : [],
    );
    expect(answered).toEqual(['/a', '/b', '/c', '/d', '/e', '/f', '/g', 'terminal', '/h', 'finish']);
    expect(server.requests.at(-1)?.body.messages?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      ...Array(6).fill('tool'),
      'assistant',
      'tool',
      'tool',
      'tool',
    ]);
  });

  it('says of each call that ran beside others that it was stopped', async () => {
    const view = (path: string) => call('file_editor', { command: 'view', path });
    const { log, ports, control } = harness(
      [{ toolCalls: [...'abcdef'].map((name) => view(`/${name}`)) }],
      (_action?: unknown, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    );
    const run = runAgent(ports, SETTINGS, control);
    await until('the actions', () => log.outline.filter((kind) => kind === 'ActionEvent').length === 6);
    control.stop.abort(new Error('stop'));
    expect(await run).toBe('interrupted');
    expect(errorsOf(log.events)).toHaveLength(6);
    expect(log.outline.at(-1)).toBe('execution_status=paused');
  });

  it('shows the plan that it keeps in the log', async () => {
    const { log, ports, control } = harness([
      { toolCalls: [call('task_tracker', { command: 'plan', task_list: [{ title: 'read', status: 'in_progress' }] })] },
      { toolCalls: [call('task_tracker', { command: 'view' })] },
      finish,
    ]);
    await runAgent(ports, SETTINGS, control);
    const views = log.events.filter(
      (event) => event.kind === 'ObservationEvent' && event.observation.kind === 'TaskTrackerObservation',
    );
    expect(JSON.stringify(views[1])).toContain('[in_progress] read');
  });

  it('reports to the model what is wrong with a call that it cannot read, and goes on', async () => {
    const { log, ports, control } = harness([
      { text: 'hm', toolCalls: [call('terminal', '{"command": "ls')] },
      { toolCalls: [call('teleport', { to: 'mars' })] },
      { toolCalls: [call('file_editor', { command: 'paint', path: '/a' })] },
      finish,
    ]);
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(errorsOf(log.events)).toEqual([
      expect.stringContaining('not valid JSON'),
      expect.stringContaining('There is no tool "teleport"'),
      expect.stringContaining('command:'),
    ]);
    const messages = server.requests.at(-1)?.body.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
    expect(messages[2]?.content).toContain('not valid JSON');
  });

  it('waits longer each time, as long as the provider asks, and gives up after its retries', async () => {
    const { log, ports, control } = harness([
      { fault: 'status', status: 429, retryAfterSeconds: 3 },
      { fault: 'status', status: 500 },
      { fault: 'cut' },
      { fault: 'status', status: 503 },
    ]);
    expect(await runAgent(ports, SETTINGS, control)).toBe('error');
    expect(ports.waits).toEqual([3_000, 1_000, 2_000]);
    expect(failureOf(log)).toMatchObject({
      code: 'model.unavailable',
      classification: { kind: 'transient', retryable: true, user_action: 'retry' },
    });
    expect(log.outline.at(-1)).toBe('execution_status=error');
  });

  it('pauses at the limit of the conversation that the gateway keeps, with the sentence that names one that is enough', async () => {
    const message = 'A limit of 0.36 USD or more lets it go on.';
    const { log, ports, control } = harness([
      terminal('ls'),
      { fault: 'status', status: 402, code: 'agent.budget-limit', message },
    ]);
    expect(await runAgent(ports, SETTINGS, control)).toBe('paused');
    expect(failureOf(log)).toMatchObject({
      code: 'agent.budget-limit',
      detail: message,
      classification: { kind: 'quota' },
    });
  });

  it('pauses when the budget is spent, says so, and goes on with the next message', async () => {
    const { log, ports, control } = harness([
      terminal('ls'),
      { fault: 'status', status: 402, code: 'budget.exhausted' },
    ]);
    expect(await runAgent(ports, SETTINGS, control)).toBe('paused');
    expect(ports.waits).toEqual([]);
    expect(failureOf(log)).toMatchObject({
      code: 'budget.exhausted',
      classification: { kind: 'quota', retryable: false, user_action: 'settings' },
    });
    expect(failureOf(log)?.detail).not.toContain('The model answered');
    const state = log.events.reduce(reduceConversationStatus, { ...INITIAL_STATUS, start: 'ready' as const });
    expect(conversationStatus(state)).toBe('paused');
    log.say('go on');
    server.use([finish]);
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
  });

  it('pauses after its steps with how to go on, and goes on by itself when it is run again, or with a message', async () => {
    const { log, ports, control } = harness(({ number }) => terminal(`echo ${number}`));
    const settings = { ...SETTINGS, maxIterations: 3 };
    expect(await runAgent(ports, settings, control)).toBe('paused');
    expect(failureOf(log)).toMatchObject({
      code: 'agent.iteration-limit',
      detail: expect.stringContaining('its 3 steps'),
    });
    expect(log.outline.slice(-3)).toEqual(['ConversationErrorEvent', 'PauseEvent', 'execution_status=paused']);
    const actions = () => log.events.filter((event) => event.kind === 'ActionEvent').length;
    expect(actions()).toBe(3);
    expect(await runAgent(ports, { ...settings, maxIterations: 5 }, control)).toBe('paused');
    expect(actions()).toBe(8);
    log.say('go on');
    server.use([finish]);
    expect(await runAgent(ports, settings, control)).toBe('finished');
  });

  it('pauses at the budget of its own, and goes on when that is raised while it runs or is paused', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const { log, ports, control } = harness(({ number }) => ({ ...terminal(`echo ${number}`), usage }));
    const settings = { ...SETTINGS, maxCostUsd: 0.25 };
    expect(await runAgent(ports, settings, control)).toBe('paused');
    expect(failureOf(log)).toMatchObject({
      code: 'agent.budget-limit',
      detail: expect.stringContaining('$0.30'),
      classification: { kind: 'quota' },
    });
    expect(await runAgent(ports, settings, control)).toBe('paused');
    expect(ports.stats.value.accumulated_cost).toBeCloseTo(0.3);
    server.use([
      { ...terminal('on'), usage },
      { ...finish, usage },
    ]);
    expect(await runAgent(ports, { ...settings, maxCostUsd: 0.45 }, control)).toBe('finished');
  });

  it('is nudged when the same call keeps failing, stopped when that does not help, and set free by a message', async () => {
    const { log, ports, control } = harness(
      () => terminal('make'),
      async () => terminalObservation('no rule', 2, true),
    );
    expect(await runAgent(ports, SETTINGS, control)).toBe('stuck');
    expect(log.events.filter((event) => event.kind === 'MessageEvent' && event.source === 'environment')).toHaveLength(
      1,
    );
    expect(log.events.filter((event) => event.kind === 'ActionEvent')).toHaveLength(4);
    expect(log.outline.at(-1)).toBe('execution_status=stuck');
    log.say('try ninja');
    server.use([finish]);
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
  });

  it('is nudged, then stopped, when it goes back and forth, or does the same with the same result', async () => {
    const alternating = harness(
      ({ body }) =>
        terminal((body.messages?.filter(({ role }) => role === 'assistant').length ?? 0) % 2 === 0 ? 'left' : 'right'),
      async () => terminalObservation('nothing'),
    );
    expect(await runAgent(alternating.ports, SETTINGS, alternating.control)).toBe('stuck');
    expect(alternating.log.events.filter((event) => event.kind === 'ActionEvent')).toHaveLength(7);
    const same = harness(() => terminal('ls'));
    expect(await runAgent(same.ports, SETTINGS, same.control)).toBe('stuck');
    expect(same.log.events.filter((event) => event.kind === 'ActionEvent')).toHaveLength(5);
    expect(
      same.log.events.filter((event) => event.kind === 'MessageEvent' && event.source === 'environment'),
    ).toHaveLength(1);
  });

  it('may wait for a long command without being called stuck', async () => {
    let looks = 0;
    const { log, ports, control } = harness(
      () => (looks >= 8 ? finish : terminal('')),
      async () => {
        looks += 1;
        return terminalObservation('', -1);
      },
    );
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(log.events.filter((event) => event.kind === 'ActionEvent')).toHaveLength(9);
  });

  it('does not finish while a message waits, whenever it arrived', async () => {
    const { log, ports, control } = harness([finish, { text: 'as you like' }, finish]);
    let said = 0;
    log.before = (events) => {
      if (said < 2 && events.some((event) => event.kind === 'ObservationEvent' || event.kind === 'MessageEvent')) {
        said += 1;
        log.say(`more ${said}`);
      }
    };
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    const said2 = server.requests
      .at(-1)
      ?.body.messages?.filter(({ role }) => role === 'user')
      .map(({ content }) => content);
    expect(said2).toEqual(['do it', 'more 1', 'more 2']);
    // What the model said before it knew of a message stands before that message.
    expect(server.requests.at(-1)?.body.messages?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
      'user',
    ]);
  });

  it('stops at once in the middle of a tool, and the log says what happened to it', async () => {
    const { log, ports, control } = harness(
      [terminal('sleep 1e6')],
      (_action?: unknown, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    );
    const run = runAgent(ports, SETTINGS, control);
    await until('the action', () => log.outline.includes('ActionEvent'));
    control.stop.abort(new Error('stop'));
    expect(await run).toBe('interrupted');
    expect(log.outline.slice(-3)).toEqual(['AgentErrorEvent', 'InterruptEvent', 'execution_status=paused']);
  });

  it('says in the log that a call of the model failed and is tried again, before it waits', async () => {
    const { log, ports, control } = harness([{ fault: 'status', status: 503 }, { text: 'Here I am.' }]);
    const known: string[] = [];
    const delay = async (): Promise<void> => void known.push(log.outline.at(-1) ?? '');
    expect(await runAgent({ ...ports, delay }, SETTINGS, control)).toBe('finished');
    const [retry] = log.events.flatMap((event) =>
      event.kind === 'ConversationStateUpdateEvent' && event.key === 'llm_retry' ? [LlmRetry.parse(event.value)] : [],
    );
    expect(retry).toMatchObject({ code: 'model.unavailable', attempt: 1 });
    expect(known).toEqual(['llm_retry']);
  });

  it('stops at once while it waits before a retry', async () => {
    const { log, ports, control } = harness([{ fault: 'status', status: 500 }]);
    const waiting = {
      ...ports,
      delay: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    };
    let retried = false;
    const run = runAgent(
      {
        ...waiting,
        onRetry: () => {
          retried = true;
        },
      },
      SETTINGS,
      control,
    );
    await until('the retry', () => retried);
    control.stop.abort(new Error('stop'));
    expect(await run).toBe('interrupted');
    expect(log.outline.at(-1)).toBe('execution_status=paused');
  });

  it('ends with the reason on a full disk, and without a word when another sandbox owns the conversation', async () => {
    const full = harness([terminal('ls')]);
    full.log.before = (events) => {
      if (events.some((event) => event.kind === 'ObservationEvent'))
        throw new SlipwayError('sandbox.disk-full', 'The disk is full.');
    };
    expect(await runAgent(full.ports, SETTINGS, full.control)).toBe('error');
    expect(failureOf(full.log)?.code).toBe('sandbox.disk-full');
    const fenced = harness([terminal('ls')]);
    fenced.log.before = (events) => {
      if (events.some((event) => event.kind === 'ActionEvent')) throw new SlipwayError('ingest.stale-epoch', 'fenced');
    };
    expect(await runAgent(fenced.ports, SETTINGS, fenced.control)).toBe('fenced');
    expect(fenced.log.outline.at(-1)).toBe('stats');
  });

  it('goes on from a log whose last tool call has no answer', async () => {
    const { log, ports, control } = harness([terminal('one'), finish]);
    await runAgent(ports, SETTINGS, control);
    const cut = log.events.findIndex((event) => event.kind === 'ObservationEvent');
    log.events.length = cut;
    log.say('what happened?');
    server.use([finish]);
    await runAgent(ports, SETTINGS, control);
    const messages = server.requests.at(-1)?.body.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(messages[2]?.content).toContain('interrupted');
  });

  it('counts usage and cost over its calls', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const { log, ports, control } = harness([
      { ...terminal('a'), usage },
      { ...finish, usage },
    ]);
    await runAgent(ports, SETTINGS, control);
    const last = log.events.findLast((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'stats');
    expect(last?.kind === 'ConversationStateUpdateEvent' && last.value).toMatchObject({
      prompt_tokens: 200,
      completion_tokens: 20,
      accumulated_cost: 0.2,
      usage_to_metrics: { agent: { accumulated_cost: 0.2 } },
    });
  });
});
