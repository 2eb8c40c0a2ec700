'use client';
import type { ConversationPreview } from '@slipway/contracts/operate';
import { createContext, type ReactNode, use } from 'react';

const PreviewOfPage = createContext<ConversationPreview | null>(null);

/** What the server knew of the conversation of this address when it made the page. */
export function PreviewProvider({ preview, children }: { preview: ConversationPreview | null; children: ReactNode }) {
  return <PreviewOfPage value={preview}>{children}</PreviewOfPage>;
}

/**
 * The preview that came with the page; with an id, only when it is of that conversation: another one may have been
 * opened since.
 */
export function usePreview(conversation?: string): ConversationPreview | null {
  const preview = use(PreviewOfPage);
  return conversation === undefined || preview?.id === conversation ? preview : null;
}
