'use client';
import type { BrowserLiveRequest } from '@slipway/contracts/live';
import { type MouseEvent, type PointerEvent, type RefObject, useRef } from 'react';
import { isMac } from '../../browser/keys.ts';
import { modifiersOf } from './keys.ts';
import { placeOnPage } from './place.ts';
import { limitedTurn, usePageWheel } from './use-page-wheel.ts';

const BUTTONS = ['left', 'middle', 'right'] as const;
/** A finger that moves further than this scrolls. CSS pixels. */
const TAP = 8;

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
    send({ type: 'wheel', ...place(event), dx: limitedTurn(dx * scale), dy: limitedTurn(dy * scale), modifiers: 0 });
  };
  usePageWheel({ picture, viewport, on, send });
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
