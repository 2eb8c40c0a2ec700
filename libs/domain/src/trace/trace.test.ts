import { describe, expect, it } from '@jest/globals';
import { type TraceSpan } from '@slipway/contracts/conversations';
import type { TraceEvent } from './index.js';
import { action, BEGIN, call, id, log, message, observation, status, step, trace, update } from './trace-logs.js';

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
      step(1, { name: 'WORKING', state: 'done', startedAt: BEGIN + 100, elapsedMs: 200 }),
      step(1, { name: 'WAITING_FOR_SANDBOX', state: 'running', startedAt: BEGIN + 300 }),
      step(1, { name: 'WAITING_FOR_SANDBOX', state: 'done', startedAt: BEGIN + 300, elapsedMs: 1_500 }),
      message('Mend it', BEGIN),
      status('running'),
      step(1, { name: 'READY', state: 'done', startedAt: BEGIN + 4_000, elapsedMs: 0 }),
      update({
        key: 'stats',
        call: { model: 'demo', usage: 'agent', latencyMs: 700, prompt: 101, completion: 10, cached: 0, cost: '9' },
      }),
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
      {
        title: 'Mend it',
        message: id(4),
        traceId: 'ab'.repeat(16),
        calls: 1,
        tools: 1,
        costUsd: '0.0000000001',
        promptTokens: 101,
      },
    ]);
    expect(spans.find(({ kind }) => kind === 'chat')).toMatchObject({
      seq: 7,
      firstByteMs: 40,
      costUsd: '0.0000000001',
    });
    expect(turns[0]?.parts).toEqual({ start: 4_900, model: 700, tool: 1_000, approval: 0, condense: 0, other: 2_400 });
  });

  it('takes calls from the log when the ledger cannot be had', () => {
    const events = log(
      message('a'),
      status('running'),
      update({
        key: 'stats',
        call: { model: 'm', usage: 'agent', latencyMs: 400, prompt: 5, completion: 6, cached: 0, cost: '0.5' },
      }),
    );
    expect(outline(trace(events))).toEqual([
      'conversation turn running',
      '  invoke_agent agent running',
      '    chat m 400',
    ]);
  });

  it('takes a call whose answer the log has for answered, though the agent hung up before its end', () => {
    const events = log(
      message('a'),
      status('running'),
      update({
        key: 'stats',
        call: { model: 'm', usage: 'agent', latencyMs: 400, prompt: 101, completion: 10, cached: 0, cost: '0.5' },
      }),
    );
    const calls = [
      call(1, BEGIN + 1_200, 700, { status: 'aborted' }),
      call(2, BEGIN + 1_950, 10, { status: 'aborted' }),
    ];
    expect(outline(trace(events, { calls })).slice(2)).toEqual(['    chat demo 700', '    chat demo 10 model.aborted']);
  });

  it('separates the wait for a user from the work of the tool', () => {
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
    expect(outline(trace(events))).toEqual([
      'conversation turn 7000',
      '  invoke_agent agent 6000',
      '    approval 1000',
      '    execute_tool terminal 2000',
    ]);
  });

  it('marks the chain of spans that decided when a turn ended', () => {
    const events = log(
      message('a'),
      status('running'),
      action('slow'),
      action('quick'),
      observation(4),
      { ...observation(3), at: BEGIN + 8_000 },
      { ...status('finished'), at: BEGIN + 9_000 },
    );
    const { spans } = trace(events, {
      calls: [call(1, BEGIN + 1_200, 700), call(2, BEGIN + 8_100, 500, { prompt: 900 })],
    });
    expect(spans.filter(({ critical }) => critical === true).map(({ name, at }) => [name, at])).toEqual([
      ['conversation turn', 0],
      ['invoke_agent agent', 1_000],
      ['chat demo', 1_200],
      ['execute_tool slow', 2_000],
      ['chat demo', 8_100],
    ]);
  });

  it('says how far the clock of the sandbox is from that of the platform, and who answered a call', () => {
    const stored = (ms: number): Partial<TraceEvent> => ({ storedAfterMs: ms });
    const events = log(
      { ...message('a'), ...stored(-4_000) },
      { ...status('running'), ...stored(-4_900) },
      { ...status('finished'), ...stored(-4_500) },
      { ...message('b'), ...stored(12) },
    );
    const { spans } = trace(events, {
      calls: [call(1, BEGIN + 1_200, 700, { provider: 'azure' }), call(2, BEGIN + 1_300, 100, { provider: null })],
    });
    expect(spans.filter(({ kind }) => kind === 'turn').map(({ clockOffsetMs }) => clockOffsetMs)).toEqual([-4_900, 12]);
    expect(spans.filter(({ kind }) => kind === 'chat').map(({ provider }) => provider)).toEqual(['azure', undefined]);
  });

  it('marks a call that a lost sandbox left without an answer, and goes on with the next start', () => {
    const events = log(
      message('a'),
      status('running'),
      action('terminal', 'c1'),
      { ...step(2, { name: 'WORKING', state: 'done', startedAt: BEGIN + 3_000, elapsedMs: 500 }), epoch: 2 },
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
    expect(
      outline(
        trace(log(message('a'), status('running'), action('terminal'), { kind: 'InterruptEvent' }, status('paused'))),
      ),
    ).toEqual([
      'conversation turn 3000 run.stopped',
      '  invoke_agent agent 2000 run.stopped',
      '    execute_tool terminal 1000 run.stopped',
    ]);
    const rejected = log(message('a'), status('running'), action('t'), status('waiting_for_confirmation'), {
      kind: 'UserRejectObservation',
      actionId: id(3),
    });
    expect(outline(trace(rejected)).slice(2)).toEqual(['    approval 1000', '    execute_tool t 0 tool.rejected']);
  });

  it('nests sub-agents in the call that they work for', () => {
    const inner = (kind: string, seq: number, more: object = {}) =>
      update({
        key: 'sub_agent',
        task: 't1',
        actionId: id(3),
        agent: 'explore',
        inner: { id: id(100 + seq), kind, at: BEGIN + seq * 1_000, ...more },
      });
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
    expect(outline(trace(events, { calls: [call(1, BEGIN + 3_200, 300, { purpose: 'sub-agent' })] })).slice(2)).toEqual(
      [
        '    execute_tool task 4000',
        '      invoke_agent explore 3000',
        '        chat demo 300',
        '        execute_tool grep 1000',
      ],
    );
  });

  it('puts the call of the condenser into the summary', () => {
    const events = log(message('a'), status('running'), { kind: 'Condensation' }, status('finished'));
    const { spans, turns } = trace(events, { calls: [call(1, BEGIN + 1_200, 600, { purpose: 'condenser' })] });
    expect(outline({ spans })).toEqual([
      'conversation turn 3000',
      '  invoke_agent agent 2000',
      '    condense 800',
      '      chat demo 600',
    ]);
    expect(turns[0]?.parts).toMatchObject({ condense: 800, model: 0 });
  });

  it('shows a message that waits for its sandbox under the id that it will have', () => {
    const waiting = log(step(1, { name: 'WAITING_FOR_SANDBOX', state: 'running', startedAt: BEGIN + 200 }));
    const before = trace(waiting, { queued: [{ id: id(7), sentAt: BEGIN, traceId: 'cd'.repeat(16) }] });
    expect(outline(before)).toEqual([
      'conversation turn running',
      '  start running',
      '    start WAITING_FOR_SANDBOX running',
    ]);
    const later = trace([...waiting, { ...(log(message('x', BEGIN))[0] as TraceEvent), seq: 2, id: id(7) }]);
    expect(later.spans.map((span) => span.id)).toEqual(before.spans.map((span) => span.id));
    expect(before.turns[0]?.traceId).toBe('cd'.repeat(16));
  });

  it('begins a turn with each message, also in the midst of a run', () => {
    const events = log(
      message('one'),
      status('running'),
      message('two'),
      action('t'),
      observation(4),
      status('finished'),
    );
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
