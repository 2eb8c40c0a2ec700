import { type ActionRejections, type ConfirmationSettings } from '@slipway/contracts/conversations';
import { type ConversationEvent, type EventOf, type ExecutionStatus, lastStateValue } from '@slipway/contracts/events';

/** The last execution status of a log; a log that says nothing is idle. */
export function lastStatus(events: readonly ConversationEvent[]): ExecutionStatus {
  return lastStateValue(events, 'execution_status') ?? 'idle';
}

/**
 * Actions that have neither an observation nor an error, oldest first: the sandbox or the run ended while they were
 * under way.
 */
export function unansweredActions(events: readonly ConversationEvent[]): Array<EventOf<'ActionEvent'>> {
  const open = new Map<string, EventOf<'ActionEvent'>>();
  for (const event of events) {
    if (event.kind === 'ActionEvent') open.set(event.id, event);
    else if (event.kind === 'ObservationEvent' || event.kind === 'UserRejectObservation') open.delete(event.action_id);
    else if (event.kind === 'AgentErrorEvent') {
      const answered = [...open.values()].findLast((action) => action.tool_call_id === event.tool_call_id);
      if (answered !== undefined) open.delete(answered.id);
    }
  }
  return [...open.values()];
}

/** The actions that wait for a user, oldest first; none when nothing waits. */
export function pendingActions(events: readonly ConversationEvent[]): Array<EventOf<'ActionEvent'>> {
  if (lastStatus(events) !== 'waiting_for_confirmation') return [];
  return unansweredActions(events);
}

/**
 * Was what waits accepted in the log, and has not begun? So it is after an answer that came while no sandbox was there
 * to hear it.
 */
export function isAcceptedAndPending(events: readonly ConversationEvent[]): boolean {
  const pending = new Set(pendingActions(events).map(({ id }) => id));
  if (pending.size === 0) return false;
  const answer = lastStateValue(events, 'confirmation');
  return (
    answer?.accepted === true &&
    answer.action_ids.every((id) => pending.has(id)) &&
    answer.action_ids.length === pending.size
  );
}

/**
 * One answer about several actions, by action: ids that are carried out, and rejected ids with the reason for the
 * agent. Order of `waiting`.
 */
export interface DividedAnswer {
  readonly approved: readonly string[];
  readonly rejected: ReadonlyArray<{ readonly id: string; readonly reason: string }>;
}

/** Every action that an answer is about, approved and rejected. */
export function namedActions({
  action_ids = [],
  rejections = [],
}: {
  readonly action_ids?: readonly string[] | undefined;
  readonly rejections?: ActionRejections | undefined;
}): string[] {
  return [...new Set([...action_ids, ...rejections.map(({ id }) => id)])];
}

/**
 * Divides an answer. Without `accept` nothing is approved; a rejection without a reason of its own has the answer's.
 */
export function divideAnswer(
  waiting: readonly string[],
  {
    accept,
    reason,
    rejections = [],
  }: { readonly accept: boolean; readonly reason: string; readonly rejections?: ActionRejections | undefined },
): DividedAnswer {
  const reasons = new Map(rejections.map((each) => [each.id, each.reason || reason]));
  const isApproved = (id: string): boolean => accept && !reasons.has(id);
  return {
    approved: waiting.filter(isApproved),
    rejected: waiting.filter((id) => !isApproved(id)).map((id) => ({ id, reason: reasons.get(id) ?? reason })),
  };
}

/** What holds in a log that says something of it; `undefined` for one that says nothing. */
export function settingsOf(events: readonly ConversationEvent[]): ConfirmationSettings | undefined {
  return lastStateValue(events, 'confirmation_settings');
}
