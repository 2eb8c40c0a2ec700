'use client';
import type { PullRequest } from '@slipway/contracts/repositories';
import { ConfirmDialog } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { checksWord, reviewWord } from './pull-request-words.ts';
import { useKeepPullRequest } from './use-pull-requests.ts';

/**
 * Merges the commit that it names. What arrives while the dialog is open does not slip in: the server refuses another
 * head.
 */
export function MergeDialog({ pull, onClose }: { pull: PullRequest; onClose: () => void }) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const keep = useKeepPullRequest();
  const [seen] = useState(pull);
  const merge = useMutation({
    mutationFn: () =>
      api.mergePullRequest({
        org: orgId,
        conversation: conversation.id,
        number: String(seen.number),
        body: { headSha: seen.headSha ?? '' },
      }),
    onSuccess: (asked) => {
      keep(asked);
      onClose();
    },
  });
  const moved = pull.headSha !== seen.headSha;
  const facts = [
    checksWord(t, seen.checks)?.label ?? t('pullRequest.noChecks'),
    reviewWord(t, seen)?.label ?? t('pullRequest.noReviews'),
  ];
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('pullRequest.mergeInto', { number: seen.number ?? '', base: seen.base ?? t('pullRequest.itsBase') })}
      confirmLabel={t('pullRequest.merge')}
      busy={merge.isPending}
      disabled={moved}
      onConfirm={() => merge.mutate()}
    >
      <p className="font-medium break-words">{seen.title}</p>
      <p>
        {t.rich('pullRequest.commitOf', {
          headSha: seen.headSha ?? '',
          code: (chunks) => <code className="font-mono text-xs break-all select-all">{chunks}</code>,
          branch: seen.branch ?? '',
        })}
      </p>
      <p className="text-ink-muted">{facts.join('. ')}.</p>
      {moved ? <p className="text-warn">{t('pullRequest.theBranchHasANewer')}</p> : null}
      <ErrorNotice error={merge.error} />
    </ConfirmDialog>
  );
}
