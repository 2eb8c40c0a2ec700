'use client';
import type { PullRequest } from '@slipway/contracts/repositories';
import { Badge, Button, Notice } from '@slipway/ui';
import { Check, ExternalLink, GitMerge, GitPullRequest } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { failureOf } from '../../api/failure.ts';
import type { Translate } from '../../messages/translate.ts';
import { useChanges } from '../changes/use-changes.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { ApprovalNotice } from './approval-notice.tsx';
import { ApproveDialog } from './approve-dialog.tsx';
import { Checks } from './checks.tsx';
import { FixButton } from './fix-button.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import { PublishDialog } from './publish-dialog.tsx';
import { checksWord, fixWord, mergeObstacle, reviewWord, stateWord, underWay } from './pull-request-words.ts';
import { usePullRequests } from './use-pull-requests.ts';

/**
 * Above the changes: the way to a pull request, or the one that there is. Nothing without a repository, and nothing
 * while there is nothing to publish.
 */
export function PullRequestCard() {
  const t = useTranslations();
  const { conversation } = useConversation();
  const { org } = useSession();
  const pulls = usePullRequests();
  const changed = (useChanges().data?.files.length ?? 0) > 0;
  const [publishing, setPublishing] = useState(false);
  const mayPublish = org.permissions.includes('pull-request:write');
  if (conversation.repository === null) return null;
  const pull = pulls.data?.data[0];
  if (pulls.data === undefined)
    return pulls.error === null ? null : <Unread error={pulls.error} retry={() => void pulls.refetch()} />;
  if (pull === undefined && (!changed || !mayPublish)) return null;
  return (
    <section
      aria-label={t('pullRequest.pullRequest')}
      className="flex max-h-[45%] shrink-0 flex-col gap-2 overflow-auto border-b border-line px-4 py-2.5"
    >
      {pull === undefined ? (
        <div className="flex items-center justify-between gap-3">
          <p className="min-w-0 text-sm text-ink-muted">{t('pullRequest.noPullRequestYet')}</p>
          <Button onClick={() => setPublishing(true)}>
            <GitPullRequest aria-hidden /> {t('pullRequest.createPullRequest')}
          </Button>
        </div>
      ) : (
        <Pull pull={pull} mayPublish={mayPublish} onPublish={() => setPublishing(true)} />
      )}
      {publishing ? <PublishDialog pull={pull ?? null} onClose={() => setPublishing(false)} /> : null}
    </section>
  );
}

function Pull({ pull, mayPublish, onPublish }: { pull: PullRequest; mayPublish: boolean; onPublish: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [merging, setMerging] = useState(false);
  const [approving, setApproving] = useState(false);
  const state = stateWord(t, pull);
  const checks = checksWord(t, pull.checks);
  const review = reviewWord(t, pull);
  const doing = underWay(t, pull);
  const isOpen = pull.state === 'open';
  const obstacle = mergeObstacle(t, pull);
  const fixed = fixWord(t, pull);
  const mayMerge = org.permissions.includes('pull-request:merge') && isOpen;
  return (
    <>
      <ApprovalNotice host={pull.host} />
      <div className="flex flex-wrap items-start justify-between gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <PullTitle pull={pull} />
          <p className="flex min-w-0 gap-1.5 text-xs text-ink-muted">
            <span className="truncate" title={placeOf(t, pull)}>
              {placeOf(t, pull)}
            </span>
            {pull.headSha === null ? null : <code className="shrink-0 font-mono">{pull.headSha.slice(0, 7)}</code>}
          </p>
        </div>
        <span className="flex shrink-0 flex-wrap gap-2">
          {mayPublish && pull.state !== 'merged' && pull.state !== 'closed' ? (
            <Button size="small" disabled={doing !== null} onClick={onPublish}>
              {pull.number === null ? t('pullRequest.createPullRequest') : t('pullRequest.update2')}
            </Button>
          ) : null}
          {mayMerge && pull.headSha !== null && pull.connectionId !== null ? (
            <Button size="small" onClick={() => setApproving(true)}>
              <Check aria-hidden /> {t('pullRequest.approve')}
            </Button>
          ) : null}
          {mayMerge ? (
            <Button
              size="small"
              tone="primary"
              disabled={obstacle !== null}
              title={obstacle ?? undefined}
              onClick={() => setMerging(true)}
            >
              <GitMerge aria-hidden /> {t('pullRequest.merge2')}
            </Button>
          ) : null}
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-1.5">
        <Badge tone={state.tone}>{state.label}</Badge>
        {checks === null ? null : <Badge tone={checks.tone}>{checks.label}</Badge>}
        {review === null ? null : <Badge tone={review.tone}>{review.label}</Badge>}
        {pull.conflicts === true ? (
          <>
            <Badge tone="bad">
              {t('pullRequest.conflictsWith')} {pull.base ?? t('pullRequest.itsBase')}
            </Badge>
            <FixButton pull={pull} fix={{ what: 'conflicts' }} label={t('pullRequest.resolveConflicts')} />
          </>
        ) : null}
      </div>
      <p role="status" className={doing === null ? 'sr-only' : 'text-sm text-ink-muted'}>
        {doing}
      </p>
      {fixed === null ? null : (
        <p role="status" className={fixed.tone === 'warn' ? 'text-sm text-warn' : 'text-sm text-ink-muted'}>
          {fixed.text}
        </p>
      )}
      {mayMerge && obstacle !== null && doing === null ? <p className="text-xs text-ink-muted">{obstacle}</p> : null}
      {pull.problem !== null && pull.publish !== 'waiting' ? <Problem pull={pull} /> : null}
      {pull.number !== null && pull.checks.state !== 'none' ? <Checks pull={pull} number={pull.number} /> : null}
      {approving ? <ApproveDialog pull={pull} onClose={() => setApproving(false)} /> : null}
      {merging ? <MergeDialog pull={pull} onClose={() => setMerging(false)} /> : null}
    </>
  );
}

/** Repository, branch and base, as far as they are known. */
function placeOf(t: Translate, { repository, branch, base }: PullRequest): string {
  if (branch === null) return repository;
  return base === null ? `${repository}: ${branch}` : t('pullRequest.branchInto', { repository, branch, base });
}

function PullTitle({ pull: { number, title, url } }: { pull: PullRequest }) {
  const t = useTranslations();
  const text = number === null ? title : `${title} #${number}`;
  const isPage = url !== null && /^https?:\/\//.test(url);
  if (!isPage) return <h2 className="truncate text-sm font-semibold">{text}</h2>;
  return (
    <h2 className="text-sm font-semibold">
      <a
        href={url}
        target="_blank"
        rel="noreferrer"
        className="inline-flex max-w-full min-h-6 items-center gap-1 hover:underline"
      >
        <span className="truncate">{text}</span>
        <ExternalLink aria-label={t('pullRequest.opensAtTheGitHost')} className="size-3.5 shrink-0 text-ink-muted" />
      </a>
    </h2>
  );
}

/** Why the last publish or merge did not happen, and what to do. */
function Problem({ pull: { problem } }: { pull: PullRequest }) {
  const t = useTranslations();
  const { org } = useSession();
  if (problem === null) return null;
  const link =
    problem.code === 'pull-request.not-linked'
      ? { href: '/settings/linked-accounts', text: t('common.linkedAccounts') }
      : problem.code === 'pull-request.no-connection' && org.permissions.includes('integration:read')
        ? { href: `/${org.slug}/admin/integrations`, text: t('common.integrations') }
        : null;
  return (
    <Notice tone="warn" title={problem.title}>
      <p className="whitespace-pre-wrap">{problem.detail}</p>
      <p>
        {problem.code === 'pull-request.protected-paths' ? t('pullRequest.reviewTheseFilesIfThey') : problem.nextStep}{' '}
        {link === null ? null : (
          <Link href={link.href} className="text-accent underline underline-offset-2">
            {link.text}
          </Link>
        )}
      </p>
    </Notice>
  );
}

function Unread({ error, retry }: { error: Error; retry: () => void }) {
  const t = useTranslations();
  return (
    <div className="flex shrink-0 items-center justify-between gap-3 border-b border-line px-4 py-2">
      <p className="min-w-0 text-sm text-ink-muted">
        {t('pullRequest.thePullRequestCouldNot', { title: failureOf(error).title.toLowerCase() })}
      </p>
      <Button size="small" onClick={retry}>
        {t('common.retry')}
      </Button>
    </div>
  );
}
