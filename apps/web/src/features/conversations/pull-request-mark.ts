import type { ConversationPullRequest } from '@slipway/contracts';

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

/** The pull request of a line, as a few marks: what it is, and while it is open what stands for and against it. */
export function marksOf({ number, state, draft, checks, review, conflicts }: ConversationPullRequest): readonly Mark[] {
  const text = number === null ? '' : `#${number}`;
  const name = number === null ? 'Branch pushed' : `Pull request ${text}`;
  if (state === 'merged') return [{ icon: 'merged', tone: 'accent', text, label: `${name} merged` }];
  if (state === 'closed') return [{ icon: 'closed', tone: 'neutral', text, label: `${name} closed` }];
  const first: Mark = draft ? { icon: 'draft', tone: 'neutral', text, label: `${name}, draft` } : { icon: 'open', tone: 'ok', text, label: name };
  return [
    first,
    ...CHECKS[checks],
    ...(review === 'approved' || review === 'changes-requested' ? [REVIEWS[review]] : []),
    ...(conflicts === true ? [CONFLICTS] : []),
  ];
}

const CHECKS: Readonly<Record<ConversationPullRequest['checks'], readonly Mark[]>> = {
  none: [],
  neutral: [],
  failure: [{ icon: 'checks-failed', tone: 'bad', label: 'checks failed' }],
  pending: [{ icon: 'checks-pending', tone: 'warn', label: 'checks pending' }],
  success: [{ icon: 'checks-passed', tone: 'ok', label: 'checks passed' }],
};
const REVIEWS = {
  approved: { icon: 'approved', tone: 'ok', label: 'approved' },
  'changes-requested': { icon: 'changes-requested', tone: 'warn', label: 'changes requested' },
} as const satisfies Record<string, Mark>;
const CONFLICTS: Mark = { icon: 'conflicts', tone: 'bad', label: 'conflicts' };
