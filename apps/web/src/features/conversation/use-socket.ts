'use client';
import {
  type DeltaFrame,
  type EventsFrame,
  type GoneFrame,
  type InboxFrame,
  type ResumeFrame,
  type ReviewFrame,
  SOCKET_PING_MS,
  type Subscribe,
  SubscribeAnswer,
} from '@slipway/contracts/events';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { io, type Socket } from 'socket.io-client';
import { goToSignIn } from '../session/me.ts';
import type { ConversationStore } from './conversation-store.ts';

/** Longest wait for the answer to `subscribe`; then it is asked again. Milliseconds. */
const SUBSCRIBE_TIMEOUT_MS = 10_000;
/** Wait before subscribing again after a gap or a refusal. Milliseconds. */
const RESUBSCRIBE_MS = 500;

/**
 * The server is heard of every `SOCKET_PING_MS`; after two that did not come, and a little, this connection is given
 * up. Milliseconds.
 */
const SILENT_MS = 2 * SOCKET_PING_MS + 1_000;

/**
 * The page's one connection. The cursor is `view.lastSeq`: after any break the server gets the position to resume from,
 * so nothing is lost or doubled. socket.io reconnects by itself with jitter; a page that wakes up does not wait for
 * that.
 */
export function useSocket(store: ConversationStore, orgId: string, conversationId: string, gaps: EventTarget): void {
  const queries = useQueryClient();
  useEffect(() => {
    const socket = io({
      path: '/socket.io',
      transports: ['websocket'],
      reconnectionDelay: 300,
      reconnectionDelayMax: 5_000,
      randomizationFactor: 0.5,
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = watchSilence(socket);
    const later = (work: () => void) => {
      clearTimeout(timer);
      timer = setTimeout(work, RESUBSCRIBE_MS);
    };
    const subscribe = async () => {
      const request: Subscribe = { orgId, conversationId, afterSeq: store.view.get().lastSeq };
      const answer = SubscribeAnswer.safeParse(
        await socket
          .timeout(SUBSCRIBE_TIMEOUT_MS)
          .emitWithAck('subscribe', request)
          .catch(() => null),
      );
      if (!socket.connected) return;
      if (answer.success && answer.data.ok) {
        store.gone.set(false);
        store.connection.set('live');
      } else if (answer.success && !answer.data.ok && answer.data.code === 'auth.missing') goToSignIn();
      else {
        // The organization may ask for another sign-in by now, or the user may have left it: the page says so when it
        // is read again who is signed in.
        if (answer.success) void queries.invalidateQueries({ queryKey: ['me'] });
        if (isNotFound(answer.data)) store.gone.set(true);
        else later(() => void subscribe());
      }
    };
    /** This replica is about to end and another one is there: no reason to wait. */
    let sentAway = false;
    const lost = () => store.connection.set('reconnecting');
    const wake = () => {
      if (document.visibilityState === 'visible' && !socket.connected) socket.connect();
    };
    const onGap = () => later(() => void subscribe());

    socket.on('connect', () => {
      silence.heard();
      void subscribe();
    });
    socket.on('connect_error', (error: Error & { data?: { code?: string } }) => {
      if (error.data?.code === 'auth.missing') goToSignIn();
      else lost();
    });
    socket.on('disconnect', (reason) => {
      lost();
      if (reason !== 'io server disconnect') return;
      if (sentAway) socket.connect();
      else later(() => socket.connect());
      sentAway = false;
    });
    socket.on('events', (frame: EventsFrame) => frame.conversationId === conversationId && store.receive(frame.events));
    socket.on(
      'delta',
      (frame: DeltaFrame) => frame.conversationId === conversationId && store.receiveDelta(frame.delta),
    );
    socket.on(
      'inbox',
      (frame: InboxFrame) => frame.conversationId === conversationId && store.queue.set(frame.messages),
    );
    socket.on('review', (frame: ReviewFrame) => {
      if (frame.conversationId === conversationId)
        void queries.invalidateQueries({ queryKey: ['review', orgId, conversationId] });
    });
    socket.on('gone', (frame: GoneFrame) => frame.conversationId === conversationId && store.gone.set(true));
    socket.on('resume', (frame: ResumeFrame) => {
      sentAway = frame.code === 'draining';
      lost();
    });
    document.addEventListener('visibilitychange', wake);
    window.addEventListener('online', wake);
    gaps.addEventListener('gap', onGap);
    return () => {
      clearTimeout(timer);
      silence.stop();
      document.removeEventListener('visibilitychange', wake);
      window.removeEventListener('online', wake);
      gaps.removeEventListener('gap', onGap);
      socket.disconnect();
    };
  }, [store, orgId, conversationId, gaps, queries]);
}

/** Deleted while nothing was heard, or left by the user: asking again would not help. */
const isNotFound = (answer: SubscribeAnswer | undefined): boolean =>
  answer?.ok === false && answer.code === 'resource.not-found';

/** Breaks the connection to a server that hangs: it keeps its connections open, and only its silence tells. */
function watchSilence(socket: Socket): { heard: () => void; stop: () => void } {
  let heardAt = performance.now();
  let pings = 0;
  const heard = () => {
    heardAt = performance.now();
  };
  socket.io.on('ping', () => {
    pings = performance.now() - heardAt < SILENT_MS ? pings + 1 : 0;
    heard();
  });
  const listening = setInterval(() => {
    // One that pings seldom is of an older version.
    if (
      pings > 1 &&
      socket.connected &&
      document.visibilityState === 'visible' &&
      performance.now() - heardAt > SILENT_MS
    )
      socket.io.engine.close();
  }, 1_000);
  return { heard, stop: () => clearInterval(listening) };
}
