'use client';
import { type BrowserLiveRequest, MAX_BROWSER_PASTE } from '@slipway/contracts/live';
import { type ClipboardEvent, type CompositionEvent, type FormEvent, type KeyboardEvent, useRef } from 'react';
import { isMac } from '../../browser/keys.ts';
import { isPaste, keyRequest, WayOut } from './keys.ts';

type KeyRequest = Extract<BrowserLiveRequest, { type: 'key' }>;

/**
 * What a text field needs to be the page's keyboard. @param leave where the focus goes after Escape was pressed twice.
 */
export function usePageKeyboard(send: (request: BrowserLiveRequest) => void, leave: () => void) {
  const way = useRef(new WayOut());
  const held = useRef(new Map<string, KeyRequest>());
  const insert = (text: string) => {
    if (text !== '') send({ type: 'insert', text: text.slice(0, MAX_BROWSER_PASTE) });
  };
  return {
    onKeyDown: (event: KeyboardEvent) => {
      event.stopPropagation();
      if (isPaste(event.nativeEvent, isMac)) return;
      const request = keyRequest('press', event.nativeEvent, isMac);
      if (request === null) return;
      event.preventDefault();
      if (way.current.press(event.key, event.timeStamp)) {
        leave();
        return;
      }
      send(request);
      // A Mac never says that a key was let go of while ⌘ is down.
      if (event.metaKey) send({ ...request, act: 'release' });
      else held.current.set(request.code, request);
    },
    onKeyUp: (event: KeyboardEvent) => {
      event.stopPropagation();
      const request = keyRequest('release', event.nativeEvent, isMac);
      if (request !== null && held.current.delete(request.code)) send(request);
    },
    onBlur: () => {
      for (const request of held.current.values()) send({ ...request, act: 'release', modifiers: 0 });
      held.current.clear();
    },
    /** What came without a key: a phone's keyboard, what was dictated. */
    onInput: (event: FormEvent<HTMLTextAreaElement>) => {
      if ((event.nativeEvent as InputEvent).isComposing) return;
      insert(event.currentTarget.value);
      event.currentTarget.value = '';
    },
    onCompositionEnd: (event: CompositionEvent<HTMLTextAreaElement>) => {
      insert(event.data);
      event.currentTarget.value = '';
    },
    onPaste: (event: ClipboardEvent) => {
      event.preventDefault();
      insert(event.clipboardData.getData('text/plain'));
    },
  };
}
