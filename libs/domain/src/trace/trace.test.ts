import { describe, it } from 'node:test';
import { type LedgerCall, MAX_TRACE_SPANS, TRACE_PARTS, TraceSpan, TraceTurn } from '@slipway/contracts';
import { expect } from 'expect';
import fc from 'fast-check';
import { TraceCollector, type TraceEvent, type TraceInput, type TraceUpdate, traceOf } from './index.js';
import { sumUsd } from './usd.js';

const CONVERSATION = '0190a0a0-0000-7000-8000-000000000001';
const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const id = (seq: number): string => `0190a0a0-0000-7000-8000-${String(seq).padStart(12, '0')}`;
const NOTHING: TraceInput = { queued: [], calls: null, live: true, now: BEGIN + 3_600_000 };

/** A log of events that are given without what every event has; each is a second after the one before. */
function log(...events: Array<Partial<TraceEvent> & Pick<TraceEvent, 'kind'>>): TraceEvent[] {
  return events.map((event, index) => ({ seq: index + 1, epoch: 1, id: id(index + 1), at: BEGIN + index * 1_000, ...event }));
}
const message = (title: string, sentAt: number | null = null): Partial<TraceEvent> & { kind: 'MessageEvent' } => ({
  kind: 'MessageEvent',
  message: { title, sentAt, traceId: null },
});
const update = (value: TraceUpdate): { kind: 'ConversationStateUpdateEvent'; update: TraceUpdate } => ({ kind: 'ConversationStateUpdateEvent', update: value });
const status = (value: 'running' | 'finished' | 'waiting_for_confirmation' | 'error' | 'paused' | 'idle') => update({ key: 'execution_status', status: value });
const action = (tool: string, call = tool): Partial<TraceEvent> & { kind: 'ActionEvent' } => ({ kind: 'ActionEvent', tool, toolCallId: call });
const observation = (seq: number, failed = false): Partial<TraceEvent> & { kind: 'ObservationEvent' } => ({
  kind: 'ObservationEvent',
  actionId: id(seq),
  failed,
});
const step = (attempt: number, name: string, state: 'running' | 'done' | 'failed', startedAt: number, elapsedMs: number | null = null) =>
  update({ key: 'start_task', step: { attempt, status: name, state, startedAt, elapsedMs, code: null } });
const call = (number: number, at: number, latencyMs: number, more: Partial<LedgerCall> = {}): LedgerCall => ({
  id: `0190a0a0-1111-7000-8000-${String(number).padStart(12, '0')}`,
  traceId: 'ab'.repeat(16),
  model: 'demo',
  purpose: 'agent',
  attempts: 1,
  prompt: 100 + number,
  cached: 0,
  completion: 10,
  cost: '0.0000000001',
  priced: true,
  status: 'ok',
  errorCode: null,
  at: new Date(at).toISOString(),
  firstByteMs: 40.4,
  latencyMs,
  ...more,
});

function collect(events: readonly TraceEvent[], limit = MAX_TRACE_SPANS): TraceCollector {
  const collector = new TraceCollector(CONVERSATION, limit);
  for (const event of events) collector.add(event);
  return collector;
}
const trace = (events: readonly TraceEvent[], input: Partial<TraceInput> = {}) => traceOf(collect(events), { ...NOTHING, ...input });
/** Names by depth, with length in ms and how it ended. */
const outline = ({ spans }: { spans: readonly TraceSpan[] }): string[] =>
  spans.map((span) => {
    let depth = 0;
    for (let each: TraceSpan | undefined = span; each !== undefined && each.parent !== null; depth += 1)
      each = spans.find(({ id: own }) => own === each?.parent);
    return `${'  '.repeat(depth)}${span.name} ${span.ms ?? 'running'}${span.code === undefined ? '' : ` ${span.code}`}`;
  });

describe('the trace of a log', () => {
  it('goes from the click over the start to calls and tools', () => {
    const events = log(
      step(1, 'WORKING', 'done', BEGIN + 100, 200),
      step(1, 'WAITING_FOR_SANDBOX', 'running', BEGIN + 300),
      step(1, 'WAITING_FOR_SANDBOX', 'done', BEGIN + 300, 1_500),
      message('Mend it', BEGIN),
      status('running'),
      step(1, 'READY', 'done', BEGIN + 4_000, 0),
      update({ key: 'stats', call: { model: 'demo', usage: 'agent', latencyMs: 700, prompt: 101, completion: 10, cached: 0, cost: '9' } }),
      action('terminal'),
      observation(8),
      status('finished'),
    );
    const { spans, turns } = trace(events, { calls: [call(1, BEGIN + 5_200, 700)] });
    expect(outline({ spans })).toEqual([
      'conversation turn 9000',
      '  start 4900',
      '    start WORKING 200',
      '    start WAITING_FOR_SANDBOX 1500',
      '  invoke_agent agent 5000',
      '    chat demo 700',
      '    execute_tool terminal 1000',
    ]);
    expect(turns).toMatchObject([
      { title: 'Mend it', message: id(4), traceId: 'ab'.repeat(16), calls: 1, tools: 1, costUsd: '0.0000000001', promptTokens: 101 },
    ]);
    expect(spans.find(({ kind }) => kind === 'chat')).toMatchObject({ seq: 7, firstByteMs: 40, costUsd: '0.0000000001' });
    expect(turns[0]?.parts).toEqual({ start: 4_900, model: 700, tool: 1_000, approval: 0, condense: 0, other: 2_400 });
  });

  it('takes calls from the log when the ledger cannot be had', () => {
    const events = log(
      message('a'),
      status('running'),
      update({ key: 'stats', call: { model: 'm', usage: 'agent', latencyMs: 400, prompt: 5, completion: 6, cached: 0, cost: '0.5' } }),
    );
    expect(outline(trace(events))).toEqual(['conversation turn running', '  invoke_agent agent running', '    chat m 400']);
  });

  it('takes a call whose answer the log has for answered, though the agent hung up before its end', () => {
    const events = log(
      message('a'),
      status('running'),
      update({ key: 'stats', call: { model: 'm', usage: 'agent', latencyMs: 400, prompt: 101, completion: 10, cached: 0, cost: '0.5' } }),
    );
    const calls = [call(1, BEGIN + 1_200, 700, { status: 'aborted' }), call(2, BEGIN + 1_950, 10, { status: 'aborted' })];
    expect(outline(trace(events, { calls })).slice(2)).toEqual(['    chat demo 700', '    chat demo 10 model.aborted']);
  });

  it('tells the wait for a person from the work of the tool', () => {
    const events = log(
      message('a'),
      status('running'),
      action('terminal'),
      status('waiting_for_confirmation'),
      update({ key: 'confirmation', accepted: true, actionIds: [id(3)] }),
      status('running'),
      observation(3),
      status('finished'),
    );
    expect(outline(trace(events))).toEqual(['conversation turn 7000', '  invoke_agent agent 6000', '    approval 1000', '    execute_tool terminal 2000']);
  });

  it('marks a call that a lost sandbox left without an answer, and goes on with the next start', () => {
    const events = log(
      message('a'),
      status('running'),
      action('terminal', 'c1'),
      { ...step(2, 'WORKING', 'done', BEGIN + 3_000, 500), epoch: 2 },
      {
        kind: 'AgentErrorEvent',
        toolCallId: 'c1',
        epoch: 2,
      },
      { ...status('running'), epoch: 2 },
      { ...status('finished'), epoch: 2 },
    );
    expect(outline(trace(events))).toEqual([
      'conversation turn 6000',
      '  invoke_agent agent 5000',
      '    execute_tool terminal 2000 sandbox.lost',
      '  start 3000',
      '    start WORKING 500',
    ]);
  });

  it('marks what a stop cut off, and a rejected call', () => {
    expect(outline(trace(log(message('a'), status('running'), action('terminal'), { kind: 'InterruptEvent' }, status('paused'))))).toEqual([
      'conversation turn 3000 run.stopped',
      '  invoke_agent agent 2000 run.stopped',
      '    execute_tool terminal 1000 run.stopped',
    ]);
    const rejected = log(message('a'), status('running'), action('t'), status('waiting_for_confirmation'), { kind: 'UserRejectObservation', actionId: id(3) });
    expect(outline(trace(rejected)).slice(2)).toEqual(['    approval 1000', '    execute_tool t 0 tool.rejected']);
  });

  it('nests sub-agents in the call that they work for', () => {
    const inner = (kind: string, seq: number, more: object = {}) =>
      update({ key: 'sub_agent', task: 't1', actionId: id(3), agent: 'explore', inner: { id: id(100 + seq), kind, at: BEGIN + seq * 1_000, ...more } });
    const events = log(
      message('a'),
      status('running'),
      action('task'),
      inner('MessageEvent', 3),
      inner('ActionEvent', 4, { tool: 'grep', toolCallId: 'g' }),
      inner('ObservationEvent', 5, { actionId: id(104) }),
      observation(3),
      status('finished'),
    );
    expect(outline(trace(events, { calls: [call(1, BEGIN + 3_200, 300, { purpose: 'sub-agent' })] })).slice(2)).toEqual([
      '    execute_tool task 4000',
      '      invoke_agent explore 3000',
      '        chat demo 300',
      '        execute_tool grep 1000',
    ]);
  });

  it('puts the call of the condenser into the summary', () => {
    const events = log(message('a'), status('running'), { kind: 'Condensation' }, status('finished'));
    const { spans, turns } = trace(events, { calls: [call(1, BEGIN + 1_200, 600, { purpose: 'condenser' })] });
    expect(outline({ spans })).toEqual(['conversation turn 3000', '  invoke_agent agent 2000', '    condense 800', '      chat demo 600']);
    expect(turns[0]?.parts).toMatchObject({ condense: 800, model: 0 });
  });

  it('shows a message that waits for its sandbox under the id that it will have', () => {
    const waiting = log(step(1, 'WAITING_FOR_SANDBOX', 'running', BEGIN + 200));
    const before = trace(waiting, { queued: [{ id: id(7), sentAt: BEGIN, traceId: 'cd'.repeat(16) }] });
    expect(outline(before)).toEqual(['conversation turn running', '  start running', '    start WAITING_FOR_SANDBOX running']);
    const later = trace([...waiting, { ...(log(message('x', BEGIN))[0] as TraceEvent), seq: 2, id: id(7) }]);
    expect(later.spans.map((span) => span.id)).toEqual(before.spans.map((span) => span.id));
    expect(before.turns[0]?.traceId).toBe('cd'.repeat(16));
  });

  it('begins a turn with each message, also in the midst of a run', () => {
    const events = log(message('one'), status('running'), message('two'), action('t'), observation(4), status('finished'));
    expect(outline(trace(events))).toEqual([
      'conversation turn 2000',
      '  invoke_agent agent 1000',
      'conversation turn 3000',
      '  invoke_agent agent 3000',
      '    execute_tool t 1000',
    ]);
  });

  it('ends what no event will end once nothing is live', () => {
    expect(outline(trace(log(message('a'), status('running'), action('t')), { live: false }))).toEqual([
      'conversation turn 2000 sandbox.lost',
      '  invoke_agent agent 1000 sandbox.lost',
      '    execute_tool t 0 run.ended',
    ]);
  });

  it('has no span for a log of nothing', () => expect(trace([])).toMatchObject({ turns: [], spans: [] }));
});

const anyUpdate: fc.Arbitrary<TraceUpdate> = fc.oneof(
  fc
    .constantFrom('running', 'finished', 'waiting_for_confirmation', 'error', 'paused', 'idle', 'stuck')
    .map((value) => ({ key: 'execution_status', status: value }) as TraceUpdate),
  fc.record({
    key: fc.constant('start_task' as const),
    step: fc.record({
      attempt: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom('WORKING', 'WAITING_FOR_SANDBOX', 'PREPARING_REPOSITORY', 'READY', 'ERROR'),
      state: fc.constantFrom('running', 'done', 'skipped', 'failed'),
      startedAt: fc.integer({ min: BEGIN - 5_000, max: BEGIN + 60_000 }),
      elapsedMs: fc.option(fc.nat(20_000)),
      code: fc.constant(null),
    }),
  }),
  fc.record({
    key: fc.constant('confirmation' as const),
    accepted: fc.boolean(),
    actionIds: fc.array(fc.integer({ min: 1, max: 40 }).map(id), { maxLength: 3 }),
  }),
  fc.record({
    key: fc.constant('stats' as const),
    call: fc.record({
      model: fc.string(),
      usage: fc.constantFrom('agent', 'condenser', 'task:explore'),
      latencyMs: fc.double({ min: 0, max: 9_000, noNaN: true }),
      prompt: fc.integer({ min: 100, max: 104 }),
      completion: fc.constant(10),
      cached: fc.nat(9),
      cost: fc.constant('0.25'),
    }),
  }),
  fc.record({
    key: fc.constant('sub_agent' as const),
    task: fc.constantFrom('t1', 't2'),
    actionId: fc.integer({ min: 1, max: 40 }).map(id),
    agent: fc.constant('explore'),
    inner: fc.record({
      id: fc.integer({ min: 100, max: 140 }).map(id),
      kind: fc.constantFrom('ActionEvent', 'ObservationEvent', 'AgentErrorEvent', 'MessageEvent'),
      at: fc.integer({ min: BEGIN - 5_000, max: BEGIN + 60_000 }),
      tool: fc.constant('grep'),
      toolCallId: fc.constant('g'),
      actionId: fc.integer({ min: 100, max: 140 }).map(id),
    }),
  }),
);
const anyEvent: fc.Arbitrary<Partial<TraceEvent> & Pick<TraceEvent, 'kind'>> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ sentAt: fc.option(fc.integer({ min: BEGIN - 9_000, max: BEGIN + 60_000 })) }).map(({ sentAt }) => message('m', sentAt)) },
  { weight: 4, arbitrary: fc.constant(action('terminal')) },
  { weight: 4, arbitrary: fc.tuple(fc.integer({ min: 1, max: 40 }), fc.boolean()).map(([seq, failed]) => observation(seq, failed)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { kind: 'InterruptEvent' as const },
      { kind: 'PauseEvent' as const },
      { kind: 'CondensationRequest' as const },
      { kind: 'Condensation' as const },
      { kind: 'AgentErrorEvent' as const, toolCallId: 'terminal' },
      { kind: 'ConversationErrorEvent' as const, code: 'agent.stuck' },
    ),
  },
  { weight: 8, arbitrary: anyUpdate.map(update) },
);
const anyLog = fc.array(fc.tuple(anyEvent, fc.integer({ min: -2_000, max: 2_000 }), fc.boolean()), { maxLength: 60 }).map((entries) => {
  let epoch = 1;
  return log(...entries.map(([event]) => event)).map((event, index) => {
    const [, skew, next] = entries[index] as (typeof entries)[number];
    if (next && index % 7 === 0) epoch += 1;
    return { ...event, epoch, at: event.at + skew };
  });
});
const anyCalls = fc
  .array(
    fc.record({
      at: fc.integer({ min: BEGIN - 20_000, max: BEGIN + 80_000 }),
      latency: fc.double({ min: 0, max: 30_000, noNaN: true }),
      ticks: fc.bigInt({ min: 0n, max: 10n ** 13n }),
      more: fc.record({
        purpose: fc.constantFrom('agent', 'condenser', 'sub-agent', 'title'),
        priced: fc.boolean(),
        status: fc.constantFrom('ok', 'failed', 'aborted'),
      }),
    }),
    { maxLength: 30 },
  )
  .map((calls) =>
    calls.map(({ at, latency, ticks, more }, index) => {
      const digits = ticks.toString().padStart(11, '0');
      const cost = more.priced ? `${digits.slice(0, -10)}.${digits.slice(-10)}` : '0.0000000000';
      return call(index % 5, at, latency, { ...more, cost, id: call(index, 0, 0).id });
    }),
  );
const anyInput = fc.record({
  calls: anyCalls,
  live: fc.boolean(),
  queued: fc.array(
    fc.record({ id: fc.integer({ min: 500, max: 510 }).map(id), sentAt: fc.integer({ min: BEGIN - 9_000, max: BEGIN + 90_000 }), traceId: fc.constant(null) }),
    {
      maxLength: 2,
    },
  ),
  now: fc.integer({ min: BEGIN, max: BEGIN + 200_000 }),
});

describe('the trace of any log', () => {
  it('is a tree of known shape whose children lie inside their parents', () => {
    fc.assert(
      fc.property(anyLog, anyInput, (events, input) => {
        const { spans, turns } = trace(events, { ...input, queued: uniqueById(input.queued) });
        const seen = new Map<string, TraceSpan>();
        for (const span of spans) {
          TraceSpan.parse(span);
          expect(seen.has(span.id)).toBe(false);
          const parent = span.parent === null ? null : seen.get(span.parent);
          expect(parent === null).toBe(span.kind === 'turn');
          if (parent === undefined) throw new Error('a child before its parent, or without one');
          if (parent !== null) {
            expect(span.at).toBeGreaterThanOrEqual(parent.at);
            if (parent.ms !== null) expect(span.ms).not.toBeNull();
            if (parent.ms !== null && span.ms !== null) expect(span.at + span.ms).toBeLessThanOrEqual(parent.at + parent.ms);
          }
          expect(span.ms === null).toBe(span.status === 'running');
          expect(span.status === 'error').toBe(span.code !== undefined);
          seen.set(span.id, span);
        }
        if (!input.live) expect(spans.filter(({ ms }) => ms === null)).toEqual([]);
        for (const turn of turns) TraceTurn.parse(turn);
        expect(turns.map(({ span }) => span)).toEqual(spans.filter(({ kind }) => kind === 'turn').map((span) => span.id));
      }),
    );
  });

  it('costs what the ledger has, to the last decimal', () => {
    fc.assert(
      fc.property(anyLog, anyInput, (events, input) => {
        const { spans, turns } = trace(events, { ...input, queued: uniqueById(input.queued) });
        const ledger = sumUsd(input.calls.map(({ cost }) => cost));
        expect(sumUsd(spans.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd])))).toBe(ledger);
        expect(sumUsd(turns.map(({ costUsd }) => costUsd))).toBe(ledger);
        expect(spans.filter(({ kind }) => kind === 'chat')).toHaveLength(input.calls.length);
      }),
    );
  });

  it('divides each turn into parts that add up to its length', () => {
    fc.assert(
      fc.property(anyLog, anyInput, (events, input) => {
        const { spans, turns, startedAt } = trace(events, { ...input, queued: uniqueById(input.queued) });
        for (const turn of turns) {
          const root = spans.find((span) => span.id === turn.span) as TraceSpan;
          const length = root.ms ?? Math.max(0, input.now - startedAt - root.at);
          expect(TRACE_PARTS.reduce((sum, part) => sum + turn.parts[part], 0)).toBe(length);
        }
      }),
    );
  });

  it('is the same in any pieces, when events come twice, and after a look in between', () => {
    fc.assert(
      fc.property(anyLog, anyInput, fc.nat(60), (events, input, at) => {
        const whole = trace(events, input);
        const collector = collect(events.slice(0, at));
        traceOf(collector, { ...NOTHING, ...input });
        for (const event of events.slice(Math.max(0, at - 5))) collector.add(event);
        expect(traceOf(collector, { ...NOTHING, ...input })).toEqual(whole);
        expect(traceOf(collector, { ...NOTHING, ...input })).toEqual(whole);
      }),
    );
  });

  it('keeps the ids of what it has shown when the log goes on', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(60), (events, at) => {
        const ids = (some: readonly TraceEvent[]): string[] => trace(some).spans.flatMap((span) => (span.kind === 'turn' ? [] : [span.id]));
        const all = new Set(ids(events));
        for (const each of ids(events.slice(0, at))) expect(all.has(each)).toBe(true);
      }),
    );
  });

  it('holds no more spans than its limit, and says where the rest begins', () => {
    fc.assert(
      fc.property(anyLog, fc.integer({ min: 1, max: 10 }), (events, limit) => {
        const collector = collect(events, limit);
        const { spans } = traceOf(collector, NOTHING);
        // The root of a start whose message is not there yet comes on top.
        expect(spans.length).toBeLessThanOrEqual(limit + 1);
        if (collector.cut !== null) expect(spans.every(({ seq }) => seq === null || seq <= (collector.cut as { seq: number }).seq)).toBe(true);
        else expect(collector.spans).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

function uniqueById<T extends { readonly id: string }>(list: readonly T[]): T[] {
  return [...new Map(list.map((each) => [each.id, each])).values()];
}
