import { type EventStamp, leftBehind, pendingMessages, stamp } from '@slipway/agent';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import { lastStatus, unansweredActions } from '@slipway/domain';
import type { AgentSetup } from './agent-setup.js';
import { noticeOf } from './restart-notice.js';

/**
 * How long an interrupt waits for the run to end by itself. Milliseconds; the caller has its answer within a second.
 */
export const INTERRUPT_MS = 700;
export const SESSION_END_MS = 5_000;

const RESTARTED = 'interrupted: the sandbox was restarted; the command may or may not have had its effect';

/** An answer for each action that has none: whether it took effect cannot be known. */
export function interruptedAnswers(by: EventStamp, events: readonly ConversationEvent[]): ConversationEvent[] {
  return unansweredActions(events).map((action) =>
    stamp(by, {
      kind: 'AgentErrorEvent',
      source: 'agent',
      tool_name: action.tool_name,
      tool_call_id: action.tool_call_id,
      error: `${RESTARTED}${leftBehind(action)}`,
    }),
  );
}

/**
 * What a log needs before its agent goes on: a system prompt if it is new or its agent was another, answers for actions
 * that the previous process left without one, and a notice about the time between.
 */
export function eventsToGoOn(
  by: EventStamp,
  log: { readonly id: string; readonly events: readonly ConversationEvent[]; readonly waits: boolean },
  setup: Pick<AgentSetup, 'systemPrompt' | 'matches'>,
  slipway: StartConversationRequest['slipway'],
): ConversationEvent[] {
  const prompt = log.events.findLast((event) => event.kind === 'SystemPromptEvent');
  const isNew = prompt === undefined;
  const notice = isNew ? null : noticeOf(log.id, slipway);
  return [
    ...(isNew || !setup.matches(prompt) ? [setup.systemPrompt(by)] : []),
    ...(log.waits ? [] : interruptedAnswers(by, log.events)),
    ...(notice === null || log.events.some(({ id }) => id === notice.id) ? [] : [stamp(by, notice)]),
  ];
}

/** Is there something to go on with: a message that was not taken in, or a run that had not come to its end? */
export function hasWork(events: readonly ConversationEvent[]): boolean {
  if (pendingMessages(events).length > 0) return true;
  return (
    events.some((event) => event.kind === 'MessageEvent' && event.source === 'user') &&
    !['finished', 'stuck'].includes(lastStatus(events))
  );
}

/** The agent halted by itself or as it was asked to, and no event says that this is its end. */
export function restsOnPause(events: readonly ConversationEvent[]): boolean {
  return (
    lastStatus(events) === 'paused' &&
    events.findLast(({ kind }) => kind === 'PauseEvent' || kind === 'InterruptEvent')?.kind === 'PauseEvent'
  );
}

/** True when the work ended, one way or the other, in time. Milliseconds. */
export async function settledWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = await Promise.race([work.then(() => true as const), late]);
  clearTimeout(timer);
  return settled;
}
