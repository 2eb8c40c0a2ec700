'use client';
import type { PullRequest } from '@slipway/contracts/repositories';
import { ConfirmDialog } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { checksWord } from './pull-request-words.ts';

/** Approves the commit that it names, as the user at the git host: they consent there, and come back to the review. */
export function ApproveDialog({ pull, onClose }: { pull: PullRequest; onClose: () => void }) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const [seen] = useState(pull);
  const approve = useMutation({
    mutationFn: () =>
      api.approvePullRequest({
        org: orgId,
        conversation: conversation.id,
        number: String(seen.number),
        body: { headSha: seen.headSha ?? '' },
      }),
    onSuccess: ({ authorizeUrl }) => {
      if (/^https?:\/\//.test(authorizeUrl)) window.location.assign(authorizeUrl);
    },
  });
  const moved = pull.headSha !== seen.headSha;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('pullRequest.approveNumber', { number: seen.number ?? '' })}
      confirmLabel={t('pullRequest.continueAt', { host: seen.host })}
      tone="primary"
      busy={approve.isPending || approve.isSuccess}
      disabled={moved}
      onConfirm={() => approve.mutate()}
    >
      <p className="font-medium break-words">{seen.title}</p>
      <p>
        {t.rich('pullRequest.commitOf', {
          headSha: seen.headSha ?? '',
          code: (chunks) => <code className="font-mono text-xs break-all select-all">{chunks}</code>,
          branch: seen.branch ?? '',
        })}
      </p>
      <p className="text-ink-muted">{checksWord(t, seen.checks)?.label ?? t('pullRequest.noChecks')}.</p>
      <p className="text-ink-muted">{t('pullRequest.approvalIsYours', { host: seen.host })}</p>
      {moved ? <p className="text-warn">{t('pullRequest.theBranchHasANewer')}</p> : null}
      <ErrorNotice error={approve.error} />
    </ConfirmDialog>
  );
}
