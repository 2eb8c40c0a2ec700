import { describe, expect, it } from '@jest/globals';
import { ConversationEvent } from './conversation-event.js';
import { lastStateValue, STATE_UPDATES, stateUpdateOf, stateValueOf } from './state-update.js';

const eventOf = (key: string, value: unknown): ConversationEvent =>
  ConversationEvent.parse({
    id: '00000000-0000-4000-8000-000000000001',
    timestamp: '2026-01-01T00:00:00.000Z',
    source: 'environment',
    kind: 'ConversationStateUpdateEvent',
    key,
    value,
  });

describe('a state update', () => {
  it('is one of the union when its value is that of its key', () => {
    expect(stateUpdateOf(eventOf('execution_status', 'running'))).toEqual({
      key: 'execution_status',
      value: 'running',
    });
    const update = stateUpdateOf(eventOf('title', 'A task'));
    // The compiler narrows the value by the key.
    expect(update?.key === 'title' ? update.value.length : 0).toBe(6);
  });

  it('of an unknown key is stored as it came and means nothing', () => {
    const event = eventOf('of_a_later_release', { any: ['thing'] });
    expect(event).toMatchObject({ key: 'of_a_later_release', value: { any: ['thing'] } });
    expect(stateUpdateOf(event)).toBeNull();
    expect(stateUpdateOf(eventOf('constructor', 'x'))).toBeNull();
  });

  it('whose value is not that of its key is stored as it came and means nothing', () => {
    for (const key of Object.keys(STATE_UPDATES)) expect(stateUpdateOf(eventOf(key, 17))).toBeNull();
    expect(stateValueOf(eventOf('execution_status', 'dreaming'), 'execution_status')).toBeUndefined();
  });

  it('is read by its key alone, the last of a log first', () => {
    const log = [eventOf('title', 'first'), eventOf('title', 'second'), eventOf('model', 'm')];
    expect(lastStateValue(log, 'title')).toBe('second');
    expect(lastStateValue(log, 'stats')).toBeUndefined();
    expect(stateValueOf(eventOf('title', 'x'), 'model')).toBeUndefined();
  });
});
