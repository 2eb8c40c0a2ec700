import type { BrowserLiveRequest } from '@slipway/contracts/live';

type KeyRequest = Extract<BrowserLiveRequest, { type: 'key' }>;

/** What is read of a keyboard event. */
export interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  readonly location: number;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly isComposing: boolean;
  getModifierState(key: string): boolean;
}

/** An input method's own key, and what an on-screen keyboard says of every key: their text comes as text. */
const NO_KEY = new Set(['Process', 'Unidentified', 'Dead', '']);
/** Second press of Escape within this leaves the page. Milliseconds. */
const LEAVE_MS = 800;

/**
 * 1 Alt, 2 Control, 4 Meta, 8 Shift; the sandbox is a Linux machine, so a Mac's ⌘ is Control there. AltGraph makes a
 * character and is no modifier of it.
 */
export function modifiersOf(
  event: Omit<KeyPress, 'key' | 'code' | 'keyCode' | 'location' | 'isComposing'>,
  mac: boolean,
): number {
  const graph = event.getModifierState('AltGraph');
  const control = (event.ctrlKey && !graph) || (mac && event.metaKey);
  return (
    (event.altKey && !graph && !mac ? 1 : 0) +
    (control ? 2 : 0) +
    (event.metaKey && !mac ? 4 : 0) +
    (event.shiftKey ? 8 : 0)
  );
}

/** Pasting is left to this browser, which alone has the clipboard. */
export function isPaste({ key, ctrlKey, metaKey, altKey }: KeyPress, mac: boolean): boolean {
  return key.toLowerCase() === 'v' && (mac ? metaKey : ctrlKey) && !altKey;
}

/** The key as the page gets it, or `null` for one that is not the page's. */
export function keyRequest(act: KeyRequest['act'], event: KeyPress, mac: boolean): KeyRequest | null {
  if (event.isComposing || event.keyCode === 229 || NO_KEY.has(event.key) || (mac && event.key === 'Meta')) return null;
  return {
    type: 'key',
    act,
    key: event.key.slice(0, 40),
    code: event.code.slice(0, 40),
    keyCode: Math.min(Math.max(event.keyCode, 0), 255),
    location: event.location,
    modifiers: modifiersOf(event, mac),
  };
}

/** Escape belongs to the page; twice in a row it leads out of it. */
export class WayOut {
  private pressedAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds. @returns whether this key press leaves. */
  press(key: string, now: number): boolean {
    const leaves = key === 'Escape' && now - this.pressedAt < LEAVE_MS;
    this.pressedAt = key === 'Escape' && !leaves ? now : Number.NEGATIVE_INFINITY;
    return leaves;
  }
}
