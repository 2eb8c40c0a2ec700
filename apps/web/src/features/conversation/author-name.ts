import type { RowOf } from './timeline-row.ts';

/** Who wrote a message, for this reader: "You" only for their own, and nobody's name where none is known. */
export function authorName({ sender, senderId }: Pick<RowOf<'message'>, 'sender' | 'senderId'>, reader: string | undefined): string {
  if (senderId !== null && senderId === reader) return 'You';
  return sender ?? 'Sender unknown';
}
