'use client';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { toast } from 'sonner';
import { copyText } from '../../browser/copy-button.tsx';
import { useCommand } from '../commands/command-context.tsx';
import { linkTo } from './reveal.ts';
import { beginsTurn, isFailure } from './row-name.ts';
import type { Row } from './timeline-row.ts';
import type { HistoryPages } from './use-history-pages.ts';

/** Where the reader is, and how they are brought to another row. */
interface Reading {
  /** Place of the row with the focus; -1: none, so the last row in sight counts. */
  readonly focused: number;
  readonly inSight: () => number;
  readonly goTo: (index: number) => void;
  /** Pages that are not loaded; `top`: none is above the rows. */
  readonly history: HistoryPages;
  readonly top: boolean;
}

/** What a command looks for, from which row on. */
interface Sought {
  readonly is: (row: Row) => boolean;
  readonly step: -1 | 1;
  readonly from: string;
}

/** The commands that lead from row to row: turns, failures, and a link to where one is. */
export function useRowCommands(rows: readonly Row[], { focused, inSight, goTo, history, top }: Reading): void {
  const t = useTranslations();
  const [sought, setSought] = useState<Sought | null>(null);
  const { state, load } = history;
  const go = (is: (row: Row) => boolean, step: -1 | 1) => () => {
    const from = rows[focused >= 0 ? focused : inSight()];
    if (from !== undefined) setSought({ is, step, from: from.key });
  };
  useEffect(() => {
    if (sought === null) return;
    const from = rows.findLastIndex((row) => row.key === sought.from);
    if (from < 0) return setSought(null);
    let at = from + sought.step;
    for (; at >= 0 && at < rows.length; at += sought.step) {
      const row = rows[at];
      if (row !== undefined && (row.kind === 'gap' || sought.is(row))) break;
    }
    // Above the rows, or among what is missing: a page of it is read, and the search goes on with it.
    const isMissing = rows[at]?.kind === 'gap';
    if (isMissing || (at < 0 && !top)) {
      if (state === 'loading') return;
      if (state === 'idle') return load(!isMissing ? 'above' : sought.step > 0 ? 'after-apart' : 'before-rest');
      return setSought(null);
    }
    setSought(null);
    if (at >= 0 && at < rows.length) goTo(at);
  }, [sought, rows, top, state, load, goTo]);
  const any = rows.length > 0;
  useCommand('turn.previous', any ? go(beginsTurn, -1) : null);
  useCommand('turn.next', any ? go(beginsTurn, 1) : null);
  useCommand('failure.previous', any ? go(isFailure, -1) : null);
  useCommand('failure.next', any ? go(isFailure, 1) : null);
  const row = rows[focused];
  useCommand(
    'row.copy-link',
    row === undefined
      ? null
      : () =>
          void copyText(t, Promise.resolve(linkTo(row.seq))).then(
            (copied) => copied && toast.success(t('reading.linkCopied')),
          ),
  );
}
