'use client';
import type { PullRequest } from '@slipway/contracts';
import { ConfirmDialog } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { checksWord, reviewWord } from './pull-request-words.ts';
import { useKeepPullRequest } from './use-pull-requests.ts';

/** Merges the commit that it names. What arrives while the dialog is open does not slip in: the server refuses another head. */
export function MergeDialog({ pull, onClose }: { pull: PullRequest; onClose: () => void }) {
  const { orgId, conversation } = useConversation();
  const keep = useKeepPullRequest();
  const [seen] = useState(pull);
  const merge = useMutation({
    mutationFn: () => api.mergePullRequest({ org: orgId, conversation: conversation.id, number: String(seen.number), body: { headSha: seen.headSha ?? '' } }),
    onSuccess: (asked) => {
      keep(asked);
      onClose();
    },
  });
  const moved = pull.headSha !== seen.headSha;
  const facts = [checksWord(seen.checks)?.label ?? 'There are no checks', reviewWord(seen)?.label ?? 'Nobody has reviewed it'];
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title={`Merge #${seen.number} into ${seen.base ?? 'its base'}?`}
      confirmLabel="Merge"
      busy={merge.isPending}
      disabled={moved}
      onConfirm={() => merge.mutate()}
    >
      <p className="font-medium break-words">{seen.title}</p>
      <p>
        Commit <code className="font-mono text-xs break-all select-all">{seen.headSha}</code> of {seen.branch}
      </p>
      <p className="text-ink-muted">{facts.join('. ')}.</p>
      {moved ? <p className="text-warn">The branch has another commit by now. Close this and look at it first.</p> : null}
      <ErrorNotice error={merge.error} />
    </ConfirmDialog>
  );
}
