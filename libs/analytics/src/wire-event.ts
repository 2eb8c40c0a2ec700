import type { StoredEvent } from './outbox.js';
import { analyticsPseudonym } from './pseudonym.js';

/** An event as PostHog takes it. */
export interface WireEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  readonly organization: string;
  readonly timestamp: Date;
  readonly properties: Readonly<Record<string, string | number | boolean>>;
}

/** Nothing but pseudonyms, the event's own properties, and that it makes no profile of a user. */
export function wireEvent(secret: string, { id, orgId, userId, name, at, properties }: StoredEvent): WireEvent {
  const [event, own] = namedForPosthog(name, properties, id);
  return {
    uuid: id,
    event,
    distinctId: analyticsPseudonym(secret, 'user', userId),
    organization: analyticsPseudonym(secret, 'organization', orgId),
    timestamp: at,
    properties: { ...own, $process_person_profile: false },
  };
}

type Properties = StoredEvent['properties'];

/** Two events have a name and properties of PostHog's own, by which its screens know them. */
function namedForPosthog(name: string, properties: Properties, id: string): [string, Properties] {
  const { flag = '', variant = '' } = properties;
  switch (name) {
    case 'experiment_exposed':
      return [
        '$feature_flag_called',
        {
          $feature_flag: flag,
          $feature_flag_response: variant,
          [`$feature/${flag}`]: variant,
          locally_evaluated: true,
        },
      ];
    case 'model_called':
      return [
        '$ai_generation',
        {
          // Each call is a trace of its own: an id of a conversation is ours.
          $ai_trace_id: id,
          $ai_model: properties['model'] ?? 'other',
          $ai_input_tokens: properties['input_tokens'] ?? 0,
          $ai_output_tokens: properties['output_tokens'] ?? 0,
          $ai_cache_read_input_tokens: properties['cached_tokens'] ?? 0,
          $ai_total_cost_usd: properties['cost_usd'] ?? 0,
          $ai_latency: properties['seconds'] ?? 0,
          $ai_time_to_first_token: properties['first_byte_seconds'] ?? 0,
          $ai_is_error: properties['failed'] ?? false,
        },
      ];
    default:
      return [name, properties];
  }
}
