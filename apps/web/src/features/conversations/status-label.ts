import type { ConversationStatus, ConversationSummary } from '@slipway/contracts/conversations';
import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import type { MessageKey, Translate } from '../../messages/translate.ts';

export const STATUS_LABELS: Record<ConversationStatus, MessageKey> = {
  starting: 'conversations.starting',
  working: 'common.working',
  waiting: 'conversations.waitingForYou',
  paused: 'conversations.paused',
  finished: 'conversations.finished',
  failed: 'common.failed',
  stopped: 'conversations.stopped',
};

/** Limits in words of their own, since a list has no room for a sentence. */
const LIMITS: Partial<Record<ErrorCode, MessageKey>> = {
  'agent.budget-limit': 'conversations.budgetUsedUp',
  'budget.exhausted': 'conversations.budgetUsedUp',
  'agent.iteration-limit': 'conversations.stepsUsedUp',
};

/** Why the conversation does not go on, in a few words; `null` where its status says all. */
export function stopReasonWords(
  t: Translate,
  { status, stopReason }: Pick<ConversationSummary, 'status' | 'stopReason'>,
): string | null {
  if (stopReason === null) return null;
  const { code, by } = stopReason;
  if (by !== null) return t(status === 'paused' ? 'conversations.pausedBy' : 'conversations.stoppedBy', { name: by });
  if (code === null || !(code in ERRORS)) return null;
  const limit = LIMITS[code as ErrorCode];
  return limit === undefined ? ERRORS[code as ErrorCode].title : t(limit);
}

/** States in which an agent is about to do something by itself. */
export function isActive(status: ConversationStatus): boolean {
  return status === 'starting' || status === 'working';
}
