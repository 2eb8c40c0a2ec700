import type { ConversationStatus } from '@slipway/contracts/conversations';
import type { MessageKey } from '../../messages/translate.ts';

export const STATUS_LABELS: Record<ConversationStatus, MessageKey> = {
  starting: 'conversations.starting',
  working: 'common.working',
  waiting: 'conversations.waitingForYou',
  paused: 'conversations.paused',
  finished: 'conversations.finished',
  failed: 'common.failed',
  stopped: 'conversations.stopped',
};

/** States in which an agent is about to do something by itself. */
export function isActive(status: ConversationStatus): boolean {
  return status === 'starting' || status === 'working';
}
