import type { Translate } from '../../messages/translate.ts';
import type { RowOf } from './timeline-row.ts';

/** Who wrote a message, for this reader: "You" only for their own, and nobody's name where none is known. */
export function authorName(
  t: Translate,
  { sender, senderId }: Pick<RowOf<'message'>, 'sender' | 'senderId'>,
  reader: string | undefined,
): string {
  if (senderId !== null && senderId === reader) return t('common.you');
  return sender ?? t('common.senderUnknown');
}
