import { MAX_ASKED_LENGTH } from '@slipway/contracts/conversations';
import type { DeskLine } from './desk-store.ts';

/** Most lines, or wide gaps, of a command that is approved in its row: it is in sight whole, without scrolling. */
const MOST_LINES = 12;

export type AnswerHere = 'approve' | 'allow' | 'reply';

/**
 * What can be answered in the row itself: a question, a host that a sandbox asks for, and a single command that stands
 * there whole. Anything that has more to read than the row holds is answered where it can be read.
 */
export function answerHereOf({ decisions, facts, mayDecide }: DeskLine): AnswerHere | null {
  const [decision] = decisions;
  if (mayDecide !== 'yes' || decision === undefined) return null;
  if (decision.kind === 'answer') return 'reply';
  if (decision.kind === 'allow') return facts.egress == null ? null : 'allow';
  const { approval } = facts;
  return decision.kind === 'approve' &&
    approval !== null &&
    approval.tool === 'terminal' &&
    approval.actions === 1 &&
    approval.text.trim() !== '' &&
    approval.text.length < MAX_ASKED_LENGTH &&
    approval.text.split(/[\t\n\r\v\f\u0085\u2028\u2029]/).length <= MOST_LINES
    ? 'approve'
    : null;
}
