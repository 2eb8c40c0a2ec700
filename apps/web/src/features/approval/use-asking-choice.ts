'use client';
import { ConfirmationMode } from '@slipway/contracts/conversations';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { translated } from '../../messages/translate.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import type { Choice } from '../conversation/run-chips/use-model-choice.ts';
import { showFailure } from '../run-settings/use-run-settings.ts';
import { ASKING } from './asking.ts';

/** How often this conversation's agent asks before it acts, from its next step on. */
export function useAskingChoice(): Choice {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const change = useMutation({
    mutationFn: (mode: ConfirmationMode) =>
      api.setConfirmationMode({ org: orgId, conversation: conversation.id, body: { mode } }),
    onError: showFailure,
  });
  return {
    value: change.isPending ? change.variables : (change.data?.confirmation ?? conversation.confirmation),
    choose: (mode) => change.mutate(ConfirmationMode.parse(mode)),
    choices: translated(t, ASKING),
  };
}
