'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useStored } from '../../browser/stored.ts';
import { useConversation } from './conversation-context.ts';
import { type Outgoing, readOutgoing, writeOutgoing } from './outgoing-list.ts';

export interface OutgoingMessages {
  readonly messages: ReadonlyArray<Outgoing & { readonly busy: boolean }>;
  readonly send: (text: string) => void;
  readonly retry: (message: Outgoing) => void;
  readonly discard: (id: string) => void;
}

/**
 * Messages from the press of the button until the server has them. What fails stays, with its reason, over a reload
 * too; sent again it has the same id, so it is one message. @param giveBack is handed a text that nobody may send now,
 * because the session is over: it is written again after signing in.
 */
export function useOutgoing(giveBack: (text: string) => void): OutgoingMessages {
  const { store, orgId, conversation } = useConversation();
  const [stored, keep] = useStored(`slipway.message.${conversation.id}.unsent`, '');
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const list = readOutgoing(stored);
  /** What is stored by now, not when this was rendered. */
  const change = (work: (list: readonly Outgoing[]) => readonly Outgoing[]) =>
    keep((before) => writeOutgoing(work(readOutgoing(before))));
  const drop = (id: string) => change((before) => before.filter((each) => each.id !== id));
  const { mutate } = useMutation({
    // One after the other: what was written later does not overtake what is still on its way.
    scope: { id: `messages-of-${conversation.id}` },
    mutationFn: ({ id, text }: Outgoing) =>
      api.sendMessage({
        org: orgId,
        conversation: conversation.id,
        body: { id, text },
        idempotencyKey: id,
        prefer: 'delivery=after-turn',
      }),
    onMutate: ({ id }) => setBusy((before) => new Set([...before, id])),
    onSuccess: (message, { id }) => {
      drop(id);
      const queue = store.queue.get();
      if (!queue.some((queued) => queued.id === message.id)) store.queue.set([...queue, message]);
    },
    onError: (thrown, { id, text }) => {
      const failure = failureOf(thrown);
      if (failure.code === 'auth.missing') {
        drop(id);
        giveBack(text);
      } else {
        const error = [failure.title, failure.detail].filter(Boolean).join('. ');
        change((before) => before.map((each) => (each.id === id ? { ...each, error } : each)));
      }
    },
    onSettled: (_message, _error, { id }) => setBusy((before) => new Set([...before].filter((each) => each !== id))),
  });
  return {
    messages: list.map((message) => ({ ...message, busy: busy.has(message.id) })),
    send: (text) => {
      const message = { id: newId(), text };
      change((before) => [...before, message]);
      mutate(message);
    },
    retry: ({ id, text }) => {
      change((before) => before.map((each) => (each.id === id ? { id, text } : each)));
      mutate({ id, text });
    },
    discard: drop,
  };
}
