import type { ForkConversationRequest, LlmSettings, StartConversationRequest } from '@slipway/contracts/agent';
import { type ConversationEvent, isUpdateOf } from '@slipway/contracts/events';
import { isAcceptedAndPending } from '@slipway/domain';
import { notFound } from '@slipway/errors';

export interface Fork {
  readonly request: StartConversationRequest;
  /** What its log begins with: the same events, with their ids and times. */
  readonly events: readonly ConversationEvent[];
}

/**
 * A conversation that begins with what another knows, up to an event of it or as a whole. It has no app: what it does
 * stays in this sandbox. @throws SlipwayError `resource.not-found`.
 */
export function forkOf(
  id: string,
  request: StartConversationRequest,
  events: readonly ConversationEvent[],
  wanted: ForkConversationRequest,
): Fork {
  const { slipway: _, initial_message: __, conversation_id: ___, ...kept } = request;
  const end =
    wanted.from_event_id == null ? events.length - 1 : events.findIndex((event) => event.id === wanted.from_event_id);
  if (wanted.from_event_id != null && end === -1) throw notFound();
  const upTo = events.slice(0, end + 1);
  // What was accepted here was accepted once: a copy that waits asks for itself.
  const carriedOver = isAcceptedAndPending(upTo) ? upTo.filter((event) => !isUpdateOf(event, 'confirmation')) : upTo;
  const copied = carriedOver.filter((event) => !(wanted.reset_metrics && isUpdateOf(event, 'stats')));
  return {
    request: {
      ...kept,
      tags: wanted.tags ?? kept.tags,
      forked_from_conversation_id: id,
      ...(wanted.from_event_id == null ? {} : { forked_from_event_id: wanted.from_event_id }),
    },
    events: copied,
  };
}

/** The start as it would be with another model; a key that is not given again stays only at its own address. */
export function withModel(request: StartConversationRequest, llm: LlmSettings): StartConversationRequest {
  const before = request.agent.llm;
  const key = llm.api_key ?? (llm.base_url === before.base_url ? before.api_key : undefined);
  return { ...request, agent: { ...request.agent, llm: { ...before, ...llm, api_key: key } } };
}
