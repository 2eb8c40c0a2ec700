'use client';
import type { Conversation } from '@slipway/contracts/conversations';
import { Button, EmptyState, Notice, SkeletonLines } from '@slipway/ui';
import { ArrowLeft } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { listingOf, totalsOf } from '../changes/listing.ts';
import { NotKept, NotKnown } from '../changes/not-known.tsx';
import { isKept, type Selection, useChangesAddress } from '../changes/selection.ts';
import { useChanges, useFreshChanges, useIsAway } from '../changes/use-changes.ts';
import { useCommand } from '../commands/command-context.tsx';
import { ConversationContext, useConversation, useView } from '../conversation/conversation-context.ts';
import { ConversationStore, type Schedule } from '../conversation/conversation-store.ts';
import { OpenRows } from '../conversation/open-rows.ts';
import { Reveal } from '../conversation/reveal.ts';
import { useSocket } from '../conversation/use-socket.ts';
import { PullRequestCard } from '../pull-request/pull-request-card.tsx';
import { useSession } from '../session/me.ts';
import { AgainstChoice } from './against-choice.tsx';
import { FileList } from './file-list.tsx';
import { LookedButton } from './looked-button.tsx';
import { ReviewFile } from './review-file.tsx';
import { filesInOrder, isViewed, type Order } from './review-files.ts';
import { SendReview } from './send-review.tsx';
import { useFolderListing } from './use-folder-listing.ts';
import { useFreshReview, useReview, useReviewVerbs, useViewed } from './use-review.ts';
import { useReviewKeys } from './use-review-keys.ts';

const soon: Schedule = (work) => void setTimeout(work, 50);
const NOTHING = { files: [], folders: [], left: 0 };

/** Everything that the agent changed, to be read file by file, commented on and sent back. */
export function ReviewScreen({ snapshot }: { snapshot: Conversation }) {
  const { org } = useSession();
  const [{ scope, gaps }] = useState(() => {
    const gaps = new EventTarget();
    const store = new ConversationStore(snapshot, soon, () => gaps.dispatchEvent(new Event('gap')));
    const reveal = new Reveal();
    return {
      gaps,
      scope: { store, conversation: snapshot, orgId: org.id, openRows: new OpenRows(), reveal },
    };
  });
  useSocket(scope.store, org.id, snapshot.id, gaps);
  return (
    <ConversationContext value={scope}>
      <Screen />
    </ConversationContext>
  );
}

function Screen() {
  const t = useTranslations();
  const { conversation } = useConversation();
  const { org } = useSession();
  const title = useView((view) => view.title);
  const { selection } = useChangesAddress();
  const changes = useChanges(selection);
  useFreshChanges();
  useFreshReview();
  const viewed = useViewed();
  const { data } = changes;
  const files = data?.files ?? [];
  const totals = totalsOf(data ?? NOTHING);
  const isCut = data !== undefined && listingOf(data, '').folders.length > 0;
  return (
    <div className="flex h-full flex-col">
      <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-surface px-4 py-2 md:px-6">
        <Button asChild size="icon" tone="quiet">
          <Link href={`/${org.slug}/conversations/${conversation.id}`} aria-label={t('reviewPage.backToConversation')}>
            <ArrowLeft aria-hidden />
          </Link>
        </Button>
        <div className="min-w-0 flex-1">
          <h1 dir="auto" className="truncate text-base font-semibold" title={title}>
            {t('reviewPage.titleOf', { title })}
          </h1>
          <p className="text-xs text-ink-muted tabular-nums">
            {t('reviewPage.counts', {
              files: totals.files,
              viewed: files.filter((file) => isViewed(file, viewed)).length,
            })}{' '}
            <span className="text-ok">+{totals.additions}</span> <span className="text-bad">−{totals.deletions}</span>
          </p>
        </div>
        <AgainstChoice />
        <LookedButton />
        <SendReview />
      </header>
      {isCut ? (
        <Notice tone="warn" className="m-2">
          {t('reviewPage.tooLarge')}
        </Notice>
      ) : null}
      <PullRequestCard />
      <div className="min-h-0 flex-1">
        <Body selection={selection} />
      </div>
    </div>
  );
}

function Body({ selection }: { selection: Selection }) {
  const t = useTranslations();
  const { data, error, refetch } = useChanges(selection);
  const review = useReview();
  const { view } = useReviewVerbs();
  const isAway = useIsAway();
  const hadWorkspace = useView((each) => each.hadWorkspace);
  const [order, setOrder] = useState<Order>('chapters');
  const [split, setSplit] = useState(false);
  const [filter, setFilter] = useState('');
  const [chosen, choose] = useAddressValue('file');
  const { listing, folder, chooseFolder } = useFolderListing(selection);
  const files = useMemo(() => filesInOrder(listing.files, order, filter), [listing, order, filter]);
  const index = Math.max(
    0,
    files.findIndex((file) => file.path === chosen),
  );
  const file = files[index];
  const viewed = useViewed();
  const of = selection.repository;
  const threads = useMemo(
    () => (review.data?.threads ?? []).filter(({ anchor }) => anchor.repository === of),
    [review.data?.threads, of],
  );
  const steps = useReviewKeys({ files, threads, file, choose });
  const hash = file?.hash;
  useCommand('review.order', () => setOrder(order === 'chapters' ? 'paths' : 'chapters'));
  useCommand('review.split', () => setSplit(!split));
  useCommand(
    'review.viewed',
    file === undefined || hash === undefined
      ? null
      : () => view.mutate({ path: file.path, hash: isViewed(file, viewed) ? null : hash }),
  );
  if (!hadWorkspace)
    return <EmptyState title={t('changes.noWorkspaceYet')}>{t('changes.theAgentsChangesAppearHere')}</EmptyState>;
  if (data === undefined && isAway && !isKept(selection)) return <NotKept />;
  if (data === undefined && error) return <NotKnown error={error} retry={() => refetch()} />;
  if (data === undefined) return <SkeletonLines className="p-6" />;
  if (data.files.length + data.folders.length === 0)
    return (
      <EmptyState title={t(selection.against === 'looked' ? 'reviewPage.nothingNew' : 'reviewPage.nothingDiffers')}>
        {t('reviewPage.nothingDiffersFrom')}
      </EmptyState>
    );
  return (
    <div className="flex h-full max-md:flex-col">
      <FileList
        files={files}
        folders={listing.folders}
        folder={folder}
        onFolder={chooseFolder}
        order={order}
        chosen={file?.path ?? null}
        viewed={viewed}
        threads={threads}
        filter={filter}
        onFilter={setFilter}
        onChoose={choose}
      />
      <div data-review-scroller className="min-h-0 min-w-0 flex-1 overflow-auto">
        {data.live ? null : <Notice className="m-3">{t('reviewPage.sandboxAway')}</Notice>}
        {file === undefined ? (
          <NoFile folders={listing.folders.length} />
        ) : (
          <ReviewFile
            key={`${file.path} ${selection.against} ${selection.repository}`}
            file={file}
            base={data.base}
            selection={selection}
            split={split}
            viewed={isViewed(file, viewed)}
            {...steps}
          />
        )}
      </div>
    </div>
  );
}

/** Why no lines are shown: nothing matches the filter, or a folder is to be chosen. */
function NoFile({ folders }: { folders: number }) {
  const t = useTranslations();
  if (folders > 0)
    return <EmptyState title={t('reviewPage.chooseFolder')}>{t('reviewPage.chooseFolderHint')}</EmptyState>;
  return <EmptyState title={t('reviewPage.noFileMatches')}>{t('reviewPage.changeTheFilter')}</EmptyState>;
}
