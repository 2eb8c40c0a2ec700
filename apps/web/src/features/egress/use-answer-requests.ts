'use client';
import type { AnswerEgressRequest, EgressRequest } from '@slipway/contracts/sandboxes';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { refusalOf } from './card-state.ts';

export type Answer = Pick<AnswerEgressRequest, 'decision' | 'scope' | 'reason' | 'methods'>;
/** What an answer needs of a request: host and port go with it, as they were shown. */
export type Asked = Pick<EgressRequest, 'id' | 'host' | 'port'>;

/** How the answers to some requests came out. */
export interface Outcome {
  readonly decided: readonly EgressRequest[];
  /** Ids of those that another user had answered before. */
  readonly late: readonly string[];
  /** By id. */
  readonly failed: ReadonlyMap<string, unknown>;
}

/**
 * Sends an answer to each of some requests, one by one: each counts, or fails, by itself. Pressing again after a lost
 * response sends the same key, so it counts once. The oldest goes last: while one waits, what shows them stays.
 */
export function useAnswerRequests(
  { orgId, conversationId }: { readonly orgId: string; readonly conversationId: string },
  onOutcome: (outcome: Outcome) => void,
) {
  const keys = useRef(new Map<string, string>());
  return useMutation({
    mutationFn: async ({ answer, requests }: { answer: Answer; requests: readonly Asked[] }): Promise<Outcome> => {
      const decided: EgressRequest[] = [];
      const late: string[] = [];
      const failed = new Map<string, unknown>();
      for (const { id, host, port } of requests.toReversed()) {
        const body = { ...answer, host, port };
        const attempt = JSON.stringify([id, body]);
        const key = keys.current.get(attempt) ?? newId();
        keys.current.set(attempt, key);
        try {
          const of = { org: orgId, conversation: conversationId, request: id };
          decided.push(await api.answerEgressRequest({ ...of, idempotencyKey: key, body }));
        } catch (error) {
          if (refusalOf(failureOf(error).code) === 'answered') late.push(id);
          else failed.set(id, error);
        }
      }
      return { decided, late, failed };
    },
    onSuccess: onOutcome,
  });
}
