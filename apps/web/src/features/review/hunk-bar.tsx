'use client';
import type { FileChange } from '@slipway/contracts/repositories';
import { Button } from '@slipway/ui';
import { ChevronDown, ChevronUp, Undo2 } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { Selection } from '../changes/selection.ts';
import { useCommand } from '../commands/command-context.tsx';
import { useView } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import type { PatchSides } from './patch-sides.ts';
import type { HunkSteps } from './use-hunk-steps.ts';
import { useTurnHunk } from './use-turn-hunk.ts';
import { WrittenBy } from './written-by.tsx';

interface HunkBarProps {
  readonly sides: PatchSides;
  readonly file: FileChange;
  readonly selection: Selection;
  readonly steps: HunkSteps;
}

/** The change that is being looked at: which of them, the way to the next, and what can be done to it. */
export function HunkBar({ file, sides, selection, steps }: HunkBarProps) {
  const t = useTranslations();
  const { org } = useSession();
  const works = useView(({ status }) => status === 'working' || status === 'starting');
  const turn = useTurnHunk(file, selection);
  const { hunks, current, step } = steps;
  const hunk = current === null ? undefined : hunks[current];
  // What a commit did is in the history: only what the worktree holds can be taken back.
  const isOfNow = ['base', 'turn', 'looked'].includes(selection.against);
  const may = org.permissions.includes('conversation:write') && isOfNow;
  const revert =
    may && hunk !== undefined && !works && !turn.isPending
      ? () => turn.mutate({ hunk: hunk.text, direction: 'revert' })
      : null;
  useCommand('review.revert', revert);
  if (hunks.length === 0) return null;
  return (
    <div className="flex flex-col gap-1 border-b border-line px-4 py-1 text-xs">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="tabular-nums text-ink-muted">
          {hunk === undefined || current === null
            ? t('reviewPage.changesInFile', { count: hunks.length })
            : t('reviewPage.changeOf', {
                number: current + 1,
                count: hunks.length,
                from: hunk.at.line,
                to: hunk.at.endLine,
              })}
        </span>
        <Button size="small" tone="quiet" onClick={() => step(-1)} aria-label={t('commands.previousHunk')}>
          <ChevronUp aria-hidden />
        </Button>
        <Button size="small" tone="quiet" onClick={() => step(1)} aria-label={t('commands.nextHunk')}>
          <ChevronDown aria-hidden />
        </Button>
        {may ? (
          <Button size="small" disabled={revert === null} busy={turn.isPending} onClick={() => revert?.()}>
            <Undo2 aria-hidden /> {t('reviewPage.takeBack')}
          </Button>
        ) : null}
        {hunk === undefined ? null : <WrittenBy file={file} selection={selection} sides={sides} at={hunk.at} />}
        {may && works ? <span className="text-ink-muted">{t('reviewPage.waitToTakeBack')}</span> : null}
      </div>
      {turn.error ? <Failed error={turn.error} /> : null}
    </div>
  );
}
