'use client';
import { ApiError } from '@slipway/api-client';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { type Mentioned, mentionsIn } from './mentions.ts';
import { mentionName } from './suggestion.ts';

export interface Checked {
  readonly key: string;
  readonly mentioned: Mentioned;
  /** What it is called; of a conversation its title. */
  readonly label: string;
  /** `unknown`: it could not be looked up, or is still being looked up. */
  readonly state: 'found' | 'missing' | 'unknown';
}

/** Statuses that say that it is not there, not for this user, or that the id is none. */
const GONE: readonly number[] = [400, 404, 410];
/** More chips would be longer than the message. */
const MOST = 12;

/**
 * What a text mentions, each once, and whether it is there for this user.
 * @param files those that were looked for.
 */
export function useChecked(text: string, files: ReadonlyMap<string, boolean>): readonly Checked[] {
  const { org } = useSession();
  const mentions = useMemo(() => {
    const byKey = new Map(mentionsIn(text).map(({ mentioned }) => [JSON.stringify(mentioned), mentioned]));
    return [...byKey].slice(0, MOST);
  }, [text]);
  const answers = useQueries({
    queries: mentions.map(([, mentioned]) => ({
      queryKey: ['mentioned', org.id, mentioned],
      queryFn: ({ signal }: { signal: AbortSignal }) => lookUp(org.id, mentioned, signal),
      enabled: mentioned.kind !== 'file',
      staleTime: 30_000,
    })),
  });
  return mentions.map(([key, mentioned], index) => {
    const isThere = mentioned.kind === 'file' ? files.get(mentioned.path) : answers[index]?.data?.isThere;
    return {
      key,
      mentioned,
      label: answers[index]?.data?.label ?? wordsOf(mentioned),
      state: isThere === undefined ? 'unknown' : isThere ? 'found' : 'missing',
    };
  });
}

const wordsOf = (mentioned: Mentioned): string =>
  mentioned.kind === 'file' ? mentioned.path : mentioned.kind === 'name' ? mentioned.name : mentioned.id;

interface Answer {
  readonly isThere: boolean;
  readonly label: string | null;
}

/** @throws ApiError for whatever does not say that it is not there. */
async function lookUp(org: string, mentioned: Mentioned, signal: AbortSignal): Promise<Answer> {
  if (mentioned.kind === 'conversation') {
    try {
      const { title } = await api.getConversation({ org, conversation: mentioned.id, signal });
      return { isThere: true, label: title };
    } catch (error) {
      if (error instanceof ApiError && GONE.includes(error.problem.status)) return { isThere: false, label: null };
      throw error;
    }
  }
  const name = wordsOf(mentioned);
  const search = name.replaceAll('-', ' ').slice(0, 100);
  const { data } = await api.listMembers({ org, query: { limit: 20, search }, signal });
  const member = data.find(({ name: each }) => mentionName(each) === name);
  return { isThere: member !== undefined, label: member?.name ?? null };
}
