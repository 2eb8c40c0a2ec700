import { ConversationList } from '../../../features/conversations/conversation-list.tsx';
import { titled } from '../../../messages/titled.ts';
import { WithMessages } from '../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.conversations');

export default function ConversationsPage() {
  return (
    <WithMessages of={['conversationEdits', 'conversations']}>
      <ConversationList />
    </WithMessages>
  );
}
