'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { type FoundFiles, mentionName, type Suggestion, type Suggestions } from './suggestion.ts';
import type { Token } from './token.ts';

/** Most lines of one kind: the list is read, not searched. */
const MOST = 6;
const MOST_PROMPTS = 20;
/** Quiet time after the last letter before the server is asked. Milliseconds. */
const SETTLE_MS = 150;
/** Longest that is searched for; a longer word names nothing. UTF-16 code units. */
const MAX_SEARCH = 100;

const NONE: Suggestions = { lines: [], isBusy: false, note: null };

/**
 * What is offered at the caret: what may be mentioned, or saved prompts.
 * @param files what was found of the letters; `null`: there is no workspace yet.
 */
export function useSuggestions(token: Token | null, files: FoundFiles | null): Suggestions {
  const mentions = useMentions(token?.mark === '@' ? token.query : null, files);
  const prompts = usePrompts(token?.mark === '/' ? token.query : null);
  return token?.mark === '/' ? prompts : mentions;
}

/** The user's own prompts and the organization's whose name or description has the letters. */
function usePrompts(typed: string | null): Suggestions {
  const t = useTranslations();
  const { org } = useSession();
  const query = useSettled(typed);
  const search = query === null || query === '' ? {} : { search: query };
  const isAsked = query !== null && typed !== null && org.permissions.includes('prompt:read');
  const prompts = useQuery({
    queryKey: ['prompts', org.id, 'mention', search],
    queryFn: ({ signal }) => api.listPrompts({ org: org.id, query: { limit: MOST_PROMPTS, ...search }, signal }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  if (typed === null) return NONE;
  const lines = (prompts.data?.data ?? []).map(
    ({ id, name, description, scope, text }): Suggestion => ({
      key: id,
      kind: 'prompt',
      label: `/${name}`,
      detail: description || t(scope === 'org' ? 'mention.promptOfOrganization' : 'mention.promptOfYours'),
      writes: { kind: 'prompt', text },
    }),
  );
  const isBusy = typed !== query || prompts.isLoading || prompts.isPlaceholderData;
  return {
    lines,
    isBusy,
    note: prompts.isError
      ? t('mention.notAllRead')
      : !isBusy && typed === '' && lines.length === 0
        ? t('mention.noPrompts')
        : null,
  };
}

/** Files, conversations and users that this user may read. */
function useMentions(typed: string | null, files: FoundFiles | null): Suggestions {
  const t = useTranslations();
  const { org, me } = useSession();
  const wanted = typed?.slice(0, MAX_SEARCH) ?? null;
  const query = useSettled(wanted);
  const search = query === null || query.trim() === '' ? {} : { search: query.trim() };
  // As `mentionName` writes it.
  const name = search.search === undefined ? {} : { search: search.search.replaceAll('-', ' ') };
  const isAsked = query !== null && wanted !== null;
  const conversations = useQuery({
    queryKey: ['conversations', org.id, 'mention', search],
    queryFn: ({ signal }) =>
      api.listConversations({ org: org.id, query: { limit: MOST, sort: 'updated', ...search }, signal }),
    enabled: isAsked && org.permissions.includes('conversation:read'),
    placeholderData: keepPreviousData,
  });
  const members = useQuery({
    queryKey: ['members', org.id, 'mention', name],
    queryFn: ({ signal }) => api.listMembers({ org: org.id, query: { limit: MOST, ...name }, signal }),
    enabled: isAsked && org.permissions.includes('member:read'),
    placeholderData: keepPreviousData,
  });
  if (wanted === null) return NONE;
  return {
    lines: [
      ...(files?.paths ?? []).slice(0, MOST).map(fileLine),
      ...(members.data?.data ?? [])
        .filter(({ userId, deactivated }) => userId !== me.id && !deactivated)
        .map(({ userId, name, email }): Suggestion => {
          const written = mentionName(name);
          return { key: userId, kind: 'user', label: name, detail: email, writes: { kind: 'name', name: written } };
        })
        .filter(({ writes }) => writes.kind === 'name' && writes.name !== ''),
      ...(conversations.data?.data ?? []).map(
        ({ id, title, createdBy }): Suggestion => ({
          key: id,
          kind: 'conversation',
          label: title,
          detail: createdBy.label,
          writes: { kind: 'conversation', id },
        }),
      ),
    ],
    isBusy: (files?.isBusy ?? false) || wanted !== query || conversations.isFetching || members.isFetching,
    note:
      files === null
        ? t('mention.filesAfterStart')
        : files.isAway
          ? t('mention.filesWhileAway')
          : conversations.isError || members.isError
            ? t('mention.notAllRead')
            : null,
  };
}

function fileLine(path: string): Suggestion {
  const at = path.lastIndexOf('/');
  return {
    key: path,
    kind: 'file',
    label: path.slice(at + 1),
    detail: at <= 0 ? null : path.slice(0, at),
    writes: { kind: 'file', path },
  };
}

/** The value once it has stayed the same for a moment; `null` at once. */
function useSettled(value: string | null): string | null {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === null) return setSettled(null);
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
