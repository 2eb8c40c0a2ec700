import type { Metadata } from 'next';
import { ConversationList } from '../../../features/conversations/conversation-list.tsx';

export const metadata: Metadata = { title: 'Conversations' };

export default function ConversationsPage() {
  return <ConversationList />;
}
