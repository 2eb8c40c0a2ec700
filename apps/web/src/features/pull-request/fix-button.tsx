'use client';
import type { FixPullRequest, PullRequest } from '@slipway/contracts/repositories';
import { Button } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Wrench } from 'lucide-react';
import { api } from '../../api/client.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { useKeepPullRequest } from './use-pull-requests.ts';

/**
 * Sends the agent what stands against the pull request. Nothing for who may not write to the conversation, and for a
 * pull request that has ended.
 */
export function FixButton({
  pull,
  fix,
  label,
  name,
}: {
  pull: PullRequest;
  fix: FixPullRequest;
  label: string;
  name?: string;
}) {
  const { orgId, conversation } = useConversation();
  const { org } = useSession();
  const keep = useKeepPullRequest();
  const asked = useMutation({
    mutationFn: () =>
      api.fixPullRequest({ org: orgId, conversation: conversation.id, number: String(pull.number), body: fix }),
    onSuccess: keep,
  });
  if (pull.state !== 'open' || pull.number === null || !org.permissions.includes('conversation:write')) return null;
  return (
    <>
      <Button
        size="small"
        className="shrink-0"
        aria-label={name}
        busy={asked.isPending}
        disabled={pull.fix?.state === 'queued'}
        onClick={() => asked.mutate()}
      >
        <Wrench aria-hidden /> {label}
      </Button>
      <ErrorNotice error={asked.error} />
    </>
  );
}
