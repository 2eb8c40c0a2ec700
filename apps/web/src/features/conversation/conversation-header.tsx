'use client';
import type { ConversationStatus } from '@slipway/contracts/conversations';
import { Badge, Button, IconButton, StatusChip, Tooltip } from '@slipway/ui';
import { FileDiff, Pause, Play, Square } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { Repository } from '../conversations/conversation-row.tsx';
import { isActive, STATUS_LABELS } from '../conversations/status-label.ts';
import { PullRequestChip } from '../pull-request/pull-request-chip.tsx';
import { ReviewLink } from '../review/review-link.tsx';
import { reasonOf } from '../runtime/runtime-words.ts';
import { useRuntime } from '../runtime/use-runtime.ts';
import { useSession } from '../session/me.ts';
import { useConversation, useView } from './conversation-context.ts';
import { ConversationMenu } from './conversation-menu.tsx';
import { Elapsed } from './elapsed.tsx';
import { Gauge } from './gauge/gauge.tsx';
import { useConversationCommands } from './use-conversation-commands.ts';
import { type Lifecycle, useLifecycle } from './use-lifecycle.ts';

export function ConversationHeader() {
  const t = useTranslations();
  const { conversation } = useConversation();
  const title = useView((view) => view.title);
  const status = useSettled(useView((view) => view.status));
  const asks = useView((view) => view.state.execution === 'waiting_for_confirmation');
  const { stop, pause, resume } = useLifecycle();
  const [, setTab] = useAddressValue('tab');
  const { org } = useSession();
  useEffect(() => {
    document.title = `${title} · Slipway`;
  }, [title]);
  const active = status === 'working' || status === 'starting';
  const { stopping, pausing } = useHalting(status, stop, pause);
  const mayWrite = org.permissions.includes('conversation:write');
  const plans = useView((view) => view.runSettings.agentType === 'plan');
  const mayStop = mayWrite && (active || asks);
  const mayPause = mayWrite && (active || pausing || status === 'waiting');
  const mayResume = mayWrite && !pausing && (status === 'paused' || status === 'stopped' || status === 'failed');
  useConversationCommands({
    stop: mayStop && !stopping ? () => stop.mutate() : null,
    pause: mayPause && !pausing ? () => pause.mutate() : null,
    resume: mayResume && !resume.isPending ? () => resume.mutate() : null,
  });
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-4 py-2 md:px-6">
      <div className="min-w-0 flex-1 max-md:basis-full">
        <div className="flex min-w-0 items-center gap-2.5">
          <h1 dir="auto" className="truncate text-base font-semibold" title={title}>
            {title}
          </h1>
          {pausing || stopping ? (
            <StatusChip state="working" label={pausing ? t('conversation.pausing') : t('conversation.stopping')} />
          ) : (
            <Status
              state={asks ? 'waiting' : status}
              label={asks ? t('conversation.waitingForApproval') : t(STATUS_LABELS[status])}
              why={() => setTab('details', 'push')}
            />
          )}
          {status === 'working' && !pausing && !stopping ? <Elapsed /> : null}
          {plans ? <Badge>{t('conversation.planOnly')}</Badge> : null}
        </div>
        <div className="flex min-w-0 items-center gap-3 text-xs text-ink-muted">
          <Repository conversation={conversation} />
          <PullRequestChip />
          <Gauge />
        </div>
      </div>
      <div className="flex shrink-0 items-center gap-1.5 max-md:w-full max-md:gap-1">
        <ReviewLink />
        {mayStop ? (
          <Button size="medium" onClick={() => stop.mutate()} busy={stopping}>
            {stopping ? null : <Square aria-hidden />} {t('conversation.stop')}
          </Button>
        ) : null}
        {mayPause ? (
          <IconButton label={t('conversation.pause')} tone="plain" onClick={() => pause.mutate()} busy={pausing}>
            {pausing ? null : <Pause aria-hidden />}
          </IconButton>
        ) : null}
        {mayResume ? (
          <Button onClick={() => resume.mutate()} busy={resume.isPending}>
            {resume.isPending ? null : <Play aria-hidden />}{' '}
            {status === 'failed' ? t('conversation.tryAgain') : t('common.resume')}
          </Button>
        ) : null}
        <Button tone="quiet" className="ml-auto md:hidden" onClick={() => setTab('changes', 'push')}>
          <FileDiff aria-hidden /> {t('common.changes')}
        </Button>
        <ConversationMenu />
      </div>
    </header>
  );
}

/** Longest cause shown on hover; all of it is in the details. UTF-16 code units. */
const MAX_HINT = 240;

/** The status; of one that does not go on by itself also why, on hover, and by pressing it the details. */
function Status({ state, label, why }: { state: ConversationStatus; label: string; why: () => void }) {
  const t = useTranslations();
  const runtime = useRuntime(state === 'failed' || state === 'paused' || state === 'stopped' || state === 'finished');
  const { cause, nextStep } =
    runtime === null || isActive(state) ? { cause: '', nextStep: '' } : reasonOf(t, runtime, state);
  const chip = <StatusChip state={state} label={label} />;
  if (cause === '') return chip;
  const hint = `${cause.slice(0, MAX_HINT)}${cause.length > MAX_HINT ? '…' : ''} ${nextStep}`.trim();
  return (
    <Tooltip label={hint}>
      <button type="button" onClick={why} className="shrink-0 cursor-pointer rounded-full">
        {chip}
      </button>
    </Tooltip>
  );
}

/**
 * Between a start and the message that it was for, a conversation waits for an instant: that is not said. Milliseconds.
 */
const WAITS_AFTER_MS = 400;

function useSettled(status: ConversationStatus): ConversationStatus {
  const [shown, setShown] = useState(status);
  useEffect(() => {
    const timer = setTimeout(() => setShown(status), status === 'waiting' ? WAITS_AFTER_MS : 0);
    return () => clearTimeout(timer);
  }, [status]);
  return status === 'waiting' ? shown : status;
}

/**
 * A pause that had to interrupt the step under way reads as stopped until its own event is there: longest wait for
 * that. Milliseconds.
 */
const PAUSE_SETTLES_MS = 5_000;

/** Asked for and not yet in the log. The answer of the call only says that it was taken in; the log says the rest. */
function useHalting(
  status: ConversationStatus,
  stop: Lifecycle['stop'],
  pause: Lifecycle['pause'],
): { stopping: boolean; pausing: boolean } {
  const active = status === 'working' || status === 'starting';
  const between = status === 'stopped' && pause.isSuccess;
  const pausing = pause.isPending || (pause.isSuccess && (active || between || status === 'waiting'));
  const stopping = stop.isPending || (stop.isSuccess && active);
  const { reset: forgetStop } = stop;
  const { reset: forgetPause } = pause;
  useEffect(() => {
    if (!active) forgetStop();
    if (active || status === 'waiting') return;
    const timer = setTimeout(forgetPause, between ? PAUSE_SETTLES_MS : 0);
    return () => clearTimeout(timer);
  }, [active, between, status, forgetStop, forgetPause]);
  return { stopping, pausing };
}
