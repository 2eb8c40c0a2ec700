import { type ConversationEvent, stateValueOf } from '@slipway/contracts/events';

/** What the condensations of a log leave of it for the model. */
export interface Condensed {
  /** Events that the model does not see any more. */
  readonly forgotten: ReadonlySet<string>;
  /** Stands for them; contains what the earlier summaries said, so only the last one counts. */
  readonly summary: string | null;
  /** How many events that the model sees come before the summary. */
  readonly offset: number;
}

const NOTHING: Condensed = { forgotten: new Set(), summary: null, offset: 0 };

export function condensedOf(events: readonly ConversationEvent[]): Condensed {
  const condensations = events.filter((event) => event.kind === 'Condensation');
  if (condensations.length === 0) return NOTHING;
  const last = condensations.findLast(({ summary }) => typeof summary === 'string' && summary !== '');
  return {
    forgotten: new Set(condensations.flatMap(({ forgotten_event_ids: ids }) => ids)),
    summary: last?.summary ?? null,
    offset: last?.summary_offset ?? 0,
  };
}

/** A condensation was requested, and none has come since. */
export function condensationAsked(events: readonly ConversationEvent[]): boolean {
  return (
    events.findLast((event) => event.kind === 'CondensationRequest' || event.kind === 'Condensation')?.kind ===
    'CondensationRequest'
  );
}

/** The message that informs the model of a change of the tool servers; empty for any other event. */
export function noticeOf(event: ConversationEvent): string {
  return stateValueOf(event, 'mcp_servers')?.told ?? '';
}

/** The events of which the model sees something. */
export function isSeenByModel(event: ConversationEvent): boolean {
  switch (event.kind) {
    case 'SystemPromptEvent':
    case 'MessageEvent':
    case 'ActionEvent':
    case 'ObservationEvent':
    case 'UserRejectObservation':
    case 'AgentErrorEvent':
      return true;
    case 'ConversationStateUpdateEvent':
      return noticeOf(event) !== '';
    default:
      return false;
  }
}
