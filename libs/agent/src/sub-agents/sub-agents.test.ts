import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SubAgentEvent } from '@slipway/contracts/actions';
import { type EventOf, type StreamingDelta } from '@slipway/contracts/events';
import { pendingActions, unansweredActions } from '@slipway/domain';
import { type ModelRequest, type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import { stamp } from '../events.js';
import { runAgent } from '../run.js';
import { lastStats } from '../stats.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from '../testing.js';
import { STANDARD_TOOLS } from '../tools/standard-tools.js';
import { Toolbox } from '../tools/toolbox.js';
import { taskTool } from './task-tool.js';

const call = (name: string, args: object) => ({ name, arguments: args as Record<string, unknown> });
const terminal = (command: string): ModelTurn => ({ toolCalls: [call('terminal', { command })] });
const finish = (message: string): ModelTurn => ({ toolCalls: [call('finish', { message })] });
const task = (prompt: string, more: object = {}) => call('task', { prompt, ...more });
const ofSub = (request: ModelRequest): boolean => request.headers['x-slipway-purpose'] === 'sub-agent';

describe('a sub-agent', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  /** Two scripts: what the parent's model answers, and what a sub-agent's does. */
  function harness(
    parent: ModelTurn[],
    sub: (request: ModelRequest, number: number) => ModelTurn,
    output = 'SECRET OF THE SUB-AGENT',
  ) {
    const from = server.requests.length;
    let asked = 0;
    server.use((request) => {
      if (!ofSub(request)) return parent.shift() ?? finish('all done');
      asked += 1;
      return sub(request, asked);
    });
    const log = new MemoryLog();
    log.say('the whole task');
    const ports = testPorts(log, server, async () => terminalObservation(output));
    const results = () =>
      log.events.flatMap((event) =>
        event.kind === 'ObservationEvent' && event.observation.kind === 'TaskObservation' ? [event] : [],
      );
    return { log, ports, control: control(), results, requests: () => server.requests.slice(from) };
  }
  const textOf = (event: EventOf<'ObservationEvent'> | undefined): string => JSON.stringify(event?.observation.content);

  it('works with a context of its own, and only its report comes back', async () => {
    const { log, ports, control, results, requests } = harness(
      [{ toolCalls: [task('count the files')] }],
      (_request, number) => (number === 1 ? terminal('ls | wc -l') : finish('There are 7 files.')),
    );
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(results()[0]?.observation).toMatchObject({
      is_error: false,
      status: 'completed',
      subagent: 'general-purpose',
    });
    expect(textOf(results()[0])).toContain('There are 7 files.');
    const subs = requests().filter(ofSub);
    expect(subs[0]?.body.messages?.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      'count the files',
    ]);
    expect(JSON.stringify(subs[0]?.body['tools'])).not.toContain('"task"');
    const last = JSON.stringify(requests().at(-1)?.body.messages);
    expect(last).toContain('There are 7 files.');
    expect(last).not.toContain('SECRET OF THE SUB-AGENT');
    expect(unansweredActions(log.events)).toEqual([]);
    expect(log.outline.filter((each) => each.startsWith('execution_status'))).toEqual([
      'execution_status=running',
      'execution_status=finished',
    ]);
    const { usage_to_metrics: metrics, accumulated_cost: cost } = lastStats(log.events);
    expect(Object.keys(metrics ?? {}).sort()).toEqual(['agent', 'task:general-purpose']);
    expect(cost).toBeCloseTo(
      (metrics?.['agent']?.accumulated_cost ?? 0) + (metrics?.['task:general-purpose']?.accumulated_cost ?? 0),
      6,
    );
  });

  it('is seen to work: what its command prints goes out while it runs, under the id of its call, and its own words do not', async () => {
    const { log, ports, control } = harness([{ toolCalls: [task('count')] }], (_request, number) =>
      number === 1 ? { ...terminal('seq 3'), text: 'I count.' } : finish('3'),
    );
    const deltas: StreamingDelta[] = [];
    const tools: typeof ports.tools = {
      execute: async (_action, { watch }) => {
        watch?.output('1\n2\n');
        return terminalObservation('1 2 3');
      },
    };
    await runAgent({ ...ports, tools, onDelta: (delta) => deltas.push(delta) }, SETTINGS, control);
    const inner = log.events.flatMap((event) => {
      const value =
        event.kind === 'ConversationStateUpdateEvent' && event.key === 'sub_agent'
          ? SubAgentEvent.parse(event.value).event
          : null;
      return value !== null && (value as { kind?: string; tool_name?: string }).tool_name === 'terminal'
        ? [value as { id: string; kind: string }]
        : [];
    });
    expect(deltas.filter(({ channel }) => channel === 'progress')).toEqual([
      {
        responseId: inner.find(({ kind }) => kind === 'ActionEvent')?.id,
        channel: 'progress',
        offset: 0,
        text: '1\n2\n',
      },
    ]);
    expect(deltas.map(({ text }) => text).join('')).not.toContain('I count.');
  });

  it('that used its steps says so, and goes on with what it knows when it is resumed', async () => {
    const { ports, control, results, log, requests } = harness(
      [{ toolCalls: [task('dig', { subagent_type: 'digger' })] }],
      (_request, number) => (number <= 2 ? terminal(`dig ${number}`) : finish('deep enough')),
    );
    const digger = {
      name: 'digger',
      description: 'Digs.',
      tools: ['terminal'],
      system_prompt: 'You dig.',
      max_iteration_per_run: 2,
    };
    const withDigger = { ...ports, toolbox: new Toolbox([...STANDARD_TOOLS, taskTool([digger])]) };
    await runAgent(withDigger, SETTINGS, control);
    expect(results()[0]?.observation).toMatchObject({ is_error: true, status: 'paused' });
    expect(textOf(results()[0])).toContain('its 2 steps');
    expect(requests().filter(ofSub)[0]?.body.messages?.[0]?.content).toMatch(/^You dig\./);
    const id = results()[0]?.observation['task_id'];
    const { script } = {
      script: [{ toolCalls: [task('dig on', { subagent_type: 'digger', resume: id })] }, finish('done')],
    };
    server.use((request) => (ofSub(request) ? finish('deep enough') : (script.shift() ?? finish('done'))));
    log.say('go on');
    await runAgent(withDigger, SETTINGS, control);
    expect(textOf(results()[1])).toContain('deep enough');
    expect(results()[1]?.observation['task_id']).toBe(id);
    const resumed = requests().filter(ofSub).at(-1)?.body.messages ?? [];
    expect(resumed.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['dig', 'dig on']);
    expect(resumed.filter(({ role }) => role === 'tool')).toHaveLength(2);
  });

  it('of an unknown kind is an error for the parent, with the kinds that there are', async () => {
    const { ports, control, results } = harness([{ toolCalls: [task('x', { subagent_type: 'wizard' })] }], () =>
      finish('never'),
    );
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(textOf(results()[0])).toContain('general-purpose, explore');
  });

  it('is stopped with its parent, in its own log too', async () => {
    const { log, ports, control } = harness([{ toolCalls: [task('wait')] }], () => ({ fault: 'hang' }));
    const asked = server.requests.length;
    const run = runAgent(ports, SETTINGS, control);
    await until('the sub-agent to think', () => server.requests.slice(asked).some(ofSub));
    control.stop.abort(new Error('stop'));
    expect(await run).toBe('interrupted');
    expect(log.outline.slice(-5)).toEqual([
      'sub_agent',
      'sub_agent',
      'AgentErrorEvent',
      'InterruptEvent',
      'execution_status=paused',
    ]);
  });

  it('is refused what would need a user, and goes on without it', async () => {
    const { log, ports, control, results, requests } = harness(
      [{ toolCalls: [task('clean up')] }],
      (_request, number) => (number === 1 ? terminal('rm -rf /w') : finish('It needs a person.')),
    );
    const asking = {
      ...SETTINGS,
      confirmation: { ...SETTINGS.confirmation, policy: { kind: 'AlwaysConfirm' as const } },
    };
    expect(await runAgent(ports, asking, control)).toBe('waiting');
    const accepted = { accepted: true, action_ids: pendingActions(log.events).map(({ id }) => id) };
    log.events.push(
      stamp(ports, { kind: 'ConversationStateUpdateEvent', source: 'user', key: 'confirmation', value: accepted }),
    );
    expect(await runAgent(ports, asking, control)).toBe('finished');
    expect(textOf(results()[0])).toContain('It needs a person.');
    expect(JSON.stringify(requests().filter(ofSub).at(-1)?.body.messages)).toContain('a sub-agent cannot ask');
    expect(JSON.stringify(log.events)).not.toContain('SECRET OF THE SUB-AGENT');
  });

  it('that only reads works beside others of its kind', async () => {
    let most = 0;
    let now = 0;
    const gate = Promise.withResolvers<void>();
    const { ports, control, results } = harness(
      [{ toolCalls: [task('a', { subagent_type: 'explore' }), task('b', { subagent_type: 'explore' })] }],
      () => ({
        text: 'seen',
      }),
    );
    const beside = {
      ...ports,
      models: (usage: Parameters<typeof ports.models>[0]) => {
        const model = ports.models(usage);
        if (usage !== 'sub-agent') return model;
        const complete: typeof model.complete = async (...args) => {
          now += 1;
          most = Math.max(most, now);
          if (most === 2) gate.resolve();
          await gate.promise;
          now -= 1;
          return model.complete(...args);
        };
        return { config: model.config, complete };
      },
    };
    expect(await runAgent(beside, SETTINGS, control)).toBe('finished');
    expect(most).toBe(2);
    expect(results().map((result) => result.observation['status'])).toEqual(['completed', 'completed']);
  });
});
