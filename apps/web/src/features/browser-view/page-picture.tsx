'use client';
import type { BrowserLiveRequest, BrowserState } from '@slipway/contracts/live';
import { cn } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useCallback, useId, useRef } from 'react';
import { usePageKeyboard } from './use-page-keyboard.ts';
import { usePagePointer } from './use-page-pointer.ts';

/**
 * The picture of the page. For who has the browser it is the page: mouse, wheel and fingers where they are, keys while
 * it has the focus. A text field without looks lies over it, so that input methods, the clipboard and a phone's
 * keyboard work as in any field.
 */
export function PagePicture(props: {
  state: BrowserState;
  attach: (canvas: HTMLCanvasElement | null) => void;
  /** Real size, to be scrolled, instead of as large as fits. */
  full: boolean;
  /** The picture is from before the connection was lost. */
  old: boolean;
  send: (request: BrowserLiveRequest) => void;
  /** The user wants to be out of the page. */
  leave: () => void;
}) {
  const t = useTranslations();
  const { state, attach, full, old, send, leave } = props;
  const { viewport } = state;
  const on = state.yours && !old;
  const picture = useRef<HTMLCanvasElement | null>(null);
  const keyboard = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  const join = useCallback(
    (canvas: HTMLCanvasElement | null) => {
      picture.current = canvas;
      attach(canvas);
    },
    [attach],
  );
  const pointer = usePagePointer({
    picture,
    viewport,
    on,
    fingers: !full,
    send,
    pressed: () => keyboard.current?.focus({ preventScroll: true }),
  });
  const keys = usePageKeyboard(send, leave);
  const shape = viewport.height === 0 ? 1 : viewport.width / viewport.height;
  return (
    <div
      className={cn(
        'group relative min-h-0 flex-1 bg-canvas',
        full ? 'overflow-auto' : '[container-type:size] overflow-hidden',
      )}
    >
      <canvas
        ref={join}
        role="img"
        aria-label={t('browserView.viewOfThePage', { title: state.title || state.address })}
        style={{
          aspectRatio: shape,
          width: full ? viewport.width : `min(100cqw, 100cqh * ${shape}, ${viewport.width}px)`,
        }}
        className={cn(
          'mx-auto block max-w-none bg-white outline-offset-[-2px] outline-accent group-focus-within:outline-2',
          old && 'opacity-50',
          on ? 'cursor-default' : 'cursor-not-allowed',
          on && !full && 'touch-none',
        )}
        {...pointer}
      />
      {on ? (
        <textarea
          ref={keyboard}
          aria-label={t('browserView.pageKeyboardInput')}
          aria-describedby={hint}
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          className="pointer-events-none absolute top-0 left-0 size-px resize-none opacity-0"
          {...keys}
        />
      ) : null}
      <p id={hint} className="sr-only">
        {t('browserView.keysGoToThePage')}
      </p>
    </div>
  );
}
