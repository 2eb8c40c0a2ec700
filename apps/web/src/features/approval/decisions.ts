import type { AnswerConfirmation } from '@slipway/contracts/conversations';
import type { Translate } from '../../messages/translate.ts';

/**
 * What the user decided of single actions, by id: a reason (maybe empty) for those that are not to happen. What is
 * absent is approved.
 */
export type Rejected = Readonly<Record<string, string>>;

/** How many of the waiting actions an answer would carry out, and how many not. */
export function countsOf(
  ids: readonly string[],
  rejected: Rejected,
): { readonly approved: number; readonly rejected: number } {
  const not = ids.filter((id) => rejected[id] !== undefined).length;
  return { approved: ids.length - not, rejected: not };
}

/** The answer that says exactly this: a yes where anything is approved. */
export function answerOf(ids: readonly string[], rejected: Rejected): AnswerConfirmation {
  const rejections = ids.flatMap((id) => {
    const reason = rejected[id]?.trim();
    return reason === undefined ? [] : [reason === '' ? { id } : { id, reason }];
  });
  const accept = rejections.length < ids.length;
  return { accept, actionIds: [...ids], ...(rejections.length === 0 ? {} : { rejections }) };
}

/** What the button that sends the answer says. */
export function answerLabel(t: Translate, { approved, rejected }: ReturnType<typeof countsOf>): string {
  if (rejected === 0) return approved === 1 ? t('approval.approve') : t('approval.approveAll', { approved });
  return approved === 0 ? t('approval.rejectAll', { rejected }) : t('approval.approveReject', { approved, rejected });
}

/** Does a message read like a yes? Sent while actions wait it would be a no. */
export function readsLikeYes(message: string): boolean {
  return /^\s*(?:y|ya|yes|yep|yeah|yup|ok|okay|sure|approved?|accept(?:ed)?|allow(?:ed)?|confirm(?:ed)?|go|go ahead|do it|proceed|continue|please do|lgtm)\b[\s.!,]*(?:please|do it|go ahead|thanks|thank you)?[\s.!]*$/i.test(
    message,
  );
}
