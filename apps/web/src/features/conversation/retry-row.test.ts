import { describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { appendToTimeline, EMPTY_TIMELINE } from './timeline.ts';

const base = { timestamp: '2026-01-01T00:00:00.000Z', source: 'environment' as const };
const logged = (seq: number, key: string, value: unknown) => {
  const event: ConversationEvent = {
    ...base,
    id: `0190a0a0-0000-7000-8000-00000000000${seq}`,
    kind: 'ConversationStateUpdateEvent',
    key,
    value,
  };
  return { conversationId: '0190a0a0-0000-7000-8000-0000000000aa', epoch: 1, seq, event };
};
const retry = (seq: number, attempt: number) =>
  logged(seq, 'llm_retry', { code: 'model.unavailable', detail: `503 for the ${attempt}.`, attempt, wait_ms: 500 });

describe('a call of the model that is tried again', () => {
  it('is one line of the timeline, however often: the last failure and how many there were', () => {
    const { rows } = appendToTimeline(EMPTY_TIMELINE, [
      retry(1, 1),
      logged(2, 'stats', {}),
      retry(3, 1),
      retry(4, 2),
      logged(5, 'llm_retry', 'nonsense'),
    ]);
    expect(rows).toMatchObject([{ kind: 'retry', seq: 4, failures: 3, detail: '503 for the 2.' }]);
  });
});
