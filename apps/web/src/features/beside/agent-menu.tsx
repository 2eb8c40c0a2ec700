'use client';
import { MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ListCollapse, MessageCircleQuestion, ShieldCheck } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { showFailure } from '../run-settings/use-run-settings.ts';
import { useSession } from '../session/me.ts';
import { AskDialog } from './ask-dialog.tsx';
import { RulesDialog } from './rules-dialog.tsx';

type Open = 'ask' | 'rules';

/** What can be asked of the agent beside its task: entries of a menu, and what they open, which outlives the menu. */
export function useAgentMenu(): { items: React.ReactNode; dialog: React.ReactNode } {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const { org } = useSession();
  const [open, setOpen] = useState<Open | null>(null);
  const hadWorkspace = useView((view) => view.hadWorkspace);
  const condense = useMutation({
    mutationFn: () => api.condenseConversation({ org: orgId, conversation: conversation.id }),
    onMutate: () => void toast(t('beside.summarizingEarlierSteps')),
    onError: showFailure,
  });
  const close = () => setOpen(null);
  const mayWrite = org.permissions.includes('conversation:write');
  return {
    items: (
      <>
        {mayWrite ? (
          <>
            <MenuItem disabled={!hadWorkspace} onSelect={() => setOpen('ask')}>
              <MessageCircleQuestion aria-hidden /> {t('beside.askASideQuestion')}
            </MenuItem>
            <MenuItem disabled={!hadWorkspace || condense.isPending} onSelect={() => condense.mutate()}>
              <ListCollapse aria-hidden /> {t('beside.summarizeEarlierSteps')}
            </MenuItem>
          </>
        ) : null}
        <MenuItem onSelect={() => setOpen('rules')}>
          <ShieldCheck aria-hidden /> {t('beside.approvalRules')}
        </MenuItem>
      </>
    ),
    dialog: open === 'ask' ? <AskDialog onClose={close} /> : open === 'rules' ? <RulesDialog onClose={close} /> : null,
  };
}
