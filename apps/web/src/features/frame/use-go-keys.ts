'use client';
import { usePathname, useRouter } from 'next/navigation';
import { useEffect, useRef } from 'react';
import { placeOfKey } from './go-keys.ts';

/** Longest time between `g` and the key that says where. Milliseconds. */
const TOGETHER_MS = 1_500;

/**
 * `c`: a new task; `g c`: conversations; `g a`: admin; `/`: the search of the page, or of the conversations; `?`: the
 * list of keys. Off where something is typed, which `Esc` leaves.
 */
export function useGoKeys(home: string, showKeys: () => void): void {
  const router = useRouter();
  const path = usePathname();
  /** The page that is on its way has the search that was asked for. */
  const searching = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when another page is there
  useEffect(() => {
    if (searching.current) focusSearch();
    searching.current = false;
  }, [path]);
  useEffect(() => {
    let began = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
      if (event.key === 'Escape') return leaveField(event.target);
      if (isTyping(event.target)) return;
      const place = placeOfKey(event.key, performance.now() - began < TOGETHER_MS);
      began = event.key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY;
      if (event.key === '?') showKeys();
      else if (event.key === '/') {
        searching.current = !focusSearch();
        if (searching.current) router.push(`${home}/conversations`);
      } else if (place === null) return;
      else router.push(`${home}${place}`);
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [home, router, showKeys]);
}

/** @returns whether this page has a search. */
function focusSearch(): boolean {
  const field = [...document.querySelectorAll<HTMLInputElement>('main input[type="search"]')].find(
    (input) => input.checkVisibility() && !input.disabled,
  );
  field?.focus();
  field?.select();
  return field !== undefined;
}

/** Only fields of the page itself: a dialog, a terminal and an editor have a use of their own for the key. */
function leaveField(target: EventTarget | null): void {
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)
    if (target.closest(OWN_KEYS) === null) target.blur();
}

const OWN_KEYS = '[role="menu"], [role="dialog"], [role="alertdialog"], .xterm, .cm-editor';

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest(`input, textarea, select, [contenteditable="true"], ${OWN_KEYS}`) !== null
  );
}
