import { describe, expect, it } from '@jest/globals';
import { CONVERSATION_STATUSES, START_STATUSES } from '@slipway/contracts/conversations';
import { type ConversationEvent, EXECUTION_STATUSES } from '@slipway/contracts/events';
import fc from 'fast-check';
import { conversationStatus, INITIAL_STATUS, reduceConversationStatus } from './conversation-status.js';

const base = {
  id: '0190a0a0-0000-7000-8000-000000000001',
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'environment' as const,
};
const execution = (value: string): ConversationEvent => ({
  ...base,
  kind: 'ConversationStateUpdateEvent',
  key: 'execution_status',
  value,
});
const start = (status: (typeof START_STATUSES)[number]): ConversationEvent => ({
  ...base,
  kind: 'ConversationStateUpdateEvent',
  key: 'start_task',
  value: { attempt: 1, status, state: 'done', startedAt: base.timestamp },
});
const interrupt: ConversationEvent = { ...base, kind: 'InterruptEvent' };
const pause: ConversationEvent = { ...base, kind: 'PauseEvent' };
const statusAfter = (...events: ConversationEvent[]): string =>
  conversationStatus(events.reduce(reduceConversationStatus, INITIAL_STATUS));

const anyEvent = fc.oneof(
  fc.constantFrom(...EXECUTION_STATUSES).map(execution),
  fc.constantFrom(...START_STATUSES).map(start),
  fc.constantFrom(interrupt, pause),
  fc
    .anything()
    .map((value): ConversationEvent => ({ ...base, kind: 'ConversationStateUpdateEvent', key: 'start_task', value })),
  fc.string().map(execution),
);

describe('the status of a conversation', () => {
  it('is starting before anything is known', () => expect(statusAfter()).toBe('starting'));
  it('is working while the agent runs', () =>
    expect(statusAfter(start('READY'), execution('running'))).toBe('working'));
  it('is finished when the agent says so', () =>
    expect(statusAfter(start('READY'), execution('running'), execution('finished'))).toBe('finished'));
  it('is failed when the start failed, whatever the agent said before', () =>
    expect(statusAfter(execution('running'), start('ERROR'))).toBe('failed'));
  it('is stopped after an interrupt and paused after a pause', () => {
    expect(statusAfter(start('READY'), execution('running'), interrupt, execution('paused'))).toBe('stopped');
    expect(statusAfter(start('READY'), execution('running'), pause, execution('paused'))).toBe('paused');
  });
  it('is paused after a limit that the log has without a pause, and works again with the next run', () => {
    for (const code of ['agent.budget-limit', 'budget.exhausted', 'agent.iteration-limit'] as const) {
      const limit: ConversationEvent = { ...base, kind: 'ConversationErrorEvent', code, detail: 'used up' };
      const run = [start('READY'), execution('running'), limit, execution('paused')];
      expect(statusAfter(...run)).toBe('paused');
      expect(run.reduce(reduceConversationStatus, INITIAL_STATUS).failure).toEqual({ code, detail: 'used up' });
      expect(statusAfter(...run, execution('running'))).toBe('working');
      expect(statusAfter(...run, execution('running'), execution('idle'))).toBe('waiting');
    }
  });
  it('is stopped when it is stopped while it starts, whatever that start still says, and starting when the next one begins', () => {
    expect(statusAfter(start('WAITING_FOR_SANDBOX'), interrupt, start('PREPARING_REPOSITORY'))).toBe('stopped');
    expect(statusAfter(start('WAITING_FOR_SANDBOX'), interrupt, start('PREPARING_REPOSITORY'), start('READY'))).toBe(
      'stopped',
    );
    expect(statusAfter(start('WAITING_FOR_SANDBOX'), interrupt, start('READY'), start('WAITING_FOR_SANDBOX'))).toBe(
      'starting',
    );
    expect(statusAfter(pause, start('READY'))).toBe('paused');
  });
  it('forgets the halt when the agent runs again', () =>
    expect(statusAfter(start('READY'), interrupt, execution('paused'), execution('running'), execution('idle'))).toBe(
      'waiting',
    ));

  it('is exactly one of the known ones after any events, and the same for everyone who reads the same log', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
        const status = statusAfter(...events);
        expect(CONVERSATION_STATUSES).toContain(status);
        expect(statusAfter(...events)).toBe(status);
      }),
    );
  });
});
