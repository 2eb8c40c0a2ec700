import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { ConversationPage } from '../../../../features/conversation/conversation-page.tsx';
import { WithMessages } from '../../../../messages/with-messages.tsx';
import { readPagePreview } from '../../../../server/page-preview.ts';

/** The tab has the conversation's name from the first bytes on; its header renames it later. */
export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations();
  return { title: (await readPagePreview()).conversation?.snapshot.title || t('common.conversation') };
}

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return (
    <WithMessages
      of={[
        'approval',
        'attachments',
        'beside',
        'browserView',
        'changes',
        'conversation',
        'draft',
        'conversationEdits',
        'conversations',
        'egress',
        'files',
        'live',
        'mention',
        'ports',
        'promptAndTools',
        'promptLog',
        'pullRequest',
        'reading',
        'runtime',
        'terminal',
        'terms',
        'trace',
        'traffic',
      ]}
    >
      <ConversationPage key={id} id={id} />
    </WithMessages>
  );
}
