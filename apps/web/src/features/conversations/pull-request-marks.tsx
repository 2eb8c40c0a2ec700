'use client';
import type { ConversationPullRequest } from '@slipway/contracts/conversations';
import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  GitMerge,
  GitPullRequest,
  GitPullRequestClosed,
  GitPullRequestDraft,
  MessageSquareWarning,
  ThumbsUp,
  TriangleAlert,
} from 'lucide-react';
import { useTranslations } from 'next-intl';
import { marksOf } from './pull-request-mark.ts';

const ICONS = {
  open: GitPullRequest,
  draft: GitPullRequestDraft,
  merged: GitMerge,
  closed: GitPullRequestClosed,
  'checks-failed': CircleAlert,
  'checks-pending': CircleDashed,
  'checks-passed': CircleCheck,
  approved: ThumbsUp,
  'changes-requested': MessageSquareWarning,
  conflicts: TriangleAlert,
} as const;
const COLORS = {
  ok: 'text-ok',
  warn: 'text-warn',
  bad: 'text-bad',
  neutral: 'text-ink-muted',
  accent: 'text-accent',
} as const;

/** State, checks, review and conflicts of what a conversation has published, in a line of a list. */
export function PullRequestMarks({ pull }: { pull: ConversationPullRequest }) {
  const t = useTranslations();
  const marks = marksOf(t, pull);
  const words = marks.map(({ label }) => label).join(', ');
  return (
    <span className="flex shrink-0 items-center gap-1" title={words}>
      <span className="sr-only">{words}</span>
      {marks.map(({ icon, tone, text }) => {
        const Icon = ICONS[icon];
        return (
          <span key={icon} aria-hidden className={`flex items-center gap-0.5 ${COLORS[tone]}`}>
            <Icon className="size-3.5 shrink-0" />
            {text}
          </span>
        );
      })}
    </span>
  );
}
