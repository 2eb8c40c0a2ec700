'use client';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { useConversation } from '../conversation/conversation-context.ts';
import { useReach } from '../ports/use-access.ts';
import { LiveConnection } from './live-connection.ts';
import type { LiveChannel, LiveListener, LiveState } from './live-state.ts';
import { forgetWay, wayInto } from './sandbox-way.ts';

const CONNECTING: LiveState = { phase: 'connecting' };

/**
 * A live channel of this conversation's sandbox, as long as the component is there and the sandbox can be reached; it
 * comes back by itself when it was cut. Reaching never starts a sandbox. `LiveNotice` says to the user how it stands.
 *
 * @param address the channel, with its query if it has one: `terminal?shell=x`. Another one is another connection;
 * `null` for none.
 * @param listener may be another one at each render: the newest is called.
 */
export function useLiveChannel(address: string | null, listener: LiveListener): LiveChannel {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const reach = useReach();
  const [state, setState] = useState<LiveState>(CONNECTING);
  const connection = useRef<LiveConnection | null>(null);
  const newest = useRef(listener);
  useEffect(() => {
    newest.current = listener;
  });
  const { id } = conversation;
  const wanted = reach === 'open' ? address : null;
  useEffect(() => {
    if (wanted === null) return;
    const made = new LiveConnection({
      address: wanted,
      t,
      way: () => wayInto(orgId, id),
      forget: () => forgetWay(id),
      listener: {
        onOpen: () => newest.current.onOpen?.(),
        onMessage: (message) => newest.current.onMessage?.(message),
        onBytes: (bytes) => newest.current.onBytes?.(bytes),
      },
      changed: setState,
    });
    connection.current = made;
    return () => {
      connection.current = null;
      made.close();
      setState(CONNECTING);
    };
  }, [wanted, orgId, id, t]);
  const [channel] = useState(() => ({
    send: (message: object) => connection.current?.send(message) ?? false,
    sendBytes: (bytes: Uint8Array<ArrayBuffer>) => connection.current?.sendBytes(bytes) ?? false,
    retry: () => connection.current?.retry(),
  }));
  return { ...channel, state };
}
