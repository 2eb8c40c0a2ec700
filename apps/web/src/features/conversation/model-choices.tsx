'use client';
import { MenuChoices, MenuSeparator } from '@slipway/ui';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useSession } from '../session/me.ts';
import { useConversation, useView } from './conversation-context.ts';

/**
 * Another model for this conversation: one at work takes it with its next step, any other with its next start. Part of
 * a menu; nothing for who may not, or where there is no choice.
 */
export function ModelChoices() {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const { org } = useSession();
  const model = useView((view) => view.model);
  const allowed = org.permissions.includes('conversation:write');
  const models = useQuery({
    queryKey: ['models', orgId],
    queryFn: ({ signal }) => api.listModels({ org: orgId, signal }),
    staleTime: 60_000,
    enabled: allowed,
  });
  const change = useMutation({
    mutationFn: (wanted: string) =>
      api.switchModel({ org: orgId, conversation: conversation.id, body: { model: wanted } }),
    onError: (error) => {
      const failure = failureOf(error);
      toast.error(failure.title, { description: [failure.detail, failure.nextStep].filter(Boolean).join(' ') });
    },
  });
  const choices = (models.data?.data ?? []).map(({ id, label }) => ({ value: id, label }));
  if (!allowed || choices.length < 2) return null;
  return (
    <>
      <MenuSeparator />
      <MenuChoices
        label={t('conversation.modelFromTheNextStep')}
        // What was chosen shows at once; the log says it soon after.
        value={change.isPending ? change.variables : model}
        onChange={(wanted) => change.mutate(wanted)}
        choices={choices}
      />
    </>
  );
}
