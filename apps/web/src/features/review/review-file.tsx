'use client';
import type { FileChange } from '@slipway/contracts/repositories';
import { chapterOf, visibleMarks } from '@slipway/domain/review';
import { Button, Checkbox, SkeletonLines } from '@slipway/ui';
import dynamic from 'next/dynamic';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import type { Selection } from '../changes/selection.ts';
import { useFilePatch } from '../changes/use-changes.ts';
import { useCommand } from '../commands/command-context.tsx';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { CommentBox } from './comment-box.tsx';
import { patchSides } from './patch-sides.ts';
import { anchorTo, type LineRange, placedThreads } from './placed-threads.ts';
import { ThreadCard } from './thread-card.tsx';
import { type ReviewVerbs, useReview, useReviewVerbs } from './use-review.ts';

const ReviewDiff = dynamic(() => import('./review-diff.tsx').then((module) => module.ReviewDiff), {
  ssr: false,
  loading: () => <SkeletonLines className="p-4" />,
});

interface ReviewFileProps {
  readonly file: FileChange;
  readonly base: string | null;
  readonly selection: Selection;
  readonly split: boolean;
  readonly viewed: boolean;
}

/** One changed file: its lines with the threads on them, and a box for a comment on the lines that are chosen. */
export function ReviewFile({ file, base, selection, split, viewed }: ReviewFileProps) {
  const t = useTranslations();
  const { org } = useSession();
  const { conversation } = useConversation();
  const patch = useFilePatch(file.path, selection);
  const sides = useMemo(() => patchSides(patch.data ?? ''), [patch.data]);
  const threads = useReview().data?.threads ?? [];
  const verbs = useReviewVerbs();
  const [range, setRange] = useState<LineRange | null>(null);
  const [writes, setWrites] = useState(false);
  const [unfolded, setUnfolded] = useState(chapterOf(file.path) !== 'generated');
  const placed = placedThreads(
    threads.filter(({ anchor }) => anchor.path === file.path && anchor.repository === selection.repository),
    sides,
  );
  const mayWrite = org.permissions.includes('conversation:write');
  const first = sides.hunks[0];
  const write = () => {
    if (range === null && first !== undefined) setRange({ side: 'new', line: first, endLine: first });
    setWrites(true);
  };
  useCommand('review.comment', mayWrite && first !== undefined ? write : null);
  const save = (text: string, done: () => void) => {
    const anchor =
      range === null ? null : anchorTo(range, sides, { path: file.path, base, repository: selection.repository });
    if (anchor === null) return;
    verbs.begin.mutate(
      { anchor, text },
      {
        onSuccess: () => {
          done();
          setWrites(false);
          setRange(null);
        },
      },
    );
  };
  return (
    <article aria-label={visibleMarks(file.path)}>
      <FileHeader file={file} viewed={viewed} view={verbs.view} />
      {writes && range !== null ? (
        <div className="border-b border-line p-3">
          <CommentBox
            draft={`${conversation.id}.${file.path}`}
            label={t('reviewPage.commentOn', { from: range.line, to: range.endLine })}
            busy={verbs.begin.isPending}
            onSave={save}
            onCancel={() => setWrites(false)}
          />
          {verbs.begin.error ? <Failed error={verbs.begin.error} /> : null}
        </div>
      ) : null}
      {placed
        .filter(({ at }) => at === null)
        .map(({ thread }) => (
          <ThreadCard key={thread.id} thread={thread} outdated={patch.data !== undefined} verbs={verbs} />
        ))}
      {file.binary ? (
        <p className="p-4 text-sm text-ink-muted">{t('reviewPage.binary', { hash: file.hash ?? '' })}</p>
      ) : patch.data === null ? (
        <p className="p-4 text-sm text-ink-muted">{t('changes.thisDiffIsTooLarge')}</p>
      ) : patch.data === undefined && patch.error ? (
        <Failed error={patch.error} retry={() => patch.refetch()} className="m-3" />
      ) : patch.data === undefined ? (
        <SkeletonLines className="p-4" />
      ) : sides.hunks.length === 0 ? (
        <p className="p-4 text-sm text-ink-muted">{t('changes.noLinesChangedTheFile')}</p>
      ) : unfolded ? (
        <ReviewDiff
          patch={patch.data}
          split={split}
          range={range}
          placed={placed}
          verbs={verbs}
          onRange={(next) => {
            setRange(next);
            if (next !== null && mayWrite) setWrites(true);
          }}
        />
      ) : (
        <p className="p-4">
          <Button size="small" onClick={() => setUnfolded(true)}>
            {t('reviewPage.showGenerated')}
          </Button>
        </p>
      )}
    </article>
  );
}

/** Its name, how much changed, and whether the user has viewed it. */
function FileHeader({ file, viewed, view }: Pick<ReviewFileProps, 'file' | 'viewed'> & Pick<ReviewVerbs, 'view'>) {
  const t = useTranslations();
  const { hash } = file;
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
        checked={viewed}
        disabled={hash === undefined}
        onChange={(checked) => view.mutate({ path: file.path, hash: checked && hash !== undefined ? hash : null })}
      />
    </header>
  );
}
