'use client';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { useConversation } from '../conversation/conversation-context.ts';
import { repositoryFolder } from '../conversation/workspace-path.ts';
import { LiveRequests } from '../files/live-requests.ts';
import { useLiveChannel } from '../live/use-live-channel.ts';
import { useReach } from '../ports/use-access.ts';
import type { FoundFiles } from './suggestion.ts';

/** Quiet time after the last letter. Milliseconds. */
const SETTLE_MS = 120;

interface Found {
  readonly query: string;
  /** `null`: nobody answered. */
  readonly paths: readonly string[] | null;
}

const NOTHING: FoundFiles = { paths: [], isBusy: false, isAway: false };

/**
 * Files of this conversation's workspace whose path has the letters of `query`, relative to the repository. Connects
 * only while there is a query; never starts a sandbox.
 * @param query `null`: nothing is looked for.
 */
export function useFileFinder(query: string | null): FoundFiles {
  const t = useTranslations();
  const { conversation } = useConversation();
  const reach = useReach();
  const isWanted = query !== null;
  const [requests] = useState(() => new LiveRequests(() => {}, t));
  const { send, state } = useLiveChannel(isWanted ? 'files' : null, {
    onMessage: (message) => requests.receive(message),
  });
  const isOpen = state.phase === 'open';
  const [found, setFound] = useState<Found | null>(null);
  useEffect(() => {
    if (query === null || !isOpen) return;
    requests.over(send);
    let isOver = false;
    const timer = setTimeout(() => {
      requests.ask({ type: 'find', query: query.trim() }, 'found').then(
        ({ paths }) => !isOver && setFound({ query, paths }),
        () => !isOver && setFound({ query, paths: null }),
      );
    }, SETTLE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [requests, send, query, isOpen]);
  // Looked for again it may be there, or gone.
  useEffect(() => {
    if (!isWanted) setFound(null);
  }, [isWanted]);
  useEffect(() => {
    if (!isOpen) requests.lost();
  }, [requests, isOpen]);
  if (query === null) return NOTHING;
  const isAway = reach !== 'open' || state.phase === 'refused' || (found?.query === query && found.paths === null);
  // Where the agent works; what lies beside it keeps its folder.
  const folder = `${repositoryFolder(conversation.repository)}/`;
  return {
    paths: isAway
      ? []
      : (found?.paths?.map((path) => (path.startsWith(folder) ? path.slice(folder.length) : path)) ?? []),
    isBusy: !isAway && found?.query !== query,
    isAway,
  };
}
