'use client';
import type { AnswerConfirmation } from '@slipway/contracts/conversations';
import { Button, Menu, MenuItem, ScrollBox } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ArrowDown, ChevronDown, Hand } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type SyntheticEvent, useCallback, useState } from 'react';
import { toast } from 'sonner';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { answerLabel, answerOf, countsOf, type Rejected } from './decisions.ts';
import { alwaysChoices, type Pending, pendingOf } from './pending.ts';
import { PendingAction } from './pending-action.tsx';
import { useSeenEnd } from './use-seen-end.ts';

type Always = ReturnType<typeof alwaysChoices>[number];

/** What the agent asks for, above the composer, until somebody has answered. */
export function ApprovalCard() {
  const asks = useView((view) => view.state.execution === 'waiting_for_confirmation');
  return asks ? <Asking /> : null;
}

function Asking() {
  const timeline = useView((view) => view.timeline);
  const analysis = useView((view) => view.analysis);
  const state = useView((view) => view.state);
  const pending = pendingOf({ state, timeline, analysis });
  if (pending.length === 0) return null;
  // What waits next is another card: no decision and no "seen" of this one holds for it.
  return <Waiting key={pending.map(({ id }) => id).join()} pending={pending} />;
}

function Waiting({ pending }: { pending: readonly Pending[] }) {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const { org } = useSession();
  const [rejecting, setRejecting] = useState(false);
  const [rejected, setRejected] = useState<Rejected>({});
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
  const arrived = useCallback(
    (id: string) => setWhole((before) => (before.has(id) ? before : new Set([...before, id]))),
    [],
  );
  const ids = pending.map(({ id }) => id);
  const isWhole = ids.every((id) => whole.has(id));
  const { list, end, seen, further } = useSeenEnd(isWhole ? ids.join() : null);
  const answer = useMutation({
    mutationFn: (body: AnswerConfirmation) =>
      api.answerConfirmation({ org: orgId, conversation: conversation.id, idempotencyKey: newId(), body }),
    onError: (error) => {
      const failure = failureOf(error);
      toast.error(failure.title, { description: [failure.detail, failure.nextStep].filter(Boolean).join(' ') });
    },
  });
  const mayAnswer = org.permissions.includes('conversation:write');
  const several = pending.length > 1;
  const counts = countsOf(ids, rejected);
  // The answer was taken in; the log says what came of it.
  const busy = answer.isPending || answer.isSuccess;
  const decide = (id: string) => (reason: string | null) =>
    setRejected(({ [id]: _, ...rest }) => (reason === null ? rest : { ...rest, [id]: reason }));
  return (
    <section
      aria-label={t('approval.approval')}
      className="shrink-0 border-t border-line bg-surface px-4 pt-3 pb-1 md:px-6"
    >
      <div className="mx-auto flex max-w-3xl flex-col rounded-lg border border-line-strong bg-raised">
        <h2 className="flex items-center gap-2 px-3 pt-3 pb-2 text-sm font-semibold">
          <Hand aria-hidden className="size-4 text-warn" />
          {several
            ? t('approval.theAgentAsksForApproval', { count: pending.length })
            : t('approval.theAgentAsksForApproval2')}
        </h2>
        <div className="relative">
          <ScrollBox
            ref={list}
            label={t('approval.requestedAction')}
            className="max-h-[min(46dvh,30rem)] overflow-y-auto overscroll-contain px-3 pb-2"
          >
            <ol className="flex flex-col gap-3">
              {pending.map((one, index) => (
                <PendingAction
                  key={one.id}
                  pending={one}
                  place={several ? t('approval.of', { index: index + 1, count: pending.length }) : undefined}
                  rejected={rejected[one.id] ?? null}
                  decide={several && mayAnswer ? decide(one.id) : undefined}
                  onWhole={arrived}
                />
              ))}
            </ol>
            <div ref={end} className="h-px" />
          </ScrollBox>
          {seen ? null : (
            <div
              aria-hidden
              className="pointer-events-none absolute inset-x-0 bottom-0 h-8 bg-linear-to-t from-raised"
            />
          )}
        </div>
        <div className="border-t border-line px-3 py-2.5">
          {!mayAnswer ? (
            <p className="text-xs text-ink-muted">{t('approval.youCanViewThisConversation')}</p>
          ) : rejecting ? (
            <Reason
              busy={busy}
              onCancel={() => setRejecting(false)}
              onReject={(reason) =>
                answer.mutate({ accept: false, actionIds: ids, ...(reason === '' ? {} : { reason }) })
              }
            />
          ) : (
            <Choices
              pending={pending}
              counts={counts}
              busy={busy}
              reading={{ seen, isWhole, further }}
              onAnswer={() => answer.mutate(answerOf(ids, rejected))}
              onAlways={({ tool_name, match, value }) =>
                answer.mutate({ ...answerOf(ids, {}), always: { tool_name, match, value } })
              }
              onReject={() => setRejecting(true)}
            />
          )}
        </div>
      </div>
    </section>
  );
}

/** Approve is open once everything was there to read and was read to its end. */
function Choices({
  pending,
  counts,
  busy,
  reading: { seen, isWhole, further },
  onAnswer,
  onAlways,
  onReject,
}: {
  pending: readonly Pending[];
  counts: ReturnType<typeof countsOf>;
  busy: boolean;
  reading: { seen: boolean; isWhole: boolean; further: () => void };
  onAnswer: () => void;
  onAlways: (always: Always) => void;
  onReject: () => void;
}) {
  const t = useTranslations();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button
        tone={counts.approved === 0 ? 'danger' : 'primary'}
        busy={busy}
        disabled={counts.approved > 0 && !seen}
        onClick={onAnswer}
      >
        {answerLabel(t, counts)}
      </Button>
      <AlwaysMenu pending={pending} busy={busy || !seen} onChoose={onAlways} />
      <Button disabled={busy} onClick={onReject}>
        {pending.length > 1 ? t('approval.rejectAll2') : t('approval.reject')}
      </Button>
      {seen ? null : (
        <Button tone="quiet" onClick={further} className="ml-auto">
          <ArrowDown aria-hidden /> {t('approval.showMore')}
        </Button>
      )}
      <p role="status" className="basis-full text-xs text-ink-muted empty:hidden">
        {seen ? null : isWhole ? t('approval.scrollToTheEndTo') : t('approval.youCanApproveOnceThe')}
      </p>
    </div>
  );
}

function AlwaysMenu({
  pending,
  busy,
  onChoose,
}: {
  pending: readonly Pending[];
  busy: boolean;
  onChoose: (always: Always) => void;
}) {
  const t = useTranslations();
  const choices = alwaysChoices(t, pending);
  if (choices.length === 0) return null;
  return (
    <Menu
      align="start"
      side="top"
      trigger={
        <Button disabled={busy}>
          {t('approval.alwaysHere')} <ChevronDown aria-hidden />
        </Button>
      }
    >
      {choices.map((choice) => (
        <MenuItem key={choice.match} onSelect={() => onChoose(choice)}>
          {choice.label}
        </MenuItem>
      ))}
    </Menu>
  );
}

function Reason({
  busy,
  onCancel,
  onReject,
}: {
  busy: boolean;
  onCancel: () => void;
  onReject: (reason: string) => void;
}) {
  const t = useTranslations();
  const [reason, setReason] = useState('');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!busy) onReject(reason.trim());
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2" aria-label={t('approval.rejectWithAReason')}>
      <label className="min-w-0 flex-1 basis-60">
        <span className="sr-only">{t('approval.reasonAndWhatToDo')}</span>
        <input
          // biome-ignore lint/a11y/noAutofocus: the field is what was asked for
          autoFocus
          value={reason}
          maxLength={2000}
          dir="auto"
          onChange={(event) => setReason(event.target.value)}
          placeholder={t('approval.reasonAndWhatToDoInstead')}
          className="h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm touch:h-11 touch:text-[16px]"
        />
      </label>
      <Button type="submit" tone="danger" busy={busy}>
        {t('approval.reject2')}
      </Button>
      <Button tone="quiet" disabled={busy} onClick={onCancel}>
        {t('common.back')}
      </Button>
    </form>
  );
}
