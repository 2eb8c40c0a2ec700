'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useStored } from '../../browser/stored.ts';
import type { KeptFile } from '../attachments/attached-file.ts';
import { useConversation } from './conversation-context.ts';
import { againAfterMs, type Outgoing, readOutgoing, withFiles, writeOutgoing } from './outgoing-list.ts';

export interface OutgoingMessages {
  readonly messages: ReadonlyArray<Outgoing & { readonly busy: boolean }>;
  readonly send: (text: string, files: readonly KeptFile[]) => void;
  readonly retry: (message: Outgoing) => void;
  readonly discard: (id: string) => void;
}

/**
 * Messages from the press of the button until the server has them. While a part of the system does not answer they are
 * sent again; what fails all the same stays, with its reason, over a reload too. It has the same id, so it is one
 * message. @param giveBack is handed a text that nobody may send now, because the session is over or its files are
 * gone: it is sent once that is mended.
 */
export function useOutgoing(giveBack: (text: string, files: readonly KeptFile[]) => void): OutgoingMessages {
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
    mutationFn: ({ id, text, files = [] }: Outgoing) =>
      api.sendMessage({
        org: orgId,
        conversation: conversation.id,
        // A server of the version before refuses a field that it does not know.
        body: { id, text, ...(files.length === 0 ? {} : { attachments: files.map((file) => file.id) }) },
        idempotencyKey: id,
        prefer: 'delivery=after-turn',
      }),
    retry: (failures, error) => againAfterMs(failures, failureOf(error).code) !== null,
    retryDelay: (failures, error) => againAfterMs(failures, failureOf(error).code) ?? 0,
    onMutate: ({ id }) => setBusy((before) => new Set([...before, id])),
    onSuccess: (message, { id }) => {
      drop(id);
      const queue = store.queue.get();
      if (!queue.some((queued) => queued.id === message.id)) store.queue.set([...queue, message]);
    },
    onError: (thrown, { id, text, files = [] }) => {
      const failure = failureOf(thrown);
      if (failure.code === 'auth.missing' || failure.code === 'attachment.unavailable') {
        drop(id);
        // Files that are not there any more cannot be sent again.
        giveBack(text, failure.code === 'auth.missing' ? files : []);
        if (failure.code === 'attachment.unavailable')
          toast.error(failure.title, { description: failure.nextStep || failure.detail });
      } else {
        const error = [failure.title, failure.detail].filter(Boolean).join('. ');
        change((before) => before.map((each) => (each.id === id ? { ...each, error } : each)));
      }
    },
    onSettled: (_message, _error, { id }) => setBusy((before) => new Set([...before].filter((each) => each !== id))),
  });
  return {
    messages: list.map((message) => ({ ...message, busy: busy.has(message.id) })),
    send: (text, files) => {
      const message = { id: newId(), text, ...withFiles(files) };
      change((before) => [...before, message]);
      mutate(message);
    },
    retry: ({ id, text, files }) => {
      const again = { id, text, ...withFiles(files) };
      change((before) => before.map((each) => (each.id === id ? again : each)));
      mutate(again);
    },
    discard: drop,
  };
}
