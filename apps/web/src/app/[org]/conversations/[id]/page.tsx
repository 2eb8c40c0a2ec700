import type { Metadata } from 'next';
import { ConversationPage } from '../../../../features/conversation/conversation-page.tsx';

export const metadata: Metadata = { title: 'Conversation' };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <ConversationPage key={id} id={id} />;
}
