'use client';
import type { ReviewThread } from '@slipway/contracts/conversations';
import type { FileChange } from '@slipway/contracts/repositories';
import { chapterOf, visibleMarks } from '@slipway/domain/review';
import { Button, Checkbox, SkeletonLines } from '@slipway/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useTranslations } from 'next-intl';
import { type ReactNode, useMemo, useState } from 'react';
import { useChosen } from '../../api/use-chosen.ts';
import type { Selection } from '../changes/selection.ts';
import { useFilePatch } from '../changes/use-changes.ts';
import { useCommand } from '../commands/command-context.tsx';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { HunkBar } from './hunk-bar.tsx';
import { NewComment } from './new-comment.tsx';
import { type LineRange, patchSides } from './patch-sides.ts';
import { placedThreads } from './placed-threads.ts';
import { ThreadCard } from './thread-card.tsx';
import { type Landing, useHunkSteps } from './use-hunk-steps.ts';
import { type ReviewVerbs, useReview, useReviewVerbs } from './use-review.ts';

const ReviewDiff = dynamic(() => import('./review-diff.tsx').then((module) => module.ReviewDiff), {
  ssr: false,
  loading: () => <SkeletonLines className="p-4" />,
});

const NO_THREADS: readonly ReviewThread[] = [];

interface ReviewFileProps {
  readonly file: FileChange;
  readonly base: string | null;
  readonly selection: Selection;
  readonly split: boolean;
  readonly viewed: boolean;
  readonly landing: Landing;
  readonly leave: ((by: 1 | -1) => void) | null;
  /** The thread to bring into sight. */
  readonly thread: string | null;
}

/** One changed file: its lines with the threads on them, and a box for a comment on the lines that are chosen. */
export function ReviewFile({ file, base, selection, split, viewed, landing, leave, thread }: ReviewFileProps) {
  const { org } = useSession();
  const patch = useFilePatch(file.path, selection);
  const sides = useMemo(() => patchSides(patch.data ?? ''), [patch.data]);
  const threads = useReview().data?.threads ?? NO_THREADS;
  const verbs = useReviewVerbs();
  const [range, setRange] = useState<LineRange | null>(null);
  const [writes, setWrites] = useState<'comment' | 'suggestion' | null>(null);
  const steps = useHunkSteps({ sides, landing, leave, onStep: setRange });
  const placed = useMemo(
    () =>
      placedThreads(
        threads.filter(({ anchor }) => anchor.path === file.path && anchor.repository === selection.repository),
        sides,
      ),
    [threads, file.path, selection.repository, sides],
  );
  const mayWrite = org.permissions.includes('conversation:write');
  const first = sides.hunks[0]?.at;
  const write = (what: 'comment' | 'suggestion') => () => {
    if (range === null && first !== undefined) setRange(first);
    setWrites(what);
  };
  useCommand('review.comment', mayWrite && first !== undefined ? write('comment') : null);
  useCommand('review.suggest', mayWrite && first !== undefined ? write('suggestion') : null);
  return (
    <article aria-label={visibleMarks(file.path)}>
      <FileHeader file={file} viewed={viewed} view={verbs.view} />
      <HunkBar file={file} sides={sides} selection={selection} steps={steps} />
      {writes !== null && range !== null ? (
        <NewComment
          range={range}
          sides={sides}
          file={{ path: file.path, base, repository: selection.repository }}
          begin={verbs.begin}
          suggests={writes === 'suggestion'}
          onSuggest={(suggests) => setWrites(suggests ? 'suggestion' : 'comment')}
          onClose={(saved) => {
            setWrites(null);
            if (saved) setRange(null);
          }}
        />
      ) : null}
      {placed
        .filter(({ at }) => at === null)
        .map((each) => (
          <ThreadCard
            key={each.thread.id}
            thread={each.thread}
            outdated={patch.data !== undefined}
            inSight={each.thread.id === thread}
            verbs={verbs}
          />
        ))}
      <Lines file={file} patch={patch} isEmpty={sides.hunks.length === 0}>
        <ReviewDiff
          patch={patch.data ?? ''}
          split={split}
          range={range}
          sight={steps.sight}
          thread={thread}
          placed={placed}
          verbs={verbs}
          onRange={(next) => {
            setRange(next);
            if (next !== null && mayWrite && writes === null) setWrites('comment');
          }}
        />
      </Lines>
    </article>
  );
}

/** Lines when there are some to show, else why not. Those of a generated file are shown when asked for. */
function Lines({
  file,
  patch,
  isEmpty,
  children,
}: {
  file: FileChange;
  patch: UseQueryResult<string | null>;
  isEmpty: boolean;
  children: ReactNode;
}) {
  const t = useTranslations();
  const [unfolded, setUnfolded] = useState(chapterOf(file.path) !== 'generated');
  const note = (text: string) => <p className="p-4 text-sm text-ink-muted">{text}</p>;
  if (file.binary) return note(t('reviewPage.binary', { hash: file.hash ?? '' }));
  if (patch.data === null) return note(t('changes.thisDiffIsTooLarge'));
  if (patch.data === undefined && patch.error)
    return <Failed error={patch.error} retry={() => patch.refetch()} className="m-3" />;
  if (patch.data === undefined) return <SkeletonLines className="p-4" />;
  if (isEmpty) return note(t('changes.noLinesChangedTheFile'));
  if (unfolded) return children;
  return (
    <p className="p-4">
      <Button size="small" onClick={() => setUnfolded(true)}>
        {t('reviewPage.showGenerated')}
      </Button>
    </p>
  );
}

/** Its name, how much changed, and whether the user has viewed it. */
function FileHeader({ file, viewed, view }: Pick<ReviewFileProps, 'file' | 'viewed'> & Pick<ReviewVerbs, 'view'>) {
  const t = useTranslations();
  const { hash } = file;
  const [isTicked, setTicked] = useChosen(viewed, view.isPending);
  return (
    <header className="sticky top-0 z-10 flex flex-wrap items-center gap-3 border-b border-line bg-surface px-4 py-1.5">
      <h2 className="min-w-0 flex-1 truncate font-mono text-sm">
        <bdi dir="ltr">{visibleMarks(file.path)}</bdi>
      </h2>
      <span className="text-xs tabular-nums">
        <span className="text-ok">+{file.additions}</span> <span className="text-bad">−{file.deletions}</span>
      </span>
      <Checkbox
        label={t('reviewPage.viewed')}
        checked={isTicked}
        disabled={hash === undefined}
        onChange={(checked) => {
          setTicked(checked);
          view.mutate({ path: file.path, hash: checked && hash !== undefined ? hash : null });
        }}
      />
    </header>
  );
}
