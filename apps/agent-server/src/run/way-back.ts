import type { ConversationEvent } from '@slipway/contracts/events';
import { notFound, SlipwayError } from '@slipway/errors';

/** The model's messages and actions. Its knowledge of its tools stays valid. */
const SEEN_BY_MODEL: readonly string[] = [
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'UserRejectObservation',
  'AgentErrorEvent',
];

/**
 * What the model must forget for the conversation to stand at `eventId` again (`null`: at its beginning, where it knows
 * its instructions alone). All calls of tools that came in one answer of the model are one step, which is kept with its
 * results.
 * @throws SlipwayError `resource.not-found`, and `conversation.forgotten` where what came until then is no longer all
 * there.
 */
export function forgottenAt(events: readonly ConversationEvent[], eventId: string | null): string[] {
  const at = eventId === null ? -1 : events.findIndex(({ id }) => id === eventId);
  if (eventId !== null && at === -1) throw notFound();
  const condensations = events.flatMap((event, index) =>
    event.kind === 'Condensation' ? [{ ...event, since: index > at }] : [],
  );
  const gone = new Set(condensations.flatMap(({ forgotten_event_ids: ids }) => ids));
  const goneSince = new Set(condensations.flatMap(({ since, forgotten_event_ids: ids }) => (since ? ids : [])));
  // A summary covers what would come after, or stands for what was there.
  const shortened = condensations.some(({ since, summary }) => since && typeof summary === 'string' && summary !== '');
  if (shortened || events.slice(0, at + 1).some(({ id }) => goneSince.has(id)))
    throw new SlipwayError(
      'conversation.forgotten',
      'What the model knew at that event it does not know in that form any more: fork the conversation there instead.',
    );
  const step = stepAt(events, at);
  return events
    .slice(at + 1)
    .flatMap((event) =>
      SEEN_BY_MODEL.includes(event.kind) && !gone.has(event.id) && !step.has(callOf(event)) ? [event.id] : [],
    );
}

/** The calls of the step that the event at `at` belongs to. */
function stepAt(events: readonly ConversationEvent[], at: number): ReadonlySet<string> {
  const call = events[at] === undefined ? '' : callOf(events[at]);
  const answer = events.find((event) => event.kind === 'ActionEvent' && callOf(event) === call);
  if (call === '' || answer?.kind !== 'ActionEvent') return new Set();
  return new Set(
    events.flatMap((event) =>
      event.kind === 'ActionEvent' && event.llm_response_id === answer.llm_response_id ? [callOf(event)] : [],
    ),
  );
}

function callOf(event: ConversationEvent): string {
  return (event as { tool_call_id?: string }).tool_call_id ?? '';
}
