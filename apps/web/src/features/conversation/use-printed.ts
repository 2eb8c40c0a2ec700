import { type RefObject, useEffect, useRef } from 'react';
import { useConversation, usePicked } from './conversation-context.ts';

/**
 * What a step has printed while this page was open, with colours; empty when nothing of it is known. @param step its
 * id.
 */
export function usePrinted(step: string): string {
  return usePicked(useConversation().store.printed, (printed) => printed.get(step)?.progress ?? '');
}

/** How far from its end a box still counts as being there. Pixels. */
const NEAR = 24;

/**
 * Keeps a box at its end when `text` grows, unless the reader has scrolled away from there. `null`: it does not follow.
 */
export function useFollowedEnd(text: string | null): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  useEffect(() => {
    const { current } = box;
    if (text === null || current === null) return;
    const wasAtEnd = height.current === 0 || current.scrollTop + current.clientHeight >= height.current - NEAR;
    if (wasAtEnd) current.scrollTop = current.scrollHeight;
    height.current = current.scrollHeight;
  }, [text]);
  return box;
}
