import { DELETION_GRACE_HOURS } from '@slipway/contracts/conversations';
import type { Translate } from '../../messages/translate.ts';

const HOUR_MS = 3_600_000;

/** How long a deleted conversation can still be restored, in whole hours. @param now milliseconds since 1970 */
export function timeLeft(t: Translate, deletedAt: string, now: number): string {
  const left = Date.parse(deletedAt) + DELETION_GRACE_HOURS * HOUR_MS - now;
  return left < HOUR_MS
    ? t('conversationEdits.lessThanAnHourLeft')
    : t('conversationEdits.hoursLeft', { count: Math.floor(left / HOUR_MS) });
}
