import type { KeyboardEvent } from 'react';

/** ⌘ is this machine’s command key. */
export const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** The send key as this machine writes it. */
export const SEND_KEY = isMac ? '⌘↵' : 'Ctrl ↵';

/** `⌘↵` (or `Ctrl ↵`); `↵` alone is a new line, and an input method's own Enter is left to it. */
export function isSendKey(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && (event.metaKey || event.ctrlKey) && !event.nativeEvent.isComposing;
}
