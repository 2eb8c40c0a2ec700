'use client';
import { ConfirmationMode } from '@slipway/contracts/conversations';
import { MenuChoices, MenuSeparator } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { translated } from '../../messages/translate.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { ASKING } from './asking.ts';

/**
 * How often this conversation's agent asks before it acts, from its next step on. Part of a menu; nothing for who may
 * not say.
 */
export function AskingChoices() {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const { org } = useSession();
  const change = useMutation({
    mutationFn: (mode: ConfirmationMode) =>
      api.setConfirmationMode({ org: orgId, conversation: conversation.id, body: { mode } }),
    onError: (error) => {
      const failure = failureOf(error);
      toast.error(failure.title, { description: [failure.detail, failure.nextStep].filter(Boolean).join(' ') });
    },
  });
  if (!org.permissions.includes('conversation:write')) return null;
  return (
    <>
      <MenuSeparator />
      <MenuChoices
        label={t('approval.confirmationPolicy')}
        value={change.isPending ? change.variables : (change.data?.confirmation ?? conversation.confirmation)}
        onChange={(mode) => change.mutate(ConfirmationMode.parse(mode))}
        choices={translated(t, ASKING)}
      />
    </>
  );
}
