'use client';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { copyText } from '../../browser/copy-button.tsx';
import { useCommand } from '../commands/command-context.tsx';
import { linkTo } from './reveal.ts';
import { beginsTurn, isFailure } from './row-name.ts';
import type { Row } from './timeline-row.ts';

/** Where the reader is, and how they are brought to another row of those that are loaded. */
interface Reading {
  /** Place of the row with the focus; -1: none, so the last row in sight counts. */
  readonly focused: number;
  readonly inSight: () => number;
  readonly goTo: (index: number) => void;
}

/** The commands that lead from row to row: turns, failures, and a link to where one is. */
export function useRowCommands(rows: readonly Row[], { focused, inSight, goTo }: Reading): void {
  const t = useTranslations();
  const go = (is: (row: Row) => boolean, step: -1 | 1) => () => {
    const from = focused >= 0 ? focused : inSight();
    for (let at = from + step; at >= 0 && at < rows.length; at += step) {
      const row = rows[at];
      if (row !== undefined && is(row)) return goTo(at);
    }
  };
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
