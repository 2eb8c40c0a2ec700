import type { ConversationPullRequest } from '@slipway/contracts/conversations';
import type { MessageKey, Translate } from '../../messages/translate.ts';

export type MarkIcon =
  | 'open'
  | 'draft'
  | 'merged'
  | 'closed'
  | 'checks-failed'
  | 'checks-pending'
  | 'checks-passed'
  | 'approved'
  | 'changes-requested'
  | 'conflicts';

export interface Mark {
  readonly icon: MarkIcon;
  readonly tone: 'ok' | 'warn' | 'bad' | 'neutral' | 'accent';
  /** Beside the icon. */
  readonly text?: string;
  /** For who does not see icons. */
  readonly label: string;
}

type Named = Omit<Mark, 'label'> & { readonly label: MessageKey };

/** The pull request of a line, as a few marks: what it is, and while it is open what stands for and against it. */
export function marksOf(
  t: Translate,
  { number, state, draft, checks, review, conflicts }: ConversationPullRequest,
): readonly Mark[] {
  const text = number === null ? '' : `#${number}`;
  const name = number === null ? t('conversations.branchPushed') : t('conversations.pullRequest', { text });
  if (state === 'merged') return [{ icon: 'merged', tone: 'accent', text, label: t('conversations.merged', { name }) }];
  if (state === 'closed')
    return [{ icon: 'closed', tone: 'neutral', text, label: t('conversations.closed', { name }) }];
  const first: Mark = draft
    ? { icon: 'draft', tone: 'neutral', text, label: t('conversations.draft', { name }) }
    : { icon: 'open', tone: 'ok', text, label: name };
  return [
    first,
    ...[
      ...CHECKS[checks],
      ...(review === 'approved' || review === 'changes-requested' ? [REVIEWS[review]] : []),
      ...(conflicts === true ? [CONFLICTS] : []),
    ].map((mark) => ({ ...mark, label: t(mark.label) })),
  ];
}

const CHECKS: Readonly<Record<ConversationPullRequest['checks'], readonly Named[]>> = {
  none: [],
  neutral: [],
  failure: [{ icon: 'checks-failed', tone: 'bad', label: 'conversations.checksFailed' }],
  pending: [{ icon: 'checks-pending', tone: 'warn', label: 'conversations.checksPending' }],
  success: [{ icon: 'checks-passed', tone: 'ok', label: 'conversations.checksPassed' }],
};
const REVIEWS = {
  approved: { icon: 'approved', tone: 'ok', label: 'conversations.approved' },
  'changes-requested': { icon: 'changes-requested', tone: 'warn', label: 'conversations.changesRequested' },
} as const satisfies Record<string, Named>;
const CONFLICTS: Named = { icon: 'conflicts', tone: 'bad', label: 'conversations.conflicts' };
