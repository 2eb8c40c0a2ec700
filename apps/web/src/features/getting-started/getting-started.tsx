'use client';
import { Button, Card, cn } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleDashed } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { api } from '../../api/client.ts';
import { useStored } from '../../browser/stored.ts';
import { useSession } from '../session/me.ts';
import { type Progress, type Step, stepsOf } from './steps.ts';

/** Newest conversations in which a pull request is looked for. */
const LOOKED_AT = 50;
const HIDDEN = 'hidden';

/**
 * What is left between a new organization and its first pull request. Once all is done, or the user hides it, this
 * browser asks for nothing of it again.
 */
export function GettingStarted() {
  const { org } = useSession();
  const [state, setState] = useStored(`getting-started:${org.id}`, '');
  return state === HIDDEN ? null : <Steps hide={() => setState(HIDDEN)} />;
}

function Steps({ hide }: { hide: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const steps = stepsOf(useProgress(), org);
  const isOver = steps?.every(({ isDone }) => isDone) ?? false;
  useEffect(() => {
    if (isOver) hide();
  }, [isOver, hide]);
  if (steps === null || isOver) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section aria-labelledby="getting-started" className="flex flex-col gap-2">
      <div className="flex items-baseline justify-between gap-3">
        <h2 id="getting-started" className="text-sm font-semibold text-ink-muted">
          {t('gettingStarted.title')}
        </h2>
        <span className="flex items-baseline gap-2 text-xs text-ink-muted">
          {t('gettingStarted.doneOf', { done, all: steps.length })}
          <Button size="small" tone="quiet" onClick={hide}>
            {t('gettingStarted.hide')}
          </Button>
        </span>
      </div>
      <Card className="overflow-hidden">
        <ol className="divide-y divide-line">
          {steps.map((step) => (
            <StepRow key={step.id} step={step} />
          ))}
        </ol>
      </Card>
    </section>
  );
}

function StepRow({ step: { label, hint, isDone, admin } }: { step: Step }) {
  const t = useTranslations();
  const { org } = useSession();
  const Icon = isDone ? CircleCheck : CircleDashed;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
      <Icon aria-hidden className={cn('size-4 shrink-0', isDone ? 'text-ok' : 'text-ink-muted')} />
      <span className="min-w-0 flex-1 basis-56">
        <span className={cn('block text-sm', isDone ? 'text-ink-muted' : 'font-medium')}>
          {t(label)}
          <span className="sr-only">. {t(isDone ? 'gettingStarted.done' : 'gettingStarted.open')}</span>
        </span>
        {isDone ? null : <span className="block text-xs text-ink-muted">{t(hint)}</span>}
      </span>
      {isDone || admin === null ? null : (
        <Button asChild size="small">
          <Link href={`/${org.slug}/admin/${admin}`} aria-label={t('gettingStarted.goTo', { step: t(label) })}>
            {t('gettingStarted.go')}
          </Link>
        </Button>
      )}
    </li>
  );
}

function useProgress(): Progress {
  const { org } = useSession();
  const models = useQuery({
    queryKey: ['models', org.id],
    queryFn: ({ signal }) => api.listModels({ org: org.id, signal }),
  });
  const hosts = useQuery({
    queryKey: ['suggested-tasks', org.id],
    queryFn: ({ signal }) => api.listSuggestedTasks({ org: org.id, signal }),
    staleTime: 60_000,
    retry: false,
  });
  const work = useQuery({
    queryKey: ['conversations', org.id, 'first-steps'],
    queryFn: ({ signal }) => api.listConversations({ org: org.id, query: { limit: LOOKED_AT }, signal }),
  });
  const others = useQuery({
    queryKey: ['members', org.id, 'first-steps'],
    queryFn: ({ signal }) => api.listMembers({ org: org.id, query: { limit: 2 }, signal }),
    enabled: org.kind === 'company' && org.permissions.includes('member:invite'),
  });
  const conversations = work.data?.data;
  return {
    hasModel: models.data?.data.some(({ demo }) => !demo),
    hasGitHost: hosts.data === undefined ? undefined : hosts.data.connections.length > 0,
    hasTask: conversations === undefined ? undefined : conversations.length > 0,
    hasPullRequest: conversations?.some(({ pullRequest }) => pullRequest !== null),
    hasOthers: others.data === undefined ? undefined : others.data.data.length > 1,
  };
}
