import type { ConversationEvent, EventOf } from '@slipway/contracts/events';
import { ACTION_FIELDS, EVENT_FIELDS, OBSERVATION_FIELDS } from './openhands-fields.js';

const ENVELOPE = ['id', 'timestamp', 'source', 'parent_id', 'kind'];

/** The event as OpenHands' clients take it: the same object wherever nothing of ours is in it. */
export function openhandsEvent(event: ConversationEvent): ConversationEvent {
  return only(translated(event), ENVELOPE, EVENT_FIELDS[event.kind]);
}

function translated(event: ConversationEvent): ConversationEvent {
  switch (event.kind) {
    case 'ConversationStateUpdateEvent':
      return event.key === 'confirmation_settings'
        ? { ...event, key: 'confirmation_policy', value: policyOf(event.value) }
        : event;
    case 'ActionEvent':
      return { ...event, tool_call: { origin: 'completion', ...event.tool_call }, action: actionOf(event) };
    case 'ObservationEvent': {
      const observation = observationOf(event);
      return observation === event.observation ? event : { ...event, observation };
    }
    default:
      return event;
  }
}

function policyOf(settings: unknown): unknown {
  return (settings as { policy?: unknown } | null)?.policy ?? settings;
}

/** One that they have no class for is one of an MCP server: that class takes any fields. */
function actionOf({ action }: EventOf<'ActionEvent'>): EventOf<'ActionEvent'>['action'] {
  const fields = ACTION_FIELDS[action.kind];
  return fields === undefined ? { kind: 'MCPToolAction', data: { ...action } } : only(action, ['kind'], fields);
}

function observationOf({
  observation,
  tool_name,
}: EventOf<'ObservationEvent'>): EventOf<'ObservationEvent'>['observation'] {
  const { content, is_error } = observation;
  const fields = OBSERVATION_FIELDS[observation.kind];
  if (fields === undefined) return { kind: 'MCPToolObservation', content, is_error, tool_name };
  const known = only(observation, ['kind', 'content', 'is_error'], fields);
  return observation.kind === 'BrowserObservation' ? withScreenshot(known) : known;
}

/** Their picture of a page is a field of its own, beside the text. */
function withScreenshot(
  observation: EventOf<'ObservationEvent'>['observation'],
): EventOf<'ObservationEvent'>['observation'] {
  const pictures = observation.content.flatMap((part) => (part.type === 'image' ? part.image_urls : []));
  const data = pictures.flatMap((url) => /^data:image\/jpeg;base64,([A-Za-z0-9+/]+=*)$/.exec(url)?.[1] ?? [])[0];
  return data === undefined
    ? observation
    : { ...observation, content: observation.content.filter(({ type }) => type !== 'image'), screenshot_data: data };
}

/** The value without fields of other names; the same object when it has none. */
function only<T extends object>(value: T, always: readonly string[], fields: readonly string[] = []): T {
  const known = (key: string): boolean => always.includes(key) || fields.includes(key);
  return Object.keys(value).every(known)
    ? value
    : (Object.fromEntries(Object.entries(value).filter(([key]) => known(key))) as T);
}
