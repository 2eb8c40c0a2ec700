'use client';
import type { Changes, WorkspaceCommits, WorkspaceRepositories } from '@slipway/contracts/repositories';
import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { isKept, queryOf, type Selection } from './selection.ts';

/** Quiet time after a step that may have changed files, and the longest wait while steps keep coming. Milliseconds. */
const SETTLE_MS = 800;
const AT_MOST_MS = 4_000;

const OWN_SINCE_BASE: Selection = { against: 'base', repository: null };

/** The conversation says that its sandbox is away: what only a sandbox knows is not asked for until it is back. */
export function useIsAway(): boolean {
  return useView(({ status }) => status === 'paused' || status === 'starting');
}

/**
 * The files that differ, by default from where the work began; of a folder, those below it. Asked for once
 * there is a workspace.
 */
export function useChanges(
  selection: Selection = OWN_SINCE_BASE,
  folder: string | null = null,
): UseQueryResult<Changes> {
  const { orgId, conversation } = useConversation();
  const isAway = useIsAway();
  const wanted = useView((view) => view.hadWorkspace) && (isKept(selection) || !isAway);
  return useQuery({
    queryKey: ['changes', orgId, conversation.id, selection.against, selection.repository, folder],
    queryFn: ({ signal }) =>
      api.getChanges({
        org: orgId,
        conversation: conversation.id,
        query: { ...queryOf(selection), ...(folder === null ? {} : { folder }) },
        signal,
      }),
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: retriedUnlessKnown,
  });
}

/**
 * Repositories of the workspace; only a sandbox that is there knows them. Of one that is away, as they were last seen
 * here.
 */
export function useRepositories(): UseQueryResult<WorkspaceRepositories> {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const wanted = useView((view) => view.hadWorkspace);
  const queryKey = ['repositories', orgId, conversation.id];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const now = await api.listRepositories({ org: orgId, conversation: conversation.id, signal });
      return now.live ? now : (queries.getQueryData<WorkspaceRepositories>(queryKey) ?? now);
    },
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: retriedUnlessKnown,
  });
}

/** The history of one repository, newest first. */
export function useCommits(repository: string | null): UseInfiniteQueryResult<InfiniteData<WorkspaceCommits>> {
  const { orgId, conversation } = useConversation();
  const isAway = useIsAway();
  return useInfiniteQuery({
    queryKey: ['commits', orgId, conversation.id, repository],
    queryFn: ({ pageParam, signal }) =>
      api.listCommits({
        org: orgId,
        conversation: conversation.id,
        query: { ...(repository === null ? {} : { repository }), ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ page }) => page.nextCursor,
    enabled: !isAway,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: retriedUnlessKnown,
  });
}

/** What a sandbox that is away does not know, another try does not bring. */
function retriedUnlessKnown(failures: number, error: Error): boolean {
  return failures < 2 && !/^(changes|conversation|repository)\./.test(failureOf(error).code ?? '');
}

/** Has the changes read again when the log says that they may be others, never on a timer. Used once a page. */
export function useFreshChanges(): void {
  const { store, orgId, conversation } = useConversation();
  const queries = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let since = 0;
    let seen = store.view.get().filesTouchedAt;
    let status = store.view.get().status;
    const refresh = () => {
      timer = undefined;
      for (const what of ['changes', 'diff', 'repositories', 'commits'])
        void queries.invalidateQueries({ queryKey: [what, orgId, conversation.id] });
    };
    const unsubscribe = store.view.subscribe(() => {
      const view = store.view.get();
      if (view.filesTouchedAt === seen && view.status === status) return;
      seen = view.filesTouchedAt;
      status = view.status;
      if (timer === undefined) since = performance.now();
      clearTimeout(timer);
      timer = setTimeout(refresh, Math.max(0, Math.min(SETTLE_MS, since + AT_MOST_MS - performance.now())));
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [store, queries, orgId, conversation.id]);
}

/** Longest patch that is read for the page; the download has the rest. UTF-16 code units. */
const READ_AT_MOST = 2_000_000;

/** The patch of one file; `null` when it is too long to be shown. */
export function useFilePatch(path: string, selection: Selection): UseQueryResult<string | null> {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const isAway = useIsAway();
  const queryKey = ['diff', orgId, conversation.id, selection.against, selection.repository, path];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) =>
      textUpTo(
        READ_AT_MOST,
        await api.downloadDiff({
          org: orgId,
          conversation: conversation.id,
          query: { ...queryOf(selection), path },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    // What is shown stays until the sandbox is back.
    enabled: isKept(selection) || !isAway || queries.getQueryData(queryKey) === undefined,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  });
}

/** The text of an answer, or `null` as soon as it is longer than `limit`: the rest is then not fetched. */
async function textUpTo(limit: number, response: Response): Promise<string | null> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    text += piece.value;
    if (text.length <= limit) continue;
    await reader?.cancel();
    return null;
  }
  return text;
}
