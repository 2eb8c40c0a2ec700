'use client';
import type { Conversation } from '@slipway/contracts/conversations';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation } from './conversation-context.ts';

type Verb = UseMutationResult<Conversation, Error, void>;

export interface Lifecycle {
  readonly stop: Verb;
  readonly pause: Verb;
  readonly resume: Verb;
}

/** Stop, pause, resume. The answer only says that it was taken in: what the status becomes, the log says. */
export function useLifecycle(): Lifecycle {
  const { orgId, conversation } = useConversation();
  const target = { org: orgId, conversation: conversation.id };
  const onError = (error: Error) => {
    const failure = failureOf(error);
    toast.error(failure.title, { description: [failure.detail, failure.nextStep].filter(Boolean).join(' ') });
  };
  return {
    stop: useMutation({ mutationFn: () => api.stopConversation(target), onError }),
    pause: useMutation({ mutationFn: () => api.pauseConversation(target), onError }),
    resume: useMutation({ mutationFn: () => api.resumeConversation(target), onError }),
  };
}
