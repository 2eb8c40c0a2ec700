'use client';
import type { WorkspaceCommit } from '@slipway/contracts/repositories';
import { AfterDelay, Badge, Button, EmptyState, Skeleton } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { Ago } from '../../browser/ago.tsx';
import { NotKept, NotKnown } from './not-known.tsx';
import { useCommits, useIsAway } from './use-changes.ts';

/** The history of what is checked out, newest first, the commits of this conversation marked. */
export function Commits({ repository, open }: { repository: string | null; open: (hash: string) => void }) {
  const t = useTranslations();
  const commits = useCommits(repository);
  const isAway = useIsAway();
  const { data, error } = commits;
  if (data === undefined && isAway) return <NotKept />;
  if (data === undefined && error) return <NotKnown error={error} retry={() => commits.refetch()} />;
  if (data === undefined)
    return (
      <AfterDelay>
        <div className="flex flex-col gap-3 p-4">
          <Skeleton className="h-8" />
          <Skeleton className="h-8" />
        </div>
      </AfterDelay>
    );
  const list = data.pages.flatMap((page) => page.data);
  if (list.length === 0)
    return <EmptyState title={t('changes.noCommitsYet')}>{t('changes.theRepositoryHasNoHistory')}</EmptyState>;
  return (
    <div className="h-full overflow-auto">
      <ol aria-label={t('changes.commits')}>
        {list.map((commit) => (
          <CommitLine key={commit.hash} commit={commit} open={() => open(commit.hash)} />
        ))}
      </ol>
      {commits.hasNextPage ? (
        <div className="flex justify-center p-3">
          <Button size="small" onClick={() => commits.fetchNextPage()} busy={commits.isFetchingNextPage}>
            {t('changes.olderCommits')}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function CommitLine({ commit, open }: { commit: WorkspaceCommit; open: () => void }) {
  const t = useTranslations();
  const { hash, subject, author, at, files, ofThisWork } = commit;
  return (
    <li className="border-b border-line">
      <button
        type="button"
        onClick={open}
        className="flex w-full flex-col gap-0.5 px-4 py-2 text-left outline-offset-[-2px] hover:bg-raised"
      >
        <span className="flex w-full min-w-0 items-center gap-2 text-sm">
          <span className="min-w-0 flex-1 truncate" title={subject}>
            {subject === '' ? <em className="text-ink-muted">{t('changes.noMessage')}</em> : subject}
          </span>
          {ofThisWork === true ? <Badge>{t('changes.thisWork')}</Badge> : null}
        </span>
        <span className="flex w-full min-w-0 items-center gap-2 text-xs text-ink-muted tabular-nums">
          <code className="shrink-0 font-mono">{hash.slice(0, 7)}</code>
          <span className="truncate">{author}</span>
          <span className="shrink-0">
            <Ago at={at} />
          </span>
          <span className="ml-auto shrink-0">{t('changes.fileCount', { count: files })}</span>
        </span>
      </button>
    </li>
  );
}
