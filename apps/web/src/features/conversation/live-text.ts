import type { LoggedEvent, StreamingDelta } from '@slipway/contracts';

/** Text that the model is still writing. `whole` is false once a piece was missed: what follows is not shown, and the durable event brings all of it. */
export interface LiveText {
  readonly responseId: string;
  readonly content: string;
  readonly reasoning: string;
  readonly whole: boolean;
}

/** The text after one more piece. Pieces may be lost, joined, repeated or late; only one that continues what is here is taken. */
export function applyDelta(live: LiveText | null, delta: StreamingDelta): LiveText {
  const current = live?.responseId === delta.responseId ? live : { responseId: delta.responseId, content: '', reasoning: '', whole: true };
  const text = current[delta.channel];
  if (delta.offset > text.length) return current.whole ? { ...current, whole: false } : current;
  if (delta.offset + delta.text.length <= text.length) return current;
  return { ...current, [delta.channel]: text.slice(0, delta.offset) + delta.text };
}

/** The durable event with the same response id replaces the live text; the end of a run takes what is left. */
export function endsLiveText(live: LiveText, { event }: LoggedEvent): boolean {
  if (event.kind === 'MessageEvent' || event.kind === 'ActionEvent') return event.llm_response_id === live.responseId;
  if (event.kind === 'ConversationStateUpdateEvent') return event.key === 'execution_status' && event.value !== 'running';
  return event.kind === 'InterruptEvent' || event.kind === 'ConversationErrorEvent';
}
