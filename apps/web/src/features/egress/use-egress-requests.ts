'use client';
import type { EgressRequest, EgressRequestList } from '@slipway/contracts/sandboxes';
import { type QueryClient, queryOptions, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api } from '../../api/client.ts';
import { type ConversationScope, useConversation, useView } from '../conversation/conversation-context.ts';

/** Least time between two reads, however many events a sandbox writes into its log. Milliseconds. */
const READ_EVERY_MS = 1_000;

interface ReadRequests {
  readonly requests: readonly EgressRequest[];
  /** Every host is let through for now; `false` too where an older server says nothing of it. */
  readonly observes: boolean;
  /** Whether an answer may be limited to reading. */
  readonly opensHosts: boolean;
  /** `undefined` where an older server says nothing of it. */
  readonly sent: EgressRequestList['sent'] | undefined;
  /** Every event of the log up to here was there when the server was asked. */
  readonly upTo: number;
}

const requestsOf = ({ orgId, conversation, store }: ConversationScope) =>
  queryOptions({
    queryKey: ['egress-requests', orgId, conversation.id],
    queryFn: async ({ signal }): Promise<ReadRequests> => {
      const upTo = store.view.get().lastSeq;
      const { data, unknown, opensHosts, sent } = await api.listEgressRequests({
        org: orgId,
        conversation: conversation.id,
        signal,
      });
      return { requests: data, observes: unknown === 'observe', opensHosts: opensHosts === true, sent, upTo };
    },
    refetchOnWindowFocus: false,
  });

/** Requests of the conversation's sandbox; read when the conversation opens, and after each event about one. */
export function useEgressRequests(): UseQueryResult<ReadRequests> {
  const scope = useConversation();
  const queries = useQueryClient();
  const at = useView((view) => view.egressAt);
  const readAt = useRef(0);
  useEffect(() => {
    if (at === 0) return;
    const read = () => {
      readAt.current = Date.now();
      void reread(queries, scope);
    };
    const timer = setTimeout(read, Math.max(0, readAt.current + READ_EVERY_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [at, scope, queries]);
  return useQuery(requestsOf(scope));
}

/** What the card has read up to a position of the log; `undefined` before. Asks the server for nothing. */
export function useRequestsReadUpTo(seq: number): readonly EgressRequest[] | undefined {
  const { data } = useQuery({ ...requestsOf(useConversation()), enabled: false });
  return data === undefined || data.upTo < seq ? undefined : data.requests;
}

/** What the conversation had sent when the card was read last. Asks the server for nothing. */
export function useSent(): EgressRequestList['sent'] | undefined {
  return useQuery({ ...requestsOf(useConversation()), enabled: false }).data?.sent;
}

const reread = (queries: QueryClient, scope: ConversationScope): Promise<void> =>
  queries.invalidateQueries({ queryKey: requestsOf(scope).queryKey });

/** Puts answers of the server into the list at once, and reads the list anew. */
export function useKeepEgressRequest(): {
  readonly keep: (requests: readonly EgressRequest[]) => void;
  readonly reread: () => Promise<void>;
} {
  const scope = useConversation();
  const queries = useQueryClient();
  return {
    keep: (requests) =>
      queries.setQueryData(requestsOf(scope).queryKey, (read) => {
        const answered = new Map(requests.map((request) => [request.id, request]));
        return read && { ...read, requests: read.requests.map((one) => ({ ...one, ...answered.get(one.id) })) };
      }),
    reread: () => reread(queries, scope),
  };
}
