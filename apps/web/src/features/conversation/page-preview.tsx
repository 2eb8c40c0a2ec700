'use client';
import type { Conversation, Desk } from '@slipway/contracts/conversations';
import type { ConversationPreview, PagePreview } from '@slipway/contracts/operate';
import { createContext, type ReactNode, use } from 'react';
import { useHydrated } from '../../browser/hydrated.ts';

const PreviewOfPage = createContext<Pick<PagePreview, 'conversation' | 'desk'>>({ conversation: null, desk: null });

/** What the server knew of what is at this address when it made the page. */
export function PreviewProvider({
  preview,
  children,
}: {
  preview: Pick<PagePreview, 'conversation' | 'desk'>;
  children: ReactNode;
}) {
  return <PreviewOfPage value={preview}>{children}</PreviewOfPage>;
}

/**
 * The preview that came with the page; with an id, only when it is of that conversation: another one may have been
 * opened since.
 */
export function usePreview(id?: string): ConversationPreview | null {
  const { conversation } = use(PreviewOfPage);
  return id === undefined || conversation?.snapshot.id === id ? conversation : null;
}

/** The Desk that came with the page, while the page is taken over: later it may be another one. */
export function useEarlyDesk(): Desk | null {
  const { desk } = use(PreviewOfPage);
  return useHydrated() ? null : desk;
}

/** The snapshot that came with the page, in the words of a query, while the page is taken over: later it is old. */
export function useEarlySnapshot(id: string): { readonly initialData?: Conversation } {
  const preview = usePreview(id);
  return useHydrated() || preview === null ? {} : { initialData: preview.snapshot };
}
