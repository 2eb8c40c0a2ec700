'use client';
import type { SuggestedTask } from '@slipway/contracts/repositories';
import { Button, Card } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleAlert, CircleDot, GitPullRequest, MessageSquareWarning, TriangleAlert } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { useRef } from 'react';
import { api, newId } from '../../api/client.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';

const KINDS: Readonly<
  Record<
    SuggestedTask['kind'],
    { readonly icon: typeof CircleAlert; readonly className: string; readonly label: MessageKey }
  >
> = {
  RED_DEFAULT_BRANCH: { icon: CircleAlert, className: 'text-bad', label: 'home.defaultBranchFails' },
  MERGE_CONFLICTS: { icon: TriangleAlert, className: 'text-bad', label: 'home.mergeConflicts' },
  FAILING_CHECKS: { icon: GitPullRequest, className: 'text-bad', label: 'home.failedChecks' },
  UNRESOLVED_COMMENTS: { icon: MessageSquareWarning, className: 'text-warn', label: 'home.unresolvedComments' },
  OPEN_ISSUE: { icon: CircleDot, className: 'text-ok', label: 'home.assignedIssue' },
};
const SHOWN = 8;

/**
 * What waits for the user at git hosts, each to be started with one press. Nothing while there is nothing, and when
 * nothing could be asked.
 */
export function SuggestedTasks() {
  const t = useTranslations();
  const { org } = useSession();
  const tasks = useQuery({
    queryKey: ['suggested-tasks', org.id],
    queryFn: ({ signal }) => api.listSuggestedTasks({ org: org.id, signal }),
    staleTime: 60_000,
    retry: false,
  });
  const all = tasks.data?.data ?? [];
  const missing = (tasks.data?.connections ?? []).filter(({ state }) => state === 'unavailable' || state === 'refused');
  if (all.length === 0 && missing.length === 0) return null;
  return (
    <section aria-label={t('home.suggestedTasks')} className="flex flex-col gap-2">
      <h2 className="text-sm font-semibold text-ink-muted">{t('home.suggested')}</h2>
      {all.length === 0 ? null : (
        <Card className="divide-y divide-line overflow-hidden">
          {all.slice(0, SHOWN).map((task) => (
            <Task key={`${task.kind} ${task.connectionId} ${task.fullName} ${task.number}`} task={task} />
          ))}
        </Card>
      )}
      {missing.map(({ connectionId, text }) => (
        <p key={connectionId} className="text-xs text-ink-muted">
          {text}
        </p>
      ))}
    </section>
  );
}

function Task({ task }: { task: SuggestedTask }) {
  const t = useTranslations();
  const { org } = useSession();
  const router = useRouter();
  const queries = useQueryClient();
  /** Pressing again after a lost answer does not start a second agent. */
  const key = useRef('');
  const start = useMutation({
    mutationFn: () => {
      if (key.current === '') key.current = newId();
      const { prompt, repository, branch } = task;
      return api.createConversation({
        org: org.id,
        body: { prompt, repository, ...(branch === null ? {} : { branch }) },
        idempotencyKey: key.current,
      });
    },
    onSuccess: (conversation) => {
      queries.setQueryData(['conversation', org.id, conversation.id], conversation);
      void queries.invalidateQueries({ queryKey: ['conversations', org.id] });
      router.push(`/${org.slug}/conversations/${conversation.id}`);
    },
  });
  const { icon: Icon, className, label } = KINDS[task.kind];
  const place = task.number === null ? task.fullName : `${task.fullName} #${task.number}`;
  const isPage = task.url !== null && /^https?:\/\//.test(task.url);
  return (
    <div className="flex flex-col gap-1 px-4 py-2">
      <div className="flex min-h-10 items-center gap-3">
        <Icon aria-hidden className={`size-4 shrink-0 ${className}`} />
        <span className="min-w-0 flex-1">
          <span className="block truncate text-sm font-medium" title={task.title}>
            {task.title}
          </span>
          <span className="flex min-w-0 gap-2 text-xs text-ink-muted">
            <span className="shrink-0">{t(label)}</span>
            {isPage ? (
              <a href={task.url ?? ''} target="_blank" rel="noreferrer" className="truncate hover:underline">
                {place}
              </a>
            ) : (
              <span className="truncate">{place}</span>
            )}
          </span>
        </span>
        <Button
          size="small"
          className="shrink-0"
          aria-label={t('home.start', { label: t(label), place })}
          busy={start.isPending}
          onClick={() => start.mutate()}
        >
          {t('common.start')}
        </Button>
      </div>
      <ErrorNotice error={start.error} />
    </div>
  );
}
