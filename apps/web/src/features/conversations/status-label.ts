import type { ConversationStatus } from '@slipway/contracts';

export const STATUS_LABELS: Record<ConversationStatus, string> = {
  starting: 'Starting',
  working: 'Working',
  waiting: 'Waiting for you',
  paused: 'Paused',
  finished: 'Finished',
  failed: 'Failed',
  stopped: 'Stopped',
};

/** States in which an agent is about to do something by itself. */
export function isActive(status: ConversationStatus): boolean {
  return status === 'starting' || status === 'working';
}
