'use client';
import type { WorkspaceRepository } from '@slipway/contracts/repositories';
import { Button, cn, Select } from '@slipway/ui';
import { ArrowLeft, GitBranch } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useChangesAddress } from './selection.ts';
import { useCommits, useRepositories } from './use-changes.ts';

const CHOICES = [
  { value: 'base', label: 'changes.all' },
  { value: 'turn', label: 'changes.lastMessage' },
  { value: 'commits', label: 'changes.commits' },
] as const;

/**
 * What is compared with what: since the work began, since the last message, or commits; of which repository, and on
 * which branch that is.
 */
export function ChangesBar() {
  const t = useTranslations();
  const { selection, commits, choose, chooseRepository } = useChangesAddress();
  const repositories = useRepositories().data?.data ?? [];
  const { against, repository } = selection;
  const chosen = commits ? 'commits' : against === 'base' || against === 'turn' ? against : null;
  const shown = repositories.find(({ path, own }) => (repository === null ? own : path === repository));
  return (
    <div className="flex shrink-0 flex-col gap-2 border-b border-line px-4 py-2">
      <div className="flex min-w-0 flex-wrap items-center gap-2">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would have a border and a legend */}
        <div
          role="group"
          aria-label={t('changes.compareWith')}
          className="flex shrink-0 rounded-md border border-line-strong p-px"
        >
          {CHOICES.map(({ value, label }) => (
            <button
              key={value}
              type="button"
              aria-pressed={chosen === value}
              onClick={() => choose(value)}
              title={
                value === 'base'
                  ? t('changes.sinceTheWorkBegan')
                  : value === 'turn'
                    ? t('changes.sinceTheLastMessage')
                    : undefined
              }
              className={cn(
                'h-7 rounded-[5px] px-2.5 text-xs outline-offset-[-2px] touch:h-11 touch:text-sm',
                chosen === value ? 'bg-raised font-medium text-ink' : 'text-ink-muted hover:text-ink',
              )}
            >
              {t(label)}
            </button>
          ))}
        </div>
        {repositories.length > 1 ? (
          <Select
            aria-label={t('common.repository')}
            className="min-w-32 flex-1"
            value={shown?.path ?? ''}
            options={repositories.map(({ path, kind }) => ({
              value: path,
              label: kind === 'repository' ? path : `${path} (${kind})`,
            }))}
            onChange={(path) =>
              chooseRepository(repositories.find((each) => each.path === path)?.own === true ? null : path)
            }
          />
        ) : null}
      </div>
      {chosen === null ? <ChosenCommit hash={against} repository={repository} back={() => choose('commits')} /> : null}
      {shown === undefined ? null : <Branch repository={shown} />}
    </div>
  );
}

function ChosenCommit({ hash, repository, back }: { hash: string; repository: string | null; back: () => void }) {
  const t = useTranslations();
  const commit = useCommits(repository)
    .data?.pages.flatMap(({ data }) => data)
    .find((each) => each.hash.startsWith(hash));
  return (
    <div className="flex min-w-0 items-center gap-2">
      <Button size="small" tone="quiet" onClick={back} aria-label={t('changes.backToCommits')}>
        <ArrowLeft aria-hidden />
      </Button>
      <p className="min-w-0 truncate text-sm" title={commit?.subject}>
        <code className="mr-2 font-mono text-xs text-ink-muted">{hash.slice(0, 7)}</code>
        {commit?.subject}
      </p>
    </div>
  );
}

/** The branch, and how far it is from its upstream. */
function Branch({ repository }: { repository: WorkspaceRepository }) {
  const t = useTranslations();
  const { branch, head, upstream, ahead, behind, operation, problem } = repository;
  const beside = [ahead ? t('changes.ahead', { ahead }) : '', behind ? t('changes.behind', { behind }) : '']
    .filter(Boolean)
    .join(', ');
  return (
    <p className="flex min-w-0 items-center gap-1.5 text-xs text-ink-muted">
      <GitBranch aria-hidden className="size-3.5 shrink-0" />
      {problem !== null ? (
        <span className="truncate text-warn" title={problem}>
          {problem}
        </span>
      ) : (
        <>
          <span className="truncate text-ink" title={branch ?? undefined}>
            {branch ?? (head === null ? t('changes.noCommitYet') : t('changes.detachedAt', { head: head.slice(0, 7) }))}
          </span>
          {upstream === null ? null : (
            <span className="truncate" title={upstream}>
              {beside === ''
                ? ahead === null
                  ? t('changes.isGone', { upstream })
                  : t('changes.upToDateWith', { upstream })
                : t('changes.of', { beside, upstream })}
            </span>
          )}
          {operation === null ? null : (
            <span className="shrink-0 text-warn">{t('changes.inProgress', { operation })}</span>
          )}
        </>
      )}
    </p>
  );
}
