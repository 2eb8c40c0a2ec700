import { ConfirmationAnswer, ConfirmationSettings, type ConversationEvent, type EventOf } from '@slipway/contracts';
import { lastStatus, unansweredActions } from '../events.js';

/** Keys of the state updates that hold what was agreed on asking, and each answer. */
export const CONFIRMATION_SETTINGS = 'confirmation_settings';
export const CONFIRMATION_ANSWER = 'confirmation';

/** The actions that wait for a person, oldest first; none when nothing waits. */
export function pendingActions(events: readonly ConversationEvent[]): Array<EventOf<'ActionEvent'>> {
  if (lastStatus(events) !== 'waiting_for_confirmation') return [];
  return unansweredActions(events);
}

/** Was what waits accepted in the log, and has not begun? So it is after an answer that came while no sandbox was there to hear it. */
export function acceptedUnheard(events: readonly ConversationEvent[]): boolean {
  const pending = new Set(pendingActions(events).map(({ id }) => id));
  if (pending.size === 0) return false;
  const answer = events.findLast((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === CONFIRMATION_ANSWER);
  const said = answer?.kind === 'ConversationStateUpdateEvent' ? ConfirmationAnswer.safeParse(answer.value) : null;
  return said?.success === true && said.data.accepted && said.data.action_ids.every((id) => pending.has(id)) && said.data.action_ids.length === pending.size;
}

/** What holds in a log that says something of it; `undefined` for one that says nothing. */
export function settingsOf(events: readonly ConversationEvent[]): ConfirmationSettings | undefined {
  const last = events.findLast((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === CONFIRMATION_SETTINGS);
  return last?.kind === 'ConversationStateUpdateEvent' ? ConfirmationSettings.safeParse(last.value).data : undefined;
}
