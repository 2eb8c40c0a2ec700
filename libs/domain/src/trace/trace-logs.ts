import { type LedgerCall, MAX_TRACE_SPANS } from '@slipway/contracts/conversations';
import { TraceCollector, type TraceEvent, type TraceInput, type TraceUpdate, traceOf } from './index.js';

/** Logs and calls for tests of traces. */

export const CONVERSATION = '0190a0a0-0000-7000-8000-000000000001';
export const BEGIN = Date.parse('2026-01-01T00:00:00Z');
export const id = (seq: number): string => `0190a0a0-0000-7000-8000-${String(seq).padStart(12, '0')}`;
export const NOTHING: TraceInput = {
  queued: [],
  calls: null,
  limit: MAX_TRACE_SPANS,
  live: true,
  now: BEGIN + 3_600_000,
};

/** A log of events that are given without what every event has; each is a second after the one before. */
export function log(...events: Array<Partial<TraceEvent> & Pick<TraceEvent, 'kind'>>): TraceEvent[] {
  return events.map((event, index) => ({
    seq: index + 1,
    epoch: 1,
    id: id(index + 1),
    at: BEGIN + index * 1_000,
    ...event,
  }));
}
export const message = (
  title: string,
  sentAt: number | null = null,
): Partial<TraceEvent> & { kind: 'MessageEvent' } => ({
  kind: 'MessageEvent',
  message: { title, sentAt, traceId: null },
});
export const update = (value: TraceUpdate): { kind: 'ConversationStateUpdateEvent'; update: TraceUpdate } => ({
  kind: 'ConversationStateUpdateEvent',
  update: value,
});
export const status = (value: 'running' | 'finished' | 'waiting_for_confirmation' | 'error' | 'paused' | 'idle') =>
  update({ key: 'execution_status', status: value });
export const action = (tool: string, call = tool): Partial<TraceEvent> & { kind: 'ActionEvent' } => ({
  kind: 'ActionEvent',
  tool,
  toolCallId: call,
});
export const observation = (seq: number, failed = false): Partial<TraceEvent> & { kind: 'ObservationEvent' } => ({
  kind: 'ObservationEvent',
  actionId: id(seq),
  failed,
});
export interface StepFacts {
  readonly name: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAt: number;
  readonly elapsedMs?: number | null | undefined;
}

export const step = (attempt: number, { name, state, startedAt, elapsedMs = null }: StepFacts) =>
  update({ key: 'start_task', step: { attempt, status: name, state, startedAt, elapsedMs, code: null } });
export const call = (number: number, at: number, latencyMs: number, more: Partial<LedgerCall> = {}): LedgerCall => ({
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

export function collect(events: readonly TraceEvent[], limit = MAX_TRACE_SPANS): TraceCollector {
  const collector = new TraceCollector(CONVERSATION, limit);
  for (const event of events) collector.add(event);
  return collector;
}
export const trace = (events: readonly TraceEvent[], input: Partial<TraceInput> = {}) =>
  traceOf(collect(events), { ...NOTHING, ...input });
