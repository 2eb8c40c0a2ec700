import type { AgentLog } from '@slipway/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import type { AppLink } from '../conversations/app-link.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import { boundEvent } from './event-bounds.js';
import type { EventLog } from './event-log.js';

/** The log as one run may write it: masked, bounded, and closed to a run that was cut off. */
export function logOfRun(log: EventLog, mask: SecretMask, link: AppLink | null, mayWrite: () => boolean): AgentLog {
  const guarded = (events: readonly ConversationEvent[]): ConversationEvent[] => {
    if (!mayWrite()) throw new SlipwayError('ingest.stale-epoch', 'This run was cut off from the conversation.');
    // Masked first: a secret that is cut in two would not be found.
    return events.map((event) => boundEvent(mask.event(event)));
  };
  return {
    events: log.events,
    append: async (events) => log.append(guarded(events)),
    appendLast: async (events) => log.appendLast(guarded(events)),
    room: async (signal) => link?.outbox.room(signal),
  };
}
