'use client';
import type { CheckState, PullRequest } from '@slipway/contracts/repositories';
import { SkeletonLines } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleDashed, CircleMinus } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { FixButton } from './fix-button.tsx';

const SHAPES: Readonly<
  Record<CheckState, { readonly icon: typeof CircleCheck; readonly className: string; readonly word: string }>
> = {
  success: { icon: CircleCheck, className: 'text-ok', word: 'passed' },
  failure: { icon: CircleAlert, className: 'text-bad', word: 'failed' },
  pending: { icon: CircleDashed, className: 'text-warn', word: 'pending' },
  neutral: { icon: CircleMinus, className: 'text-ink-muted', word: 'neutral' },
};

/** The checks of the head commit, one by one; read when they are opened, and again when their summary changes. */
export function Checks({ pull, number }: { pull: PullRequest; number: number }) {
  const t = useTranslations();
  const summary = pull.checks;
  const { orgId, conversation } = useConversation();
  /** Of the user; `null`: what failed is shown unasked. */
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? (pull.state === 'open' && summary.state === 'failure');
  const { state, pending, failed, passed } = summary;
  const checks = useQuery({
    queryKey: ['pull-request-checks', orgId, conversation.id, number, state, pending, failed, passed],
    queryFn: ({ signal }) =>
      api.listPullRequestChecks({ org: orgId, conversation: conversation.id, number: String(number), signal }),
    enabled: open,
  });
  return (
    <details
      open={open}
      onToggle={(event) => {
        // It comes for what was rendered, too.
        if (event.currentTarget.open !== open) setChosen(event.currentTarget.open);
      }}
    >
      <summary className="min-h-6 cursor-pointer text-sm text-ink-muted">{t('pullRequest.checks')}</summary>
      {!open ? null : checks.data === undefined ? (
        checks.error === null ? (
          <SkeletonLines className="p-2" />
        ) : (
          <p className="py-1 text-sm text-ink-muted">{failureOf(checks.error).title}.</p>
        )
      ) : (
        <ul aria-label={t('pullRequest.checks')} className="flex flex-col">
          {checks.data.data.map((check) => {
            const { icon: Icon, className, word } = SHAPES[check.state];
            const isPage = check.url !== null && /^https?:\/\//.test(check.url);
            return (
              <li key={check.id} className="flex min-h-7 min-w-0 items-center gap-2 text-sm">
                <Icon aria-label={word} className={`size-4 shrink-0 ${className}`} />
                {isPage ? (
                  <a href={check.url ?? ''} target="_blank" rel="noreferrer" className="truncate hover:underline">
                    {check.name}
                  </a>
                ) : (
                  <span className="truncate">{check.name}</span>
                )}
                <span className="min-w-0 flex-1 truncate text-xs text-ink-muted">{check.description}</span>
                {check.state === 'failure' ? (
                  <FixButton
                    pull={pull}
                    fix={{ what: 'checks', checks: [check.id] }}
                    label={t('pullRequest.fixThisCheck')}
                    name={t('pullRequest.fixThisCheck2', { name: check.name })}
                  />
                ) : null}
              </li>
            );
          })}
        </ul>
      )}
    </details>
  );
}
