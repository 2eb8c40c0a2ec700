import type { DeskDecision } from '@slipway/contracts/conversations';
import type { MessageKey, Translate } from '../../messages/translate.ts';
import { STATUS_LABELS, stopReasonWords } from '../conversations/status-label.ts';
import { hostText, wordsOfUse } from '../egress/egress-words.ts';
import type { DeskLine } from './desk-store.ts';

export const KIND_WORDS: Record<DeskDecision['kind'], MessageKey> = {
  approve: 'deskPage.approve',
  allow: 'deskPage.networkRequest',
  answer: 'deskPage.answer',
  review: 'deskPage.review',
  unblock: 'deskPage.unblock',
  merge: 'deskPage.merge',
};

/** What opens the row, by what is to be done there. */
export const ACTION_WORDS: Record<DeskDecision['kind'], MessageKey> = {
  approve: 'deskPage.seeRequest',
  allow: 'deskPage.open',
  answer: 'deskPage.open',
  review: 'deskPage.reviewChanges',
  unblock: 'deskPage.open',
  merge: 'deskPage.openPullRequest',
};

/** What is asked for, in a line. */
export function askedWords(t: Translate, { facts }: DeskLine, { kind, key }: DeskDecision): string {
  const { approval, egress, lastWord, pullRequest, status } = facts;
  const pull = t('deskPage.pullRequest', { number: pullRequest?.number ?? '' });
  switch (kind) {
    case 'approve': {
      if (approval === null) return t('deskPage.anAction');
      const first = approval.text === '' ? approval.tool : approval.text;
      return approval.actions === 1 ? first : t('deskPage.andMore', { first, count: approval.actions - 1 });
    }
    case 'allow': {
      if (egress == null) return t('deskPage.networkRequest');
      const host = hostText(egress);
      if (egress.use !== undefined) return t('deskPage.asksToUse', wordsOfUse(egress, egress.use));
      return egress.requests === 1
        ? t('deskPage.asksForHost', { host })
        : t('deskPage.asksForHosts', { host, count: egress.requests - 1 });
    }
    case 'answer':
      return lastWord?.text ?? t(STATUS_LABELS[status]);
    case 'review':
      return t('deskPage.waitsForReview', { pull });
    case 'merge':
      return t('deskPage.canBeMerged', { pull });
    case 'unblock':
      if (!key.startsWith('unblock:pull-request')) return stopReasonWords(t, facts) ?? t(STATUS_LABELS[status]);
      if (pullRequest?.conflicts === true) return t('deskPage.hasConflicts', { pull });
      return t(pullRequest?.checks === 'failure' ? 'deskPage.checksFail' : 'deskPage.changesAreRequested', { pull });
    default:
      return kind satisfies never;
  }
}

/** Where the row leads: the conversation, its review, or the pull request at its host. */
export function addressOf(orgSlug: string, { facts }: DeskLine, kind: DeskDecision['kind'] | null): string {
  const conversation = `/${orgSlug}/conversations/${facts.id}`;
  if (kind === 'review') return `${conversation}/review`;
  return kind === 'merge' ? (facts.pullRequest?.url ?? conversation) : conversation;
}

/** `20 s`, `3 min`. @param seconds more than 0. */
export function estimateWords(t: Translate, seconds: number): string {
  return seconds < 60
    ? t('deskPage.seconds', { count: Math.max(1, Math.round(seconds)) })
    : t('deskPage.minutes', { count: Math.round(seconds / 60) });
}

/** Tomorrow at nine in the morning, where the reader is. @param now milliseconds since 1970. */
export function tomorrow(now: number): string {
  const at = new Date(now);
  at.setDate(at.getDate() + 1);
  at.setHours(9, 0, 0, 0);
  return at.toISOString();
}
