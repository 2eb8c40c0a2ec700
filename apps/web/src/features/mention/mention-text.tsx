'use client';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { Fragment } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { mentionsIn } from './mentions.ts';

/** A text in which a conversation that is mentioned is a link with its title. */
export function MentionText({ text }: { text: string }) {
  let from = 0;
  const parts = mentionsIn(text).flatMap(({ start, end, mentioned }) => {
    if (mentioned.kind !== 'conversation') return [];
    const before = text.slice(from, start);
    from = end;
    return [
      <Fragment key={start}>
        {before}
        <ConversationLink id={mentioned.id} written={text.slice(start, end)} />
      </Fragment>,
    ];
  });
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}

/** What this user may not read, or is gone, stays as it was written. */
function ConversationLink({ id, written }: { id: string; written: string }) {
  const { org } = useSession();
  const { data } = useQuery({
    queryKey: ['mentioned', org.id, 'title', id],
    queryFn: ({ signal }) => api.getConversation({ org: org.id, conversation: id, signal }),
    retry: false,
    staleTime: 60_000,
  });
  if (data === undefined) return written;
  return (
    <Link
      href={`/${org.slug}/conversations/${id}`}
      className="text-accent underline-offset-2 hover:underline"
      title={id}
    >
      @{data.title}
    </Link>
  );
}
