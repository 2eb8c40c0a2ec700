import type { Metadata } from 'next';
import { ConversationPage } from '../../../../features/conversation/conversation-page.tsx';
import { readPagePreview } from '../../../../server/page-preview.ts';

/** The tab has the conversation's name from the first bytes on; its header renames it later. */
export async function generateMetadata(): Promise<Metadata> {
  return { title: (await readPagePreview())?.title || 'Conversation' };
}

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <ConversationPage key={id} id={id} />;
}
