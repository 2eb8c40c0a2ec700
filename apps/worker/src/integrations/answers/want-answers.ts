import { DEFAULT_PROCESSORS, type DeliveryReason } from '@slipway/contracts/integrations';
import type { PoolClient } from '@slipway/db/sql';
import type { Asked, Intent, Provider } from '@slipway/integrations';
import { noticeOf, type StoredDelivery, wantNotice } from '@slipway/integrations/deliveries';
import { tryAgain, wantAnswer, wantSeen, wantSeenAtOnce } from './answers.queries.js';

/**
 * A deed was acted on: its thread shows that it was seen, and how its conversation goes on. In the transaction of the
 * act.
 */
export async function wantAnswers(
  client: PoolClient,
  { orgId, connection }: StoredDelivery,
  intent: Intent,
  conversationId: string,
): Promise<void> {
  const { thread, semanticKey: deed } = intent;
  const asked = askedBy(intent);
  // A session was shown it before anything was decided.
  if (asked !== null && !isSession(intent) && { ...DEFAULT_PROCESSORS, ...connection.settings.processors }.reaction)
    await wantSeen(client, orgId, { connectionId: connection.id, thread, deed, conversationId, asked });
  await tryAgain(client, orgId, conversationId);
  await wantAnswer(client, orgId, conversationId);
}

/**
 * Shows that a request was seen before it is known what will become of it, at providers that report a missing answer
 * after some seconds. A repetition names itself by the deed, so it shows nothing twice. @returns what to show; `null`:
 * nothing at once.
 */
export async function wantSessionSeen(
  client: PoolClient,
  { orgId, connection }: StoredDelivery,
  intent: Intent,
): Promise<string | null> {
  if (!isSession(intent)) return null;
  const { thread, semanticKey: deed } = intent;
  return wantSeenAtOnce(client, orgId, { connectionId: connection.id, thread, deed, asked: { kind: 'subject' } });
}

const isSession = ({ thread }: Intent): boolean => thread.kind === 'agent-session';

export interface SaidRefusal {
  readonly provider: Provider | undefined;
  readonly intent: Intent;
  readonly code: DeliveryReason;
}

/** A delivery was refused: its actor learns why, once in a thread. In the transaction of the decision. */
export async function wantRefusalSaid(
  client: PoolClient,
  { orgId, connection }: StoredDelivery,
  { provider, intent, code }: SaidRefusal,
): Promise<void> {
  if (provider?.answers === undefined) return;
  // No user is sent to link an account that cannot be linked.
  if (code === 'actor-not-linked' && provider.linking === undefined) return;
  const notice = noticeOf(code, intent);
  const deed = isSession(intent) ? intent.semanticKey : null;
  if (notice !== null)
    await wantNotice(client, orgId, { connectionId: connection.id, thread: intent.thread, notice, deed });
}

/** What to react to; `null`: nothing that stands there, such as a button. */
export function askedBy({ trigger, review, instruction, subject }: Intent): Asked | null {
  switch (trigger) {
    case 'button':
      return null;
    case 'review-comment':
      return review === null ? { kind: 'subject' } : { kind: 'review-comment', id: review.commentId };
    case 'label':
    case 'assignment':
    case 'review':
    case 'agent-session':
      return { kind: 'subject' };
    case 'mention':
    case 'thread-reply':
    case 'direct-message':
    case 'stop':
    case 'mute':
      if (review !== null) return { kind: 'review-comment', id: review.commentId };
      // Issues and comments are counted apart: they may have the same id.
      return instruction.id === subject?.id && instruction.url === subject.url
        ? { kind: 'subject' }
        : { kind: 'comment', id: instruction.id };
  }
}
