'use client';
import type { BrowserLiveRequest } from '@slipway/contracts/live';
import { type MouseEvent, type PointerEvent, type RefObject, useEffect, useRef } from 'react';
import { isMac } from '../../browser/keys.ts';
import { modifiersOf } from './keys.ts';
import { placeOnPage } from './place.ts';

const BUTTONS = ['left', 'middle', 'right'] as const;
/** A turn of the wheel by one line, where the browser counts those. CSS pixels. */
const LINE = 16;
/** A finger that moves further than this scrolls. CSS pixels. */
const TAP = 8;
/** Most that one turn scrolls. CSS pixels. */
const MAX_TURN = 10_000;

/**
 * Mouse, wheel and fingers on the picture as they are on the page: a tap presses, a finger that moves scrolls.
 *
 * @param on whether they reach the page.
 * @param fingers whether they scroll the page; else they scroll the picture in the panel.
 */
export function usePagePointer(options: {
  picture: RefObject<HTMLCanvasElement | null>;
  viewport: { width: number; height: number };
  on: boolean;
  fingers: boolean;
  send: (request: BrowserLiveRequest) => void;
  pressed: () => void;
}) {
  const { picture, viewport, on, fingers, send, pressed } = options;
  const finger = useRef<{ x: number; y: number; scrolls: boolean } | null>(null);
  const move = useRef<{ request: BrowserLiveRequest; frame: number } | null>(null);
  const place = (at: { clientX: number; clientY: number }) =>
    placeOnPage(at, picture.current?.getBoundingClientRect() ?? new DOMRect(), viewport);

  /** At most one move a frame; what is pressed after it comes after it. */
  const flushMove = () => {
    if (move.current === null) return;
    cancelAnimationFrame(move.current.frame);
    send(move.current.request);
    move.current = null;
  };
  const button = (act: 'press' | 'release') => (event: MouseEvent) => {
    const which = BUTTONS[event.button];
    if (!on || which === undefined) return;
    event.preventDefault();
    flushMove();
    const at = { ...place(event), modifiers: modifiersOf(event, isMac) };
    if (act === 'press') {
      pressed();
      // A finger has not moved there before.
      send({ type: 'pointer', act: 'move', ...at, button: 'none', buttons: 0, clicks: 0 });
    }
    send({
      type: 'pointer',
      act,
      ...at,
      button: which,
      buttons: event.buttons & 7,
      clicks: Math.min(Math.max(event.detail, 1), 3),
    });
  };
  const scrollByFinger = (event: PointerEvent) => {
    const { current: from } = finger;
    if (from === null || !fingers) return;
    const [dx, dy] = [from.x - event.clientX, from.y - event.clientY];
    if (!from.scrolls && Math.hypot(dx, dy) < TAP) return;
    const scale = viewport.width / (picture.current?.getBoundingClientRect().width || 1);
    finger.current = { x: event.clientX, y: event.clientY, scrolls: true };
    send({ type: 'wheel', ...place(event), dx: limited(dx * scale), dy: limited(dy * scale), modifiers: 0 });
  };
  // React listens to the wheel passively, and then the panel would scroll too.
  const { width, height } = viewport;
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
        dx: limited(event.deltaX * unit),
        dy: limited(event.deltaY * unit),
        modifiers: modifiersOf(event, isMac),
      });
    };
    canvas.addEventListener('wheel', turn, { passive: false });
    return () => canvas.removeEventListener('wheel', turn);
  }, [picture, on, width, height, send]);

  return {
    onMouseDown: button('press'),
    onMouseUp: button('release'),
    onPointerDown: (event: PointerEvent) => {
      if (!on) return;
      if (event.pointerType === 'touch') finger.current = { x: event.clientX, y: event.clientY, scrolls: false };
      // What is dragged out of the picture is let go of there, too.
      else event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      if (!on) return;
      if (event.pointerType === 'touch') {
        scrollByFinger(event);
        return;
      }
      const at = { ...place(event), modifiers: modifiersOf(event, isMac) };
      const request = {
        type: 'pointer',
        act: 'move',
        ...at,
        button: 'none',
        buttons: event.buttons & 7,
        clicks: 0,
      } as const;
      if (move.current === null) move.current = { request, frame: requestAnimationFrame(flushMove) };
      else move.current.request = request;
    },
    onPointerUp: () => {
      finger.current = null;
    },
    onContextMenu: (event: MouseEvent) => {
      if (on) event.preventDefault();
    },
  };
}

function limited(delta: number): number {
  return Math.max(-MAX_TURN, Math.min(delta, MAX_TURN));
}
