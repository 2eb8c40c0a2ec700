'use client';
import { useEffect, useMemo, useState } from 'react';
import { useView } from '../conversation/conversation-context.ts';
import { mentionsIn } from './mentions.ts';
import type { FoundFiles } from './suggestion.ts';
import type { Token } from './token.ts';
import { useFileFinder } from './use-file-finder.ts';

export interface FileMentions {
  /** What is offered at the caret. */
  readonly found: FoundFiles;
  /** Files of the text that were looked for, and whether they are there. */
  readonly checks: ReadonlyMap<string, boolean>;
}

/** Files for the list, and, while no list is open, whether the mentioned ones are there: one after the other. */
export function useFileMentions(text: string, token: Token | null): FileMentions {
  const [checks, setChecks] = useState<ReadonlyMap<string, boolean>>(new Map());
  const status = useView((view) => view.status);
  // What was not there may be when the agent has worked, and the other way round.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the status is what they are forgotten by
  useEffect(() => setChecks(new Map()), [status]);
  const mentioned = useMemo(
    () => mentionsIn(text).flatMap(({ mentioned: each }) => (each.kind === 'file' ? [each.path] : [])),
    [text],
  );
  const unchecked = token !== null ? undefined : mentioned.find((path) => !checks.has(path));
  const found = useFileFinder((token?.mark === '@' ? token.query : unchecked) ?? null);
  const { paths, isBusy, isAway } = found;
  useEffect(() => {
    if (unchecked === undefined || isBusy || isAway) return;
    const isThere = paths.includes(unchecked);
    setChecks((before) => new Map(before).set(unchecked, isThere));
  }, [unchecked, paths, isBusy, isAway]);
  return { found, checks };
}
