'use client';
import {
  BrowserLiveMessage,
  type BrowserLiveRequest,
  type BrowserPageError,
  type BrowserState,
  MAX_BROWSER_ERRORS,
} from '@slipway/contracts/live';
import { useEffect, useRef, useState } from 'react';
import { useConversation } from '../conversation/conversation-context.ts';
import type { LiveChannel } from '../live/live-state.ts';
import { useLiveChannel } from '../live/use-live-channel.ts';
import { useSession } from '../session/me.ts';
import { FramePainter } from './frame-painter.ts';
import { useHold } from './use-hold.ts';

/** How long a sentence for the user stays. Milliseconds. */
const NOTICE_MS = 8_000;

export interface BrowserView {
  readonly channel: LiveChannel;
  /** `null` until it is known. It may be old while the channel is not open. */
  readonly state: BrowserState | null;
  readonly errors: readonly BrowserPageError[];
  /** A sentence for this user, for a while. */
  readonly notice: string | null;
  readonly attach: (canvas: HTMLCanvasElement | null) => void;
  /** Whether there has been a picture. */
  readonly pictured: boolean;
  readonly send: (request: BrowserLiveRequest) => void;
  readonly take: () => void;
  readonly handBack: (note: string) => void;
}

/** The agent's browser as it is now, and what this user does with it. */
export function useBrowserView(): BrowserView {
  const { conversation } = useConversation();
  const { me } = useSession();
  const [state, setState] = useState<BrowserState | null>(null);
  const [errors, setErrors] = useState<readonly BrowserPageError[]>([]);
  const [notice, setNotice] = useState<string | null>(null);
  const [pictured, setPictured] = useState(false);
  const hold = useHold(conversation.id);
  /** This connection has said nothing yet. */
  const fresh = useRef(true);
  const mine = useRef(false);
  const channel = useLiveChannel('browser', {
    onOpen: () => {
      fresh.current = true;
    },
    onMessage: (raw) => {
      const message = BrowserLiveMessage.safeParse(raw);
      if (!message.success) return;
      const { data } = message;
      if (data.type === 'notice') setNotice(data.text);
      else if (data.type === 'errors') setErrors((known) => [...known, ...data.errors].slice(-MAX_BROWSER_ERRORS));
      else {
        setState(data);
        if (fresh.current) {
          // All errors that are kept follow.
          setErrors([]);
          comeBack(data);
        } else if (mine.current && !data.yours) hold.end();
        fresh.current = false;
        mine.current = data.yours;
      }
    },
    onBytes: (bytes) => painter.take(bytes),
  });
  const [painter] = useState(
    () =>
      new FramePainter(
        (frame) => void channel.send({ type: 'seen', frame } satisfies BrowserLiveRequest),
        () => setPictured(true),
      ),
  );
  useEffect(() => {
    if (notice === null) return;
    const timer = setTimeout(() => setNotice(null), NOTICE_MS);
    return () => clearTimeout(timer);
  }, [notice]);

  const send = (request: BrowserLiveRequest) => void channel.send(request);
  const take = () => send({ type: 'take', name: me.name.slice(0, 100), hold: hold.begin() });
  /** Cut off in the middle of it: the browser is still this user's for a minute. */
  const comeBack = (known: BrowserState) => {
    if (!hold.held) return;
    if (known.holder === null) hold.end();
    else if (!known.yours) take();
  };
  return {
    channel,
    state,
    errors,
    notice,
    attach: painter.attach,
    pictured,
    send,
    take,
    handBack: (note) => {
      hold.end();
      send({ type: 'hand-back', ...(note.trim() === '' ? {} : { note: note.trim() }) });
    },
  };
}
