import type { ConversationEvent } from '@slipway/contracts/events';
import { textOf } from './prompt.js';

/** What the agent said last: the message of its `finish`, or its last plain answer. Empty when it has said nothing. */
export function finalResponse(events: readonly ConversationEvent[]): string {
  const last = events.findLast(
    (event) =>
      (event.kind === 'MessageEvent' && event.source === 'agent') ||
      (event.kind === 'ActionEvent' && event.action.kind === 'FinishAction'),
  );
  if (last?.kind === 'MessageEvent') return textOf(last.llm_message.content);
  return last?.kind === 'ActionEvent' ? String(last.action['message'] ?? '') : '';
}
