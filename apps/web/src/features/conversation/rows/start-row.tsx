'use client';
import type { StartStep } from '@slipway/contracts/conversations';
import { Button, cn, Spinner } from '@slipway/ui';
import { CircleAlert, CircleCheck, CircleDashed, CircleMinus, Rocket } from 'lucide-react';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { failureOfCode } from '../../../api/failure.ts';
import { duration } from '../../../browser/format.ts';
import { useStored } from '../../../browser/stored.ts';
import { type Draft, draftKey } from '../../home/draft.ts';
import { useSession } from '../../session/me.ts';
import { useConversation, useView } from '../conversation-context.ts';
import { START_NAMES } from '../start-words.ts';
import type { RowOf } from '../timeline-row.ts';
import { useLifecycle } from '../use-lifecycle.ts';
import { Disclosure } from './disclosure.tsx';

/** A running step that says nothing for this long is explained. Milliseconds. */
const SLOW_MS = 60_000;

/** The way to a running agent, step by step; open while it goes on and when it fails. */
export function StartRow({ row }: { row: RowOf<'start'> }) {
  const t = useTranslations();
  const ready = row.steps.some((step) => step.status === 'READY');
  const failed = row.steps.find((step) => step.state === 'failed' || step.status === 'ERROR');
  const running = !ready && failed === undefined;
  const work = row.steps.filter((step) => step.status !== 'READY' && step.status !== 'ERROR');
  const total = work.reduce((sum, step) => sum + (step.elapsedMs ?? 0), 0);
  const again = row.attempt === 1 ? 'no' : 'yes';
  const current = work.findLast((step) => step.state === 'running');
  // A sandbox that was lost, or a workspace that could not be brought back, is nothing to look for in a closed row.
  const hasDetail =
    row.attempt > 1 &&
    work.some(
      ({ status, detail }) => (status === 'WORKING' || status === 'WAITING_FOR_SANDBOX') && detail !== undefined,
    );
  return (
    <Disclosure
      rowKey={row.key}
      startsOpen={running || failed !== undefined || hasDetail}
      className="py-1"
      icon={failed ? <CircleAlert aria-hidden className="text-bad" /> : running ? <Spinner /> : <Rocket aria-hidden />}
      label={
        failed ? (
          <span className="text-bad">{t('conversation.startFailed2', { again })}</span>
        ) : running ? (
          t('conversation.starting', {
            again,
            step: current ? t(START_NAMES[current.status]).toLowerCase() : t('conversation.waiting'),
          })
        ) : (
          t('conversation.started', { again, count: work.length })
        )
      }
      aside={running ? null : <span className="text-xs tabular-nums">{duration(total)}</span>}
    >
      <ol className="flex flex-col rounded-lg border border-line bg-surface px-3 py-1.5">
        {work.map((step) => (
          <StartStepLine key={step.status} step={step} />
        ))}
      </ol>
      {failed ? <StartFailure step={failed} /> : null}
    </Disclosure>
  );
}

function StartStepLine({ step }: { step: StartStep }) {
  const t = useTranslations();
  const now = useNow(step.state === 'running');
  const elapsed =
    step.elapsedMs ?? (step.state === 'running' && now > 0 ? now - Date.parse(step.startedAt) : undefined);
  return (
    <li className="flex gap-2.5 py-1 text-sm">
      <span className="grid h-5 w-4 shrink-0 place-items-center [&_svg]:size-4">
        <StepMark state={step.state} />
      </span>
      <span className="min-w-0 flex-1">
        <span className={cn(step.state === 'skipped' && 'text-ink-muted')}>{t(START_NAMES[step.status])}</span>
        {step.detail && step.state !== 'failed' ? (
          <span className="block text-xs break-words whitespace-pre-wrap text-ink-muted">{step.detail}</span>
        ) : null}
        {step.state === 'running' && step.queue ? <WaitExits queue={step.queue} /> : null}
        {step.state === 'running' && step.detail === undefined && elapsed !== undefined && elapsed > SLOW_MS ? (
          <span className="block text-xs text-warn">{t('conversation.noProgressForAWhile')}</span>
        ) : null}
      </span>
      <span className="shrink-0 text-xs leading-5 text-ink-muted tabular-nums">
        {step.state === 'skipped' ? t('conversation.skipped') : elapsed === undefined ? '' : duration(elapsed)}
      </span>
    </li>
  );
}

/** Ways out of the queue for a sandbox: see who has them, or wait no longer. */
function WaitExits({ queue }: { queue: NonNullable<StartStep['queue']> }) {
  const t = useTranslations();
  const { org } = useSession();
  const { pause } = useLifecycle();
  const mayLook = org.permissions.includes('sandbox:read');
  const mayWrite = org.permissions.includes('conversation:write');
  if (!mayLook && !mayWrite) return null;
  return (
    <span className="mt-1.5 flex flex-wrap items-center gap-2">
      {mayWrite ? (
        <Button size="small" busy={pause.isPending} onClick={() => pause.mutate()}>
          {t('conversation.stopWaiting')}
        </Button>
      ) : null}
      {mayLook ? (
        <Link className="text-xs underline" href={`/${org.slug}/admin/sandboxes`}>
          {queue.cause === 'organization-limit' ? t('conversation.viewSandboxUsage') : t('conversation.viewSandboxes')}
        </Link>
      ) : (
        <Link className="text-xs underline" href={`/${org.slug}/conversations`}>
          {t('conversation.pauseAnotherConversation')}
        </Link>
      )}
    </span>
  );
}

function StepMark({ state }: { state: StartStep['state'] }) {
  const t = useTranslations();
  switch (state) {
    case 'running':
      return <Spinner className="text-accent" />;
    case 'done':
      return <CircleCheck role="img" aria-label={t('conversation.done')} className="text-ok" />;
    case 'skipped':
      return <CircleMinus aria-hidden className="text-ink-muted" />;
    case 'failed':
      return <CircleAlert role="img" aria-label={t('conversation.failed')} className="text-bad" />;
    default:
      return <CircleDashed aria-hidden />;
  }
}

function StartFailure({ step }: { step: StartStep }) {
  const t = useTranslations();
  const failure = failureOfCode(step.code ?? 'sandbox.start-failed', step.detail);
  const { conversation } = useConversation();
  const failed = useView((view) => view.status === 'failed');
  const { resume } = useLifecycle();
  return (
    <div className="mt-2 rounded-lg border border-line bg-bad-soft px-3 py-2.5 text-sm">
      <p className="font-medium text-bad">{failure.title}</p>
      {failure.detail ? (
        <p className="mt-1 max-h-60 overflow-auto font-mono text-xs break-words whitespace-pre-wrap">
          {failure.detail}
        </p>
      ) : null}
      {failure.nextStep ? <p className="mt-1 text-ink">{failure.nextStep}</p> : null}
      <p className="mt-1 text-xs text-ink-muted">
        <code className="font-mono">{failure.code}</code>
        {conversation.repository ? ` · ${conversation.repository}` : ''}
      </p>
      {failed ? (
        <div className="mt-2 flex flex-wrap gap-2">
          <Button size="small" busy={resume.isPending} onClick={() => resume.mutate()}>
            {t('conversation.tryAgain')}
          </Button>
          <ChangeTask />
        </div>
      ) : null}
    </div>
  );
}

/** Another address or branch is another conversation: the task goes back to where tasks are written. */
function ChangeTask() {
  const t = useTranslations();
  const { store, conversation } = useConversation();
  const { org } = useSession();
  const router = useRouter();
  const [, setDraft] = useStored(draftKey(org.id), '');
  const change = () => {
    const prompt =
      store.queue.get()[0]?.text ?? store.view.get().timeline.rows.find((row) => row.kind === 'message')?.text ?? '';
    const { agentType, maxIterations, maxBudgetUsd } = store.view.get().runSettings;
    const draft: Draft = {
      prompt,
      repository: conversation.repository ?? '',
      branch: conversation.branch ?? '',
      connection: '',
      model: conversation.model,
      agentType,
      maxIterations: maxIterations === null ? '' : String(maxIterations),
      maxBudgetUsd: maxBudgetUsd ?? '',
    };
    setDraft(JSON.stringify(draft));
    router.push(`/${org.slug}`);
  };
  return (
    <Button size="small" onClick={change}>
      {t('conversation.editTask')}
    </Button>
  );
}

/** The time, once a second while wanted; 0 on the server. */
function useNow(wanted: boolean): number {
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [wanted]);
  return now;
}
