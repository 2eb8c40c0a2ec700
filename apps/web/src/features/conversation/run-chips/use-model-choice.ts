'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { showFailure } from '../../run-settings/use-run-settings.ts';
import { useConversation, useView } from '../conversation-context.ts';

export interface Choice {
  readonly value: string;
  readonly choose: (value: string) => void;
  readonly choices: ReadonlyArray<{ readonly value: string; readonly label: string }>;
}

/** Another model for this conversation: one at work takes it with its next step, any other with its next start. */
export function useModelChoice(): Choice {
  const { conversation, orgId } = useConversation();
  const model = useView((view) => view.model);
  const models = useQuery({
    queryKey: ['models', orgId],
    queryFn: ({ signal }) => api.listModels({ org: orgId, signal }),
    staleTime: 60_000,
  });
  const change = useMutation({
    mutationFn: (wanted: string) =>
      api.switchModel({ org: orgId, conversation: conversation.id, body: { model: wanted } }),
    onError: showFailure,
  });
  return {
    // What was chosen shows at once; the log says it soon after.
    value: change.isPending ? change.variables : model,
    choose: (wanted) => change.mutate(wanted),
    choices: (models.data?.data ?? []).map(({ id, label }) => ({ value: id, label })),
  };
}
