'use client';
import { createContext, type ReactNode, use, useMemo, useSyncExternalStore } from 'react';
import { useEarlyDesk } from '../conversation/page-preview.tsx';
import { useSession } from '../session/me.ts';
import { DeskStore, type DeskView } from './desk-store.ts';
import { useDeskRoom } from './use-desk-room.ts';

const DeskContext = createContext<DeskStore | null>(null);

/** Holds the Desk of the organization of the address, for the rail and the page of it. */
export function DeskProvider({ children }: { children: ReactNode }) {
  const { me, org } = useSession();
  const early = useEarlyDesk();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another organization, or another user, is another Desk
  const store = useMemo(() => {
    const made = new DeskStore(me.name);
    if (early !== null) made.read(early, Date.parse(early.at));
    return made;
  }, [me.id, org.id]);
  useDeskRoom(store, org.id, org.permissions.includes('conversation:read'));
  return <DeskContext value={store}>{children}</DeskContext>;
}

export function useDeskStore(): DeskStore {
  const store = use(DeskContext);
  if (store === null) throw new Error('the Desk outside of DeskProvider');
  return store;
}

export function useDesk(): DeskView {
  const store = useDeskStore();
  return useSyncExternalStore(store.subscribe, store.get, store.get);
}

/** How many conversations wait for a decision of this user. */
export function useWaitingCount(): number {
  const store = useDeskStore();
  const count = () => store.get().lines?.filter(({ group }) => group === 'needs-you').length ?? 0;
  return useSyncExternalStore(store.subscribe, count, count);
}
