'use client';
import { GitPullRequest } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useAddressValue } from '../../browser/address.ts';
import { chipText } from './pull-request-words.ts';
import { usePullRequests } from './use-pull-requests.ts';

/** In the header of the conversation: what is published, and the way to its card. */
export function PullRequestChip() {
  const t = useTranslations();
  const pulls = usePullRequests().data?.data ?? [];
  const [, setTab] = useAddressValue('tab');
  const pull = pulls[0];
  if (pull === undefined) return null;
  return (
    <button
      type="button"
      onClick={() => setTab('changes', 'push')}
      className="inline-flex min-h-6 min-w-0 items-center gap-1 hover:text-ink hover:underline"
      aria-label={t('pullRequest.pullRequest2', { pull: chipText(t, pull) })}
    >
      <GitPullRequest aria-hidden className="size-3.5 shrink-0" />
      <span className="truncate">{chipText(t, pull)}</span>
    </button>
  );
}
