'use client';
import { downloadUrls } from '@slipway/api-client';
import type { FileChange } from '@slipway/contracts/repositories';
import { Badge, Button, cn, EmptyState, SkeletonLines } from '@slipway/ui';
import { ChevronRight, Download } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useEffect, useRef } from 'react';
import { failureOf } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { PullRequestCard } from '../pull-request/pull-request-card.tsx';
import { useSession } from '../session/me.ts';
import { ChangesBar } from './changes-bar.tsx';
import { Commits } from './commits.tsx';
import { totalsOf } from './listing.ts';
import { NotKept, NotKnown } from './not-known.tsx';
import { isKept, queryOf, type Selection, useChangesAddress } from './selection.ts';
import { useChanges, useIsAway } from './use-changes.ts';

const FilePatch = dynamic(() => import('./file-patch.tsx').then((module) => module.FilePatch), {
  ssr: false,
  loading: () => <SkeletonLines className="p-2" />,
});

/** Files that the panel lists; the review has all of them. */
const SHOWN_AT_MOST = 300;

const STATUS_WORDS: Record<FileChange['status'], { letter: string; word: string; className: string }> = {
  ADDED: { letter: 'A', word: 'added', className: 'text-ok' },
  DELETED: { letter: 'D', word: 'deleted', className: 'text-bad' },
  UPDATED: { letter: 'M', word: 'changed', className: 'text-warn' },
  MOVED: { letter: 'R', word: 'moved', className: 'text-accent' },
};

/**
 * What differs from where the work began, from the last message, or what one commit did; in each repository of the
 * workspace.
 */
export function Changes() {
  const t = useTranslations();
  const starting = useView((view) => view.status === 'starting');
  const hadWorkspace = useView((view) => view.hadWorkspace);
  const { selection, commits, choose } = useChangesAddress();
  if (!hadWorkspace)
    return (
      <EmptyState title={t('changes.noWorkspaceYet')}>
        {starting ? t('changes.theSandboxIsStartingThe') : t('changes.theAgentsChangesAppearHere')}
      </EmptyState>
    );
  return (
    <div className="flex h-full flex-col">
      <PullRequestCard />
      <ChangesBar />
      <div className="min-h-0 flex-1">
        {commits ? (
          <Commits repository={selection.repository} open={choose} />
        ) : (
          <Files key={`${selection.against} ${selection.repository}`} selection={selection} />
        )}
      </div>
    </div>
  );
}

/** The diff of a file is read when it is opened. */
function Files({ selection }: { selection: Selection }) {
  const t = useTranslations();
  const changes = useChanges(selection);
  const { orgId, conversation } = useConversation();
  const { org } = useSession();
  const [open, setOpen] = useAddressValue('file');
  const isAway = useIsAway();
  const { data, error } = changes;
  if (data === undefined && isAway && !isKept(selection)) return <NotKept />;
  if (data === undefined && error) return <NotKnown error={error} retry={() => changes.refetch()} />;
  if (data === undefined)
    return (
      <div className="p-4">
        <SkeletonLines className="p-2" />
      </div>
    );
  if (data.files.length + data.folders.length === 0)
    return (
      <EmptyState title={selection.against === 'base' ? t('changes.noChangesYet') : t('changes.noChanges')}>
        {selection.against === 'turn'
          ? t('changes.nothingHasChangedSinceThe')
          : selection.against !== 'base'
            ? t('changes.thisCommitChangesNoFiles')
            : data.live
              ? t('changes.filesThatTheAgentAdds')
              : t('changes.theSandboxIsNotRunning')}
      </EmptyState>
    );
  const totals = totalsOf(data);
  const shown = data.files.slice(0, SHOWN_AT_MOST);
  return (
    <div className="flex h-full flex-col">
      <div className="flex shrink-0 items-center gap-3 border-b border-line px-4 py-2 text-sm text-ink-muted">
        <p className="min-w-0 flex-1 truncate tabular-nums">
          {t('changes.fileCount', { count: totals.files })} <span className="text-ok">+{totals.additions}</span>{' '}
          <span className="text-bad">−{totals.deletions}</span>
          {data.base && selection.against === 'base' ? (
            <span title={data.base}> {t('changes.since', { base: data.base.slice(0, 7) })}</span>
          ) : null}
        </p>
        <Button asChild size="small">
          <a
            href={downloadUrls.downloadDiff({ org: orgId, conversation: conversation.id, query: queryOf(selection) })}
            download={`${conversation.id}.patch`}
          >
            <Download aria-hidden /> {t('changes.downloadDiff')}
          </a>
        </Button>
      </div>
      {data.live ? null : (
        <p className="border-b border-line bg-raised px-4 py-1.5 text-xs text-ink-muted">
          {t('changes.theSandboxIsNotRunningThese')}
        </p>
      )}
      {error ? (
        <p className="border-b border-line bg-warn-soft px-4 py-1.5 text-xs text-warn">
          {t('changes.thisListMayBeOld', { title: failureOf(error).title.toLowerCase() })}
        </p>
      ) : null}
      <ul className="min-h-0 flex-1 overflow-auto" aria-label={t('changes.changedFiles')}>
        {shown.map((file) => (
          <FileLine
            key={file.path}
            file={file}
            selection={selection}
            open={file.path === open}
            live={data.live}
            toggle={() => setOpen(file.path === open ? null : file.path)}
          />
        ))}
        {shown.length === totals.files ? null : (
          <li className="px-4 py-3 text-sm text-ink-muted">
            {t('changes.shownOf', { shown: shown.length, count: totals.files })}{' '}
            <Link className="text-accent underline" href={`/${org.slug}/conversations/${conversation.id}/review`}>
              {t('changes.readAllInReview')}
            </Link>
          </li>
        )}
      </ul>
    </div>
  );
}

interface FileLineProps {
  readonly file: FileChange;
  readonly selection: Selection;
  readonly open: boolean;
  readonly live: boolean;
  readonly toggle: () => void;
}

function FileLine({ file, selection, open, live, toggle }: FileLineProps) {
  const t = useTranslations();
  const line = useRef<HTMLLIElement>(null);
  // The address may name a file far down the list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is open from the beginning
  useEffect(() => {
    if (open) line.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const { letter, word, className } = STATUS_WORDS[file.status];
  const slash = file.path.lastIndexOf('/') + 1;
  return (
    <li ref={line} className="scroll-mb-40 border-b border-line">
      <button
        type="button"
        aria-expanded={open}
        onClick={toggle}
        className="sticky top-0 z-10 flex min-h-9 w-full items-center gap-2 bg-surface px-4 text-left text-sm outline-offset-[-2px] hover:bg-raised touch:min-h-11"
      >
        <ChevronRight
          aria-hidden
          className={cn('size-3.5 shrink-0 text-ink-muted transition-transform', open && 'rotate-90')}
        />
        <abbr title={word} className={cn('w-3 shrink-0 font-mono text-xs font-semibold no-underline', className)}>
          {letter}
        </abbr>
        <span className="flex min-w-0 flex-1" title={file.path}>
          <span className="truncate text-ink-muted">{file.path.slice(0, slash)}</span>
          <span className="max-w-full shrink-0 truncate">{file.path.slice(slash)}</span>
        </span>
        {file.binary ? (
          <Badge>{t('changes.binaryOrLarge')}</Badge>
        ) : (
          <span className="flex shrink-0 gap-1.5 text-xs tabular-nums">
            <span className="text-ok">+{file.additions}</span>
            <span className="text-bad">−{file.deletions}</span>
          </span>
        )}
      </button>
      {open ? (
        file.binary || (file.status === 'MOVED' && file.additions + file.deletions === 0) ? (
          <p className="px-4 pt-1 pb-3 text-sm text-ink-muted">
            {file.binary ? t('changes.thisFileHasNoText') : t('changes.movedWithoutChanges')}
          </p>
        ) : (
          <FilePatch file={file} selection={selection} live={live} />
        )
      ) : null}
    </li>
  );
}

/** The name of the tab, with how many files there are. */
export function ChangesLabel() {
  const t = useTranslations();
  const { data } = useChanges();
  const count = data === undefined ? 0 : totalsOf(data).files;
  return (
    <>
      {t('common.changes')}{' '}
      {count > 0 ? (
        <span className="rounded-full bg-raised px-1.5 text-xs text-ink-muted tabular-nums">{count}</span>
      ) : null}
    </>
  );
}
