'use client';
import { secondsOf } from '@slipway/domain/desk';
import { AfterDelay, Button, Card, cn, Notice, Skeleton } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { Fragment, type ReactNode } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { asAgo } from '../../browser/ago.tsx';
import { repositoryName } from '../../browser/format.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { useDesk, useDeskStore } from './desk-context.tsx';
import { groupsOf } from './desk-groups.ts';
import { DeskRow } from './desk-row.tsx';
import { DeskShortRow } from './desk-short-row.tsx';
import type { DeskLine } from './desk-store.ts';
import { estimateWords } from './desk-words.ts';
import { useDeskKeys } from './use-desk-keys.ts';
import { useDeskMarks } from './use-desk-marks.ts';
import { useDeskTitle } from './use-desk-title.ts';

const NONE: readonly DeskLine[] = [];

/** What waits for a decision of this user; above everything else of the page. */
export function NeedsYou() {
  const t = useTranslations();
  const { lines, error, at, answered } = useDesk();
  const store = useDeskStore();
  const change = useDeskMarks();
  const isFirstRun = useFirstRun(lines?.length === 0);
  useDeskTitle();
  useDeskKeys(lines ?? NONE, change);
  const waiting = lines?.filter(({ group }) => group === 'needs-you') ?? NONE;
  const working = lines?.filter(({ group }) => group === 'working').length ?? 0;
  return (
    <div className="flex flex-col gap-2">
      {lines === null ? (
        error === null ? (
          <div className="min-h-16">
            <AfterDelay>
              <Skeleton className="h-16 w-full" />
            </AfterDelay>
          </div>
        ) : (
          <Failed error={error} retry={store.again} />
        )
      ) : (
        <>
          {error === null || at === null ? null : (
            <Notice
              tone="warn"
              title={failureOf(error).title}
              action={<Button onClick={store.again}>{t('common.retry')}</Button>}
            >
              {t.rich('deskPage.asItWas', { ago: asAgo, at })}
            </Notice>
          )}
          {waiting.length === 0 ? (
            isFirstRun ? null : (
              <p className="text-sm text-ink-muted">
                {t('deskPage.nothingNeedsYou')} {working === 0 ? null : t('deskPage.agentsWork', { count: working })}
              </p>
            )
          ) : (
            <Section
              title={t('deskPage.needsYou')}
              beside={t('deskPage.inAll', {
                count: waiting.length,
                time: estimateWords(t, secondsOf(waiting)),
              })}
              isOld={error !== null}
            >
              {groupsOf(waiting).map(({ repository, lines: rows }, index, { length }) => (
                <Fragment key={repository ?? ''}>
                  {length === 1 ? null : (
                    <li className={cn('bg-raised px-4 py-2', index > 0 && 'border-t-line-strong')}>
                      <h3 className="flex items-baseline justify-between gap-3 text-xs font-semibold">
                        <span dir="auto" className="min-w-0 truncate">
                          {repository === null ? t('deskPage.noRepository') : repositoryName(repository)}
                        </span>
                        <span className="font-normal text-ink-muted">
                          {t('deskPage.inAll', { count: rows.length, time: estimateWords(t, secondsOf(rows)) })}
                        </span>
                      </h3>
                    </li>
                  )}
                  {rows.map((line) => (
                    <DeskRow key={line.facts.id} line={line} change={change} />
                  ))}
                </Fragment>
              ))}
            </Section>
          )}
        </>
      )}
      <p role="status" className="text-sm text-ink-muted empty:hidden">
        {answered === null
          ? null
          : t(answered.accepted ? 'deskPage.somebodyApproved' : 'deskPage.somebodyRejected', {
              name: answered.by,
              title: answered.title,
            })}
      </p>
    </div>
  );
}

/** Whether there is no conversation at all; also while that is not known. @param isEmpty nothing is on the Desk. */
function useFirstRun(isEmpty: boolean): boolean {
  const { org } = useSession();
  const { data } = useQuery({
    queryKey: ['conversations', org.id, 'any'],
    queryFn: ({ signal }) => api.listConversations({ org: org.id, query: { limit: 1 }, signal }),
    enabled: isEmpty,
  });
  return isEmpty && (data?.data.length ?? 0) === 0;
}

/** What is ready to be looked at, what works, and the way to all conversations. */
export function ReadyAndWorking() {
  const t = useTranslations();
  const { org } = useSession();
  const { lines, error, more } = useDesk();
  const of = (group: DeskLine['group']) => lines?.filter((line) => line.group === group) ?? NONE;
  return (
    <>
      {(['ready', 'working'] as const).map((group) =>
        of(group).length === 0 ? null : (
          <Section
            key={group}
            title={t(group === 'ready' ? 'deskPage.ready' : 'common.working')}
            isOld={error !== null}
          >
            {of(group).map((line) => (
              <DeskShortRow key={line.facts.id} line={line} />
            ))}
          </Section>
        ),
      )}
      {lines === null ? null : (
        <p className="flex flex-wrap items-center justify-between gap-2 text-sm text-ink-muted">
          {more ? t('deskPage.thereAreMore') : null}
          <Link href={`/${org.slug}/conversations`} className="-my-3 ml-auto py-3 text-accent hover:underline">
            {t('home.allConversations')}
          </Link>
        </p>
      )}
    </>
  );
}

function Section({
  title,
  beside,
  isOld,
  children,
}: {
  title: string;
  beside?: string;
  isOld: boolean;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <div className="flex items-baseline justify-between gap-3">
        <h2 className="text-sm font-semibold text-ink-muted">{title}</h2>
        {beside === undefined ? null : <span className="text-xs text-ink-muted">{beside}</span>}
      </div>
      <Card className={cn('overflow-hidden', isOld && 'bg-raised grayscale')}>
        <ul className="divide-y divide-line">{children}</ul>
      </Card>
    </section>
  );
}
