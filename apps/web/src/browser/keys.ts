import type { KeyboardEvent } from 'react';
import { useHydrated } from './hydrated.ts';

/** ⌘ is this machine’s command key. */
export const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** The send key as this machine writes it. */
export const SEND_KEY = isMac ? '⌘↵' : 'Ctrl ↵';

/** The same where the server may have drawn it, which does not know the machine. */
export function SendKey(): string {
  return useHydrated() ? SEND_KEY : 'Ctrl ↵';
}

/** `⌘↵` (or `Ctrl ↵`); `↵` alone is a new line, and an input method's own Enter is left to it. */
export function isSendKey(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && (event.metaKey || event.ctrlKey) && !event.nativeEvent.isComposing;
}
