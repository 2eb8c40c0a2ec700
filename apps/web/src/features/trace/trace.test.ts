import { describe, expect, it } from '@jest/globals';
import type { ConversationTrace, TraceSpan, TraceTurn } from '@slipway/contracts/conversations';
import { t } from '../../messages/testing.ts';
import { barOf, rowsOf, stepOf } from './trace-rows.ts';
import { clockNoteOf, figuresOf, labelOf, summaryOf, totalsOf } from './trace-words.ts';

const span = (
  id: string,
  parent: string | null,
  kind: TraceSpan['kind'],
  name: string,
  at: number,
  ms: number | null,
  seq: number | null = null,
): TraceSpan => ({
  id,
  parent,
  kind,
  name,
  seq,
  at,
  ms,
  status: ms === null ? 'running' : 'ok',
});
const SPANS = [
  span('t', null, 'turn', 'conversation turn', 0, 1_000, 2),
  span('s', 't', 'start', 'start', 0, 200, 1),
  span('s1', 's', 'start_step', 'start WAITING_FOR_SANDBOX', 50, 100, 1),
  span('a', 't', 'agent', 'invoke_agent agent', 200, 800, 3),
  span('c', 'a', 'chat', 'chat demo', 200, 300),
  span('x', 'a', 'tool', 'execute_tool terminal', 500, 400, 5),
];
const TURN: TraceTurn = {
  span: 't',
  traceId: 'a'.repeat(32),
  message: 'm',
  title: 'Mend it',
  parts: { start: 200, model: 300, tool: 400, approval: 0, condense: 0, other: 100 },
  calls: 1,
  tools: 1,
  promptTokens: 1_200,
  completionTokens: 30,
  costUsd: '0.02',
  longest: ['x', 'c'],
};
const TRACE: ConversationTrace = {
  conversationId: 'c',
  startedAt: '2026-01-01T00:00:00.000Z',
  asOf: '2026-01-01T00:00:02.000Z',
  upto: 6,
  calls: 'ledger',
  turns: [TURN],
  spans: SPANS,
  truncated: false,
  nextAfter: null,
};

describe('the rows of a trace', () => {
  it('know their level, their place among siblings and their row of the timeline', () => {
    const rows = rowsOf(SPANS, new Set());
    expect(
      rows.map(({ span: { id }, level, position, siblings, expanded, seq }) => [
        id,
        level,
        position,
        siblings,
        expanded,
        seq,
      ]),
    ).toEqual([
      ['t', 1, 1, 1, true, 2],
      ['s', 2, 1, 2, true, 1],
      ['s1', 3, 1, 1, null, 1],
      ['a', 2, 2, 2, true, 3],
      ['c', 3, 1, 2, null, 3],
      ['x', 3, 2, 2, null, 5],
    ]);
  });
  it('leave out what is below a folded one', () => {
    expect(rowsOf(SPANS, new Set(['s', 'a'])).map(({ span: { id } }) => id)).toEqual(['t', 's', 'a']);
    expect(rowsOf(SPANS, new Set(['t'])).map(({ span: { id } }) => id)).toEqual(['t']);
  });
  it('are walked, folded and shown by keys', () => {
    const rows = rowsOf(SPANS, new Set(['s']));
    expect(stepOf(rows, 0, 'ArrowDown', 10)).toEqual({ to: 1 });
    expect(stepOf(rows, 1, 'ArrowRight', 10)).toEqual({ unfold: 's' });
    expect(stepOf(rows, 2, 'ArrowLeft', 10)).toEqual({ fold: 'a' });
    expect(stepOf(rows, 4, 'ArrowLeft', 10)).toEqual({ to: 2 });
    expect(stepOf(rows, 0, 'PageDown', 10)).toEqual({ to: 4 });
    expect(stepOf(rows, 4, 'Enter', 10)).toEqual({ show: 5 });
    expect(stepOf(rows, 4, 'x', 10)).toBeNull();
    expect(stepOf([], 0, 'ArrowDown', 10)).toBeNull();
  });
  it('have bars inside their turn, up to now for what runs', () => {
    const [turn, , , , chat] = rowsOf(SPANS, new Set());
    expect(barOf(turn as never, 9_999)).toEqual({ left: 0, width: 1 });
    expect(barOf(chat as never, 9_999)).toEqual({ left: 0.2, width: 0.3 });
    const running = rowsOf(
      [span('t', null, 'turn', 'conversation turn', 0, null), span('c', 't', 'chat', 'chat demo', 500, null)],
      new Set(),
    );
    expect(barOf(running[1] as never, 1_000)).toEqual({ left: 0.5, width: 0.5 });
  });
  it('are quick for ten thousand spans', () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      index === 0 ? (SPANS[0] as TraceSpan) : span(String(index), 't', 'tool', 'execute_tool x', index, 1),
    );
    expect(rowsOf(many, new Set())).toHaveLength(10_000);
  });
});

describe('the words of a trace', () => {
  it('say in one line what took long', () => {
    expect(summaryOf(t, TRACE)).toBe('400 ms of 1.0 s (40 %) went to tools. Longest step: terminal, 400 ms.');
    expect(summaryOf(t, { ...TRACE, turns: [], spans: [] })).toBe('No time recorded yet.');
    expect(totalsOf(t, [TURN])).toBe('1 turn · 1 model call · 1 tool call · $0.02');
  });
  it('name spans as users do', () => {
    expect(SPANS.map((each) => labelOf(t, each, { number: 1, title: 'Mend it' }))).toEqual([
      '1. Mend it',
      'Start',
      'Get a sandbox',
      'Run',
      'demo',
      'terminal',
    ]);
    expect(figuresOf(t, TURN)).toEqual({ cost: '$0.02', tokens: '1.2K read, 30 written' });
    expect(figuresOf(t, {})).toEqual({ cost: '', tokens: '' });
  });

  it('says how far the clocks of sandbox and platform are apart, once it is more than the way of an event', () => {
    const [turn = span('t', null, 'turn', 'conversation turn', 0, 1)] = SPANS;
    expect(clockNoteOf(t, [turn, { ...turn, clockOffsetMs: 900 }])).toBe(null);
    expect(
      clockNoteOf(t, [
        { ...turn, clockOffsetMs: 30 },
        { ...turn, clockOffsetMs: -5_000 },
      ]),
    ).toMatch(/^The sandbox’s clock was 5(?:\.0)? s ahead\./);
    expect(clockNoteOf(t, [{ ...turn, clockOffsetMs: 5_000 }])).toMatch(/behind\./);
  });
});
