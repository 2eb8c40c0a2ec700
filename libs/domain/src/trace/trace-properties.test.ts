import { describe, expect, it } from '@jest/globals';
import { TRACE_PARTS, TraceSpan, TraceTurn } from '@slipway/contracts/conversations';
import fc from 'fast-check';
import { type TraceEvent, type TraceUpdate, traceOf } from './index.js';
import { action, BEGIN, call, collect, id, log, message, NOTHING, observation, trace, update } from './trace-logs.js';
import { sumUsd } from './usd.js';

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
  {
    weight: 2,
    arbitrary: fc
      .record({ sentAt: fc.option(fc.integer({ min: BEGIN - 9_000, max: BEGIN + 60_000 })) })
      .map(({ sentAt }) => message('m', sentAt)),
  },
  { weight: 4, arbitrary: fc.constant(action('terminal')) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 40 }), fc.boolean()).map(([seq, failed]) => observation(seq, failed)),
  },
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
const anyLog = fc
  .array(fc.tuple(anyEvent, fc.integer({ min: -2_000, max: 2_000 }), fc.boolean()), { maxLength: 60 })
  .map((entries) => {
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
    fc.record({
      id: fc.integer({ min: 500, max: 510 }).map(id),
      sentAt: fc.integer({ min: BEGIN - 9_000, max: BEGIN + 90_000 }),
      traceId: fc.constant(null),
    }),
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
            if (parent.ms !== null && span.ms !== null)
              expect(span.at + span.ms).toBeLessThanOrEqual(parent.at + parent.ms);
          }
          expect(span.ms === null).toBe(span.status === 'running');
          expect(span.status === 'error').toBe(span.code !== undefined);
          seen.set(span.id, span);
        }
        if (!input.live) expect(spans.filter(({ ms }) => ms === null)).toEqual([]);
        for (const turn of turns) TraceTurn.parse(turn);
        expect(turns.map(({ span }) => span)).toEqual(
          spans.filter(({ kind }) => kind === 'turn').map((span) => span.id),
        );
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

  it('has as its critical path, from the end backwards, always what ended last', () => {
    fc.assert(
      fc.property(anyLog, anyInput, (events, input) => {
        const { spans, startedAt } = trace(events, { ...input, queued: uniqueById(input.queued) });
        const endOf = ({ at, ms }: TraceSpan): number => (ms === null ? Math.max(at, input.now - startedAt) : at + ms);
        const expected = new Set<string>();
        const walk = (span: TraceSpan, end: number): void => {
          expected.add(span.id);
          const below = spans.filter(({ parent }) => parent === span.id);
          for (let at = end; ; ) {
            const by = (a: TraceSpan, b: TraceSpan): number =>
              Math.min(endOf(b), at) - Math.min(endOf(a), at) ||
              a.at - b.at ||
              endOf(b) - endOf(a) ||
              below.indexOf(a) - below.indexOf(b);
            const [last] = below.filter((child) => child.at < Math.min(endOf(child), at)).sort(by);
            if (last === undefined) return;
            walk(last, Math.min(endOf(last), at));
            at = last.at;
          }
        };
        for (const root of spans.filter(({ parent }) => parent === null)) walk(root, endOf(root));
        expect(new Set(spans.flatMap(({ id: span, critical }) => (critical === true ? [span] : [])))).toEqual(expected);
      }),
    );
  });

  it('is the same in any pieces, when events come twice, and after a read in between', () => {
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
        const ids = (some: readonly TraceEvent[]): string[] =>
          trace(some).spans.flatMap((span) => (span.kind === 'turn' ? [] : [span.id]));
        const all = new Set(ids(events));
        for (const each of ids(events.slice(0, at))) expect(all.has(each)).toBe(true);
      }),
    );
  });

  it('holds no more spans than its limit, and says where it was cut', () => {
    fc.assert(
      fc.property(anyLog, fc.integer({ min: 1, max: 10 }), (events, limit) => {
        const collector = collect(events, limit);
        const { spans } = traceOf(collector, NOTHING);
        // The root of a start whose message is not there yet comes on top.
        expect(spans.length).toBeLessThanOrEqual(limit + 1);
        if (collector.cut !== null)
          expect(spans.every(({ seq }) => seq === null || seq <= (collector.cut as { seq: number }).seq)).toBe(true);
        else expect(collector.spans).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

function uniqueById<T extends { readonly id: string }>(list: readonly T[]): T[] {
  return [...new Map(list.map((each) => [each.id, each])).values()];
}
