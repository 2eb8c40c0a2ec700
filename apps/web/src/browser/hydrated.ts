'use client';
import { useSyncExternalStore } from 'react';

const never = (): (() => void) => () => {};

/** Whether scripts have taken the page over: `false` on the server, and while its text is taken over. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
