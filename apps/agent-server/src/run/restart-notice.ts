import { createHash } from 'node:crypto';
import type { EventBody } from '@slipway/agent';
import type { StartConversationRequest } from '@slipway/contracts/agent';

/** Notice for an agent that continues, as a message to it. Its id is the epoch's own: a repeated start adds it once. */
export function noticeOf(
  conversationId: string,
  slipway: StartConversationRequest['slipway'],
): (EventBody & { readonly id: string }) | null {
  if (slipway?.notice === undefined) return null;
  const hash = createHash('sha256').update(`notice ${conversationId} ${slipway.epoch}`).digest('hex');
  return {
    // As a version 8 UUID: made by our own rule.
    id: `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`,
    kind: 'MessageEvent',
    source: 'environment',
    llm_message: { role: 'user', content: [{ type: 'text', text: slipway.notice }] },
  };
}
