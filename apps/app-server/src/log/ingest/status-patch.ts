import type { StartStep } from '@slipway/contracts/conversations';
import type { ConversationEvent } from '@slipway/contracts/events';
import {
  type ConversationStatusState,
  conversationStatus,
  INITIAL_STATUS,
  reduceConversationStatus,
} from '@slipway/domain';
import { z } from 'zod';

/** Columns of the conversation that follow from events; names as `app.append_events` reads them. */
export type ConversationPatch = Partial<{
  status: string;
  execution_status: string;
  sandbox_status: string;
  start_status: string;
  status_state: ConversationStatusState;
  steps: readonly StartStep[];
  title: string;
}>;

const StoredState = z.object({ execution: z.string(), start: z.string(), halt: z.string() });

/** The column `status_state`; what is not one (a new row has `{}`) is the beginning. */
export function storedStatus(value: unknown): ConversationStatusState {
  return StoredState.safeParse(value).success ? (value as ConversationStatusState) : INITIAL_STATUS;
}

/**
 * Does the event say anything of the conversation's columns? Most do not, and are stored without reading the row first.
 */
export function touchesConversation(event: ConversationEvent): boolean {
  return (
    event.kind === 'ConversationStateUpdateEvent' ||
    event.kind === 'ConversationErrorEvent' ||
    event.kind === 'PauseEvent' ||
    event.kind === 'InterruptEvent'
  );
}

/**
 * What changes in the row when these events follow `state`, in this order. What it cost is the ledger's to say
 * (`app.fold_ledger`), not its sandbox's.
 */
export function conversationPatch(
  state: ConversationStatusState,
  events: readonly ConversationEvent[],
): ConversationPatch {
  const patch: ConversationPatch = {};
  let next = state;
  for (const event of events) {
    next = reduceConversationStatus(next, event);
  }
  if (next !== state) {
    patch.status = conversationStatus(next);
    patch.execution_status = next.execution;
    patch.status_state = next;
  }
  return patch;
}
