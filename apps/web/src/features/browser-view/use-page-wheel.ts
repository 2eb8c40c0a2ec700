'use client';
import type { BrowserLiveRequest } from '@slipway/contracts/live';
import { type RefObject, useEffect } from 'react';
import { isMac } from '../../browser/keys.ts';
import { modifiersOf } from './keys.ts';
import { placeOnPage } from './place.ts';

/** A turn of the wheel by one line, where the browser counts those. CSS pixels. */
const LINE = 16;
/** Most that one turn scrolls. CSS pixels. */
const MAX_TURN = 10_000;

/** Turns of the wheel on the picture scroll the page. @param on whether they reach it. */
export function usePageWheel({
  picture,
  viewport: { width, height },
  on,
  send,
}: {
  picture: RefObject<HTMLCanvasElement | null>;
  viewport: { width: number; height: number };
  on: boolean;
  send: (request: BrowserLiveRequest) => void;
}): void {
  // React listens to the wheel passively, and then the panel would scroll too.
  useEffect(() => {
    const { current: canvas } = picture;
    if (canvas === null || !on) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const unit =
        event.deltaMode === WheelEvent.DOM_DELTA_PIXEL
          ? 1
          : event.deltaMode === WheelEvent.DOM_DELTA_LINE
            ? LINE
            : height;
      const at = placeOnPage(event, canvas.getBoundingClientRect(), { width, height });
      send({
        type: 'wheel',
        ...at,
        dx: limitedTurn(event.deltaX * unit),
        dy: limitedTurn(event.deltaY * unit),
        modifiers: modifiersOf(event, isMac),
      });
    };
    canvas.addEventListener('wheel', turn, { passive: false });
    return () => canvas.removeEventListener('wheel', turn);
  }, [picture, on, width, height, send]);
}

export function limitedTurn(delta: number): number {
  return Math.max(-MAX_TURN, Math.min(delta, MAX_TURN));
}
