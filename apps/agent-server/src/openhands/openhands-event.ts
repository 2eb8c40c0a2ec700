import type { ConversationEvent, EventOf } from '@slipway/contracts';
import { isOpenHandsAction } from './openhands-tools.js';

/** The event as OpenHands' clients take it: the same object wherever nothing of ours is in it. */
export function openhandsEvent(event: ConversationEvent): ConversationEvent {
  switch (event.kind) {
    case 'ConversationErrorEvent': {
      const { runtime_status: _, ...rest } = event;
      return event.runtime_status === undefined ? event : rest;
    }
    case 'ConversationStateUpdateEvent':
      return event.key === 'confirmation_settings' ? { ...event, key: 'confirmation_policy', value: policyOf(event.value) } : event;
    case 'ActionEvent':
      return actionEvent(event);
    case 'ObservationEvent':
      return observationEvent(event);
    default:
      return event;
  }
}

function policyOf(settings: unknown): unknown {
  return (settings as { policy?: unknown } | null)?.policy ?? settings;
}

/** Their tool call says where it came from, too. */
function actionEvent(event: EventOf<'ActionEvent'>): ConversationEvent {
  const { action } = event;
  return {
    ...event,
    tool_call: { origin: 'completion', ...event.tool_call },
    action: isOpenHandsAction(action.kind) ? action : { kind: 'MCPToolAction', data: { ...action } },
  };
}

function observationEvent(event: EventOf<'ObservationEvent'>): ConversationEvent {
  const { observation } = event;
  if (isOpenHandsAction(observation.kind.replace(/Observation$/, 'Action')) || observation.kind === 'BrowserObservation') return event;
  const { content, is_error } = observation;
  return { ...event, observation: { kind: 'MCPToolObservation', content, is_error, tool_name: event.tool_name } };
}
