import {
  type ConversationEvent,
  type EventOf,
  type ExecutionStatus,
  isUpdateOf,
  type StateUpdate,
} from '@slipway/contracts/events';
import type { Clock } from '@slipway/domain';

type Distribute<E> = E extends unknown ? Omit<E, 'id' | 'timestamp'> : never;
/** An event without the fields that the log's writer gives it. */
export type EventBody = Distribute<ConversationEvent>;

export interface EventStamp {
  readonly clock: Clock;
  readonly ids: { uuid(): string };
}

/** The event with an id and the time, UTC with `Z`. */
export function stamp(by: EventStamp, body: EventBody): ConversationEvent {
  return { id: by.ids.uuid(), timestamp: by.clock.now().toISOString(), ...body } as ConversationEvent;
}

/** The event of a state update. `source` is `user` for what a user decided. */
export function stampUpdate(
  by: EventStamp,
  update: StateUpdate,
  source: 'environment' | 'user' = 'environment',
): ConversationEvent {
  return stamp(by, { kind: 'ConversationStateUpdateEvent', source, key: update.key, value: update.value });
}

export function statusUpdate(by: EventStamp, status: ExecutionStatus): ConversationEvent {
  return stampUpdate(by, { key: 'execution_status', value: status });
}

/**
 * Marks where in the conversation a user's message was taken in: before the model's next answer, whenever it had
 * arrived.
 */
export const TAKEN_IN = 'last_user_message_id' satisfies StateUpdate['key'];

/** The user's messages that no step has taken in yet, oldest first. */
export function pendingMessages(events: readonly ConversationEvent[]): Array<EventOf<'MessageEvent'>> {
  const found: Array<EventOf<'MessageEvent'>> = [];
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index];
    if (event !== undefined && isUpdateOf(event, TAKEN_IN)) {
      // A message may stand before the marker of an earlier one: it arrived while that one was being taken in.
      const until = events.findLastIndex((other) => other.id === event.value);
      return [...events.slice(until + 1, index).filter(isUserMessage), ...found.reverse()];
    }
    if (event !== undefined && isUserMessage(event)) found.push(event);
  }
  return found.reverse();
}

export function isUserMessage(event: ConversationEvent): event is EventOf<'MessageEvent'> {
  return event.kind === 'MessageEvent' && event.source === 'user';
}
