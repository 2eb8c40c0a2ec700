'use client';
import type { AnswerConfirmation, Conversation } from '@slipway/contracts/conversations';
import { Button, cn, Kbd, Menu, MenuItem, ScrollBox } from '@slipway/ui';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { ArrowDown, ChevronDown, Hand } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useCallback, useState } from 'react';
import { api, newId } from '../../api/client.ts';
import { isSendKey, SEND_KEY } from '../../browser/keys.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { ReasonForm } from '../form/reason-form.tsx';
import { showFailure } from '../run-settings/use-run-settings.ts';
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

function useAnswer(): UseMutationResult<Conversation, unknown, AnswerConfirmation> {
  const { conversation, orgId } = useConversation();
  return useMutation({
    mutationFn: (body: AnswerConfirmation) =>
      api.answerConfirmation({ org: orgId, conversation: conversation.id, idempotencyKey: newId(), body }),
    onError: showFailure,
  });
}

function Waiting({ pending }: { pending: readonly Pending[] }) {
  const t = useTranslations();
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
  const { list, end, seen, goesOn, further } = useSeenEnd(isWhole ? ids.join() : null);
  const answer = useAnswer();
  const mayAnswer = org.permissions.includes('conversation:write');
  const several = pending.length > 1;
  const counts = countsOf(ids, rejected);
  // The answer was taken in; the log says what came of it.
  const busy = answer.isPending || answer.isSuccess;
  const reject = (reason = '') =>
    answer.mutate({ accept: false, actionIds: ids, ...(reason === '' ? {} : { reason }) });
  const mayApprove = mayAnswer && !rejecting && !busy && (seen || counts.approved === 0);
  const decide = (id: string) => (reason: string | null) =>
    setRejected(({ [id]: _, ...rest }) => (reason === null ? rest : { ...rest, [id]: reason }));
  return (
    <section
      aria-label={t('approval.approval')}
      // Only with ⌘ or Ctrl: a bare key never approves, nor does one that is pressed on another button.
      onKeyDown={(event) => {
        if (!mayApprove || event.repeat || !isSendKey(event) || isElsewhere(event.target)) return;
        event.preventDefault();
        answer.mutate(answerOf(ids, rejected));
      }}
      className="shrink-0 border-t border-line bg-surface px-4 pt-3 pb-1 md:px-6"
    >
      <div className="mx-auto flex max-w-3xl flex-col rounded-lg border border-line-strong bg-raised">
        <h2 className="flex items-center gap-2 px-3 pt-2.5 pb-1.5 text-xs font-medium text-ink-muted">
          <Hand aria-hidden className="size-3.5 text-warn" />
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
            <Rejection busy={busy} onCancel={() => setRejecting(false)} onReject={reject} />
          ) : (
            <Choices
              pending={pending}
              counts={counts}
              busy={busy}
              reading={{ seen, isWhole, goesOn, further }}
              onAnswer={() => answer.mutate(answerOf(ids, rejected))}
              onAlways={({ tool_name, match, value }) =>
                answer.mutate({ ...answerOf(ids, {}), always: { tool_name, match, value } })
              }
              onReject={() => reject()}
              onReply={() => setRejecting(true)}
            />
          )}
        </div>
      </div>
    </section>
  );
}

/** Whether a key is pressed on something that has a use of its own for it. */
function isElsewhere(target: EventTarget): boolean {
  const own = target instanceof Element ? target.closest('button, a, input, [role="menuitem"]') : null;
  return own !== null && !own.hasAttribute('data-approves');
}

/** As wide and as high as the others, whatever it says; 48 pixels high for a finger. */
const ANSWER = 'w-full min-w-0 touch:h-12';

/** Approve is open once everything was there to read and was read to its end. */
function Choices({
  pending,
  counts,
  busy,
  reading: { seen, isWhole, goesOn, further },
  onAnswer,
  onAlways,
  onReject,
  onReply,
}: {
  pending: readonly Pending[];
  counts: ReturnType<typeof countsOf>;
  busy: boolean;
  reading: { seen: boolean; isWhole: boolean; goesOn: boolean; further: () => void };
  onAnswer: () => void;
  onAlways: (always: Always) => void;
  onReject: () => void;
  onReply: () => void;
}) {
  const t = useTranslations();
  return (
    <div className="flex flex-col gap-2">
      <div className="grid grid-cols-3 gap-2 max-sm:grid-cols-2 max-sm:gap-x-4">
        <Button disabled={busy} onClick={onReject} className={ANSWER}>
          {pending.length > 1 ? t('approval.rejectAll2') : t('approval.reject2')}
        </Button>
        <Button
          tone={counts.approved === 0 ? 'danger' : 'primary'}
          busy={busy}
          disabled={counts.approved > 0 && !seen}
          onClick={onAnswer}
          data-approves
          aria-keyshortcuts="Control+Enter Meta+Enter"
          className={cn(ANSWER, 'sm:order-last')}
        >
          {answerLabel(t, counts)}
          <span aria-hidden className="max-sm:hidden">
            <Kbd>{SEND_KEY}</Kbd>
          </span>
        </Button>
        <Button disabled={busy} onClick={onReply} className={cn(ANSWER, 'max-sm:col-span-2')}>
          {t('approval.reject')}
        </Button>
      </div>
      <div className="flex flex-wrap items-center gap-x-2 empty:hidden">
        <AlwaysMenu pending={pending} busy={busy || !seen} onChoose={onAlways} />
        <p role="status" className="text-xs text-ink-muted empty:hidden">
          {goesOn ? t('approval.scrollToTheEndTo') : isWhole ? null : t('approval.youCanApproveOnceThe')}
        </p>
        {seen || (isWhole && !goesOn) ? null : (
          <Button tone="quiet" size="small" onClick={further} className="ml-auto">
            <ArrowDown aria-hidden /> {t('approval.showMore')}
          </Button>
        )}
      </div>
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
        <Button tone="quiet" size="small" disabled={busy}>
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

interface RejectionProps {
  busy: boolean;
  onCancel: () => void;
  onReject: (reason: string) => void;
}

function Rejection({ busy, onCancel, onReject }: RejectionProps) {
  const t = useTranslations();
  return (
    <ReasonForm
      name={t('approval.rejectWithAReason')}
      label={t('approval.reasonAndWhatToDo')}
      placeholder={t('approval.reasonAndWhatToDoInstead')}
      submit={t('approval.reject2')}
      maxLength={2000}
      busy={busy}
      onCancel={onCancel}
      onSend={onReject}
    />
  );
}
