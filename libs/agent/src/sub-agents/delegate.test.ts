import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SandboxAction } from '@slipway/contracts/actions';
import type { EventOf } from '@slipway/contracts/events';
import { unansweredActions } from '@slipway/domain';
import {
  type ModelRequest,
  type ModelServer,
  type ModelTurn,
  startModelServer,
  textOfMessage,
  until,
} from '@slipway/testing';
import { runAgent } from '../run.js';
import { lastStats } from '../stats.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from '../testing.js';
import { namedIn } from './delegate.js';
import { eventsOfTask } from './sub-agent-log.js';

const call = (name: string, args: object): ModelTurn => ({
  toolCalls: [{ name, arguments: args as Record<string, unknown> }],
});
const spawn = (ids: string[], more: object = {}): ModelTurn => call('delegate', { command: 'spawn', ids, ...more });
const delegate = (tasks: Record<string, string>): ModelTurn => call('delegate', { command: 'delegate', tasks });
const finish = (message: string): ModelTurn => call('finish', { message });
const ofSub = (request: ModelRequest): boolean => request.headers['x-slipway-purpose'] === 'sub-agent';
/** What a sub-agent was asked for, from its first task on. */
const asksOf = (request: ModelRequest): string[] =>
  (request.body.messages ?? []).filter(({ role }) => role === 'user').map(textOfMessage);
const answersIn = (request: ModelRequest): number =>
  (request.body.messages ?? []).filter(({ role }) => role === 'tool').length;

describe('sub-agents with names', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  function harness(parent: ModelTurn[], sub: (request: ModelRequest) => ModelTurn, settings = SETTINGS) {
    const from = server.requests.length;
    server.use((request) => (ofSub(request) ? sub(request) : (parent.shift() ?? finish('all done'))));
    const log = new MemoryLog();
    log.say('the whole task');
    const executed: SandboxAction[] = [];
    const ports = testPorts(log, server, async (action) => {
      executed.push(action);
      return terminalObservation('ok');
    });
    const stop = control();
    const results = (): Array<EventOf<'ObservationEvent'>> =>
      log.events.flatMap((event) =>
        event.kind === 'ObservationEvent' && event.observation.kind === 'DelegateObservation' ? [event] : [],
      );
    const text = (at: number): string => JSON.stringify(results()[at]?.observation.content);
    return {
      log,
      ports,
      stop,
      executed,
      results,
      text,
      requests: () => server.requests.slice(from),
      run: () => runAgent(ports, settings, stop),
    };
  }

  /** The gate opens when every one of them has asked its model: one after the other would wait for ever. */
  it('work beside each other, each with a context and a terminal of its own, and only their reports come back', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const gate = Promise.withResolvers<void>();
    const begun = new Set<string>();
    const { ports, log, executed, results, text, requests, stop } = harness(
      [spawn(ids), delegate(Object.fromEntries(ids.map((id) => [id, `do ${id}`])))],
      (request) =>
        answersIn(request) === 0
          ? call('terminal', { command: `echo ${asksOf(request)[0]}` })
          : finish(`${asksOf(request)[0]} is done`),
    );
    const gated: typeof ports = {
      ...ports,
      models: (usage) => {
        const model = ports.models(usage);
        if (usage !== 'sub-agent') return model;
        return {
          config: model.config,
          complete: async (request, options) => {
            begun.add(JSON.stringify(request.messages.at(1)));
            if (begun.size === ids.length) gate.resolve();
            await gate.promise;
            return model.complete(request, options);
          },
        };
      },
    };
    expect(await runAgent(gated, SETTINGS, stop)).toBe('finished');
    expect(results().map(({ observation }) => [observation['command'], observation.is_error])).toEqual([
      ['spawn', false],
      ['delegate', false],
    ]);
    for (const id of ids) expect(text(1)).toContain(`Agent ${id}: do ${id} is done`);
    expect(results()[1]?.observation['agents']).toMatchObject(
      ids.map((id) => ({ id, subagent: 'general-purpose', status: 'completed' })),
    );
    for (const request of requests().filter(ofSub)) expect(asksOf(request)).toHaveLength(1);
    expect(JSON.stringify(requests().filter(ofSub)[0]?.body['tools'])).not.toContain('"delegate"');
    expect(new Set(executed.map((action) => (action.kind === 'TerminalAction' ? action.session : null)))).toEqual(
      new Set(ids.map((id) => `agent-${id}`)),
    );
    expect(unansweredActions(log.events)).toEqual([]);
    const { usage_to_metrics: metrics, accumulated_cost: cost } = lastStats(log.events);
    expect(Object.keys(metrics ?? {}).sort()).toEqual(['agent', ...ids.map((id) => `delegate:${id}`)]);
    expect(Object.values(metrics ?? {}).reduce((sum, each) => sum + each.accumulated_cost, 0)).toBeCloseTo(cost, 6);
  });

  it('have a terminal each whatever their names are: in another script, long, or alike but for a sign', async () => {
    const ids = ['前端', '后端', 'a b', 'a.b', `${'long '.repeat(11)}1`];
    const { run, executed } = harness(
      [spawn(ids), delegate(Object.fromEntries(ids.map((id) => [id, id])))],
      (request) => (answersIn(request) === 0 ? call('terminal', { command: 'pwd' }) : finish('done')),
    );
    expect(await run()).toBe('finished');
    const sessions = executed.map((action) => (action.kind === 'TerminalAction' ? (action.session ?? '') : ''));
    expect(new Set(sessions).size).toBe(ids.length);
    for (const session of sessions) expect(session).toMatch(/^agent-[A-Za-z0-9_-]{1,34}$/);
  });

  it('keep what they know for their next task, and start empty when they are spawned again', async () => {
    const { run, requests, text } = harness(
      [
        spawn(['scout']),
        delegate({ scout: 'first' }),
        delegate({ scout: 'second' }),
        spawn(['scout'], { agent_types: ['default'] }),
        delegate({ scout: 'third' }),
      ],
      (request) => finish(asksOf(request).join('+')),
    );
    expect(await run()).toBe('finished');
    expect(requests().filter(ofSub).map(asksOf)).toEqual([['first'], ['first', 'second'], ['third']]);
    expect(text(3)).toContain('begins anew');
  });

  it('are known from the log: a new sandbox gives them tasks without spawning, and what was broken off has an answer', async () => {
    const { ports, log, stop } = harness([spawn(['scout']), delegate({ scout: 'look' })], (request) =>
      answersIn(request) === 0 ? call('terminal', { command: 'ls' }) : { fault: 'hang' },
    );
    const cut = new Error('the process died');
    // A fatal fault ends the run as the end of the process would: without an event in the log.
    await expect(runAgent({ ...ports, tools: { execute: () => Promise.reject(cut) } }, SETTINGS, stop)).rejects.toBe(
      cut,
    );
    const known = [...namedIn(log.events).values()][0];
    const broken = eventsOfTask(log.events, known?.taskId ?? '');
    expect(unansweredActions(broken)).toHaveLength(1);
    const next = [delegate({ scout: 'look again' })];
    server.use((request) =>
      ofSub(request) ? finish(`${answersIn(request)} answers`) : (next.shift() ?? finish('done')),
    );
    log.say('go on');
    expect(await runAgent(ports, SETTINGS, control())).toBe('finished');
    expect(JSON.stringify(log.events)).toContain('Agent scout: 1 answers');
    expect(unansweredActions(eventsOfTask(log.events, known?.taskId ?? ''))).toEqual([]);
  });

  it('that fail are reported as text, and do not stop the others', async () => {
    const failing = new Set(['model', 'steps']);
    const { ports, run, results, text } = harness(
      [
        spawn(['model', 'steps', 'good'], { agent_types: ['', 'general-purpose'] }),
        delegate({ model: 'm', steps: 's', good: 'g' }),
      ],
      (request) => {
        const [asked] = asksOf(request);
        if (asked === 'm') return { fault: 'status', status: 401 };
        return asked === 's' ? call('terminal', { command: `echo ${answersIn(request)}` }) : finish('I am well.');
      },
      { ...SETTINGS, maxIterations: 4 },
    );
    expect(ports.toolbox.tools.length).toBeGreaterThan(0);
    expect(await run()).toBe('finished');
    expect(results()[1]?.observation.is_error).toBe(false);
    expect(results()[1]?.observation['agents']).toMatchObject([
      { id: 'model', status: 'error' },
      { id: 'steps', status: 'paused' },
      { id: 'good', status: 'completed' },
    ]);
    expect(text(1)).toContain('1 of 3 sub-agents finished');
    expect(text(1)).toContain('its 4 steps');
    expect(text(1)).toContain('Agent good: I am well.');
    for (const id of failing) expect(text(1)).toContain(`Agent ${id} ERROR`);
  });

  it('stop together at the budget of the conversation, with less than one call each beyond it', async () => {
    const ids = ['a', 'b', 'c'];
    const { ports, stop, log, results } = harness(
      [spawn(ids), delegate(Object.fromEntries(ids.map((id) => [id, id])))],
      (request) => call('terminal', { command: `echo ${answersIn(request)}` }),
    );
    const dear = { ...ports, costOf: () => 0.1 };
    expect(await runAgent(dear, { ...SETTINGS, maxCostUsd: 1.05 }, stop)).toBe('paused');
    const cost = lastStats(log.events).accumulated_cost;
    expect(cost).toBeGreaterThanOrEqual(1.05);
    expect(cost).toBeLessThan(1.05 + 0.1 * ids.length);
    expect(results()[1]?.observation['agents']).toMatchObject(ids.map((id) => ({ id, status: 'paused' })));
    // The conversation's own figures, whoever of them says it.
    const said =
      JSON.stringify(log.events).match(/This conversation cost \$1\.\d\d so far; its own limit is \$1\.05\./g) ?? [];
    expect(said.length).toBeGreaterThan(ids.length);
    expect(JSON.stringify(log.events).split('This conversation cost')).toHaveLength(said.length + 1);
  });

  it('are all stopped with their parent, and the log says how they can go on', async () => {
    const { log, run, stop, requests } = harness(
      [spawn(['a', 'b', 'c']), delegate({ a: '1', b: '2', c: '3' })],
      () => ({ fault: 'hang' }),
    );
    const running = run();
    await until('all three to think', () => requests().filter(ofSub).length === 3);
    stop.stop.abort(new Error('stop'));
    expect(await running).toBe('interrupted');
    const inner = [...namedIn(log.events).values()].map(({ taskId }) => eventsOfTask(log.events, taskId));
    expect(inner).toHaveLength(3);
    for (const events of inner)
      expect(events.slice(-2).map(({ kind }) => kind)).toEqual(['InterruptEvent', 'ConversationStateUpdateEvent']);
    expect(log.outline.slice(-3)).toEqual(['AgentErrorEvent', 'InterruptEvent', 'execution_status=paused']);
    expect(log.events.findLast(({ kind }) => kind === 'AgentErrorEvent')).toMatchObject({
      error: expect.stringContaining('delegate to the same ids'),
    });
  });

  it('share the one browser in turn: the first that uses it has it until its task has ended', async () => {
    const used = Promise.withResolvers<void>();
    const { ports, stop, text, requests } = harness(
      [spawn(['a', 'b']), delegate({ a: 'browse', b: 'browse too' }), delegate({ b: 'now you' })],
      (request) =>
        answersIn(request) === 0 || (asksOf(request).length > 1 && answersIn(request) < 3)
          ? call('browser_navigate', { url: 'http://a.test' })
          : finish('seen'),
    );
    const late: typeof ports = {
      ...ports,
      tools: {
        execute: async () => {
          // Held until the other one has the message.
          await Promise.race([
            used.promise,
            until(
              'the other one',
              () => requests().filter((request) => ofSub(request) && answersIn(request) > 0).length > 0,
            ),
          ]);
          return terminalObservation('a page');
        },
      },
    };
    expect(await runAgent(late, SETTINGS, stop)).toBe('finished');
    const prompts = requests()
      .filter(ofSub)
      .map((request) => JSON.stringify(request.body.messages));
    expect(prompts.some((messages) => messages.includes('The browser is in use by another sub-agent'))).toBe(true);
    expect(text(2)).toContain('Agent b: seen');
    expect(prompts.at(-1)).toContain('a page');
  });

  const WRONG: ReadonlyArray<readonly [string, object, string]> = [
    ['nobody', { command: 'spawn' }, 'must name at least one'],
    ['more than there may be', { command: 'spawn', ids: ['1', '2', '3', '4', '5', '6'] }, 'at most 5'],
    ['a kind that there is not', { command: 'spawn', ids: ['x'], agent_types: ['wizard'] }, 'general-purpose, explore'],
    [
      'more kinds than agents',
      { command: 'spawn', ids: ['x'], agent_types: ['explore', 'explore'] },
      '2 agent_types for 1 ids',
    ],
    ['nothing', { command: 'delegate' }, 'at least one sub-agent a task'],
    ['somebody unknown', { command: 'delegate', tasks: { ghost: 'boo' } }, 'there is no sub-agent ghost'],
  ];
  for (const [what, args, words] of WRONG)
    it(`are not made or asked by a call that names ${what}: its answer says so, and the agent goes on`, async () => {
      const { run, results, text, requests } = harness([call('delegate', args)], () => finish('never'));
      expect(await run()).toBe('finished');
      expect(results()[0]?.observation.is_error).toBe(true);
      expect(text(0)).toContain(words);
      expect(requests().filter(ofSub)).toEqual([]);
    });
});
