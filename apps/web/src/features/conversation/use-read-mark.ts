import { type RefObject, useEffect } from 'react';
import { api } from '../../api/client.ts';
import { useConversation } from './conversation-context.ts';

/** What was on the screen for this long was looked at. Milliseconds. */
const LOOKED_MS = 1_000;
/** The mark is set at most this often. Milliseconds. */
const APART_MS = 3_000;

/**
 * Tells the server how far this user has looked: to the newest row, once that was on the screen of a page in front for
 * a second. @param atEnd whether the newest row is on the screen now.
 */
export function useReadMark(atEnd: RefObject<boolean>): void {
  const { store, orgId, conversation } = useConversation();
  useEffect(() => {
    /** Last line at the look before; 0: the end was not on the screen then. */
    let looked = 0;
    let sent = conversation.readSeq;
    let sentAt = Number.NEGATIVE_INFINITY;
    const look = () => {
      const before = looked;
      const isSeen = atEnd.current && document.visibilityState === 'visible' && store.connection.get() === 'live';
      looked = isSeen ? store.view.get().lastSeq : 0;
      if (looked === 0 || before <= sent || performance.now() - sentAt < APART_MS) return;
      sentAt = performance.now();
      const back = sent;
      sent = before;
      // A mark that was not kept is set again with the next look.
      void api.putReadMark({ org: orgId, conversation: conversation.id, body: { seq: before } }).catch(() => {
        sent = back;
      });
    };
    const timer = setInterval(look, LOOKED_MS);
    return () => clearInterval(timer);
  }, [store, orgId, conversation, atEnd]);
}
