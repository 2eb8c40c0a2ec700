'use client';
import type { Conversation } from '@slipway/contracts/conversations';
import { createContext, use, useSyncExternalStore } from 'react';
import type { ConversationStore, Slice } from './conversation-store.ts';
import type { ConversationView } from './conversation-view.ts';
import type { OpenRows } from './open-rows.ts';
import type { Reveal } from './reveal.ts';

/** What the parts of one conversation page share; stable for the life of the page. */
export interface ConversationScope {
  readonly store: ConversationStore;
  /** What never changes: id, repository, branch, model, owner. */
  readonly conversation: Conversation;
  readonly orgId: string;
  readonly openRows: OpenRows;
  /** Brings a position of the log into sight. */
  readonly reveal: Reveal;
}
export const ConversationContext = createContext<ConversationScope | null>(null);

export function useConversation(): ConversationScope {
  const scope = use(ConversationContext);
  if (scope === null) throw new Error('useConversation outside of ConversationScreen');
  return scope;
}

export function useSlice<T>(slice: Slice<T>): T {
  return useSyncExternalStore(slice.subscribe, slice.get, slice.get);
}

/** One part of a slice. Renders again only when `pick` gives another value, so it must pick, not build. */
export function usePicked<T, P>(slice: Slice<T>, pick: (value: T) => P): P {
  const get = () => pick(slice.get());
  return useSyncExternalStore(slice.subscribe, get, get);
}

export function useView<P>(pick: (view: ConversationView) => P): P {
  return usePicked(useConversation().store.view, pick);
}
