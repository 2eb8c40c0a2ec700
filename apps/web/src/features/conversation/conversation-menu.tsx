'use client';
import { downloadUrls } from '@slipway/api-client';
import { Button, Menu, MenuGroup, MenuItem, MenuSeparator } from '@slipway/ui';
import { Download, Ellipsis, ExternalLink, FileDiff } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useAddressValue } from '../../browser/address.ts';
import { useReport } from '../analytics/use-report.ts';
import { useAgentMenu } from '../beside/agent-menu.tsx';
import { useEditMenu } from '../conversation-edits/edit-menu.tsx';
import { useSession } from '../session/me.ts';
import { useConversation } from './conversation-context.ts';

/**
 * What is done with a conversation less often, by what it is done to. What a message goes on with is beside the
 * message.
 */
export function ConversationMenu() {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const { org } = useSession();
  const [, setTab] = useAddressValue('tab');
  const report = useReport();
  const agent = useAgentMenu();
  const edits = useEditMenu();
  const target = { org: orgId, conversation: conversation.id };
  return (
    <>
      <Menu
        trigger={
          <Button tone="quiet" size="icon" aria-label={t('conversation.moreActions')}>
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <MenuGroup label={t('conversation.menuConversation')}>{edits.items}</MenuGroup>
        <MenuGroup label={t('conversation.menuAgent')}>{agent.items}</MenuGroup>
        <MenuGroup label={t('conversation.menuWork')}>
          {org.permissions.includes('sandbox:access') ? (
            <MenuItem onSelect={() => setTab('ports', 'push')}>
              <ExternalLink aria-hidden /> {t('conversation.openAPort')}
            </MenuItem>
          ) : null}
          <MenuItem asChild>
            <a href={downloadUrls.downloadDiff(target)} download={`${conversation.id}.patch`}>
              <FileDiff aria-hidden /> {t('conversation.downloadDiff')}
            </a>
          </MenuItem>
          <MenuItem asChild>
            <a
              href={downloadUrls.downloadTrajectory(target)}
              download={`${conversation.id}.json`}
              onClick={() => report({ name: 'download_trajectory_button_clicked' })}
            >
              <Download aria-hidden /> {t('conversation.downloadTrajectory')}
            </a>
          </MenuItem>
        </MenuGroup>
        {edits.remove === null ? null : (
          <>
            <MenuSeparator />
            {edits.remove}
          </>
        )}
      </Menu>
      {edits.dialog}
      {agent.dialog}
    </>
  );
}
