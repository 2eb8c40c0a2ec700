'use client';
import { Badge, Button, Menu, MenuItem, ScrollBox } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ChevronDown, Hand } from 'lucide-react';
import { type SyntheticEvent, useState } from 'react';
import { toast } from 'sonner';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { alwaysChoices, type Pending, pendingOf } from './pending.ts';

const RISK = {
  HIGH: { tone: 'bad', label: 'high risk' },
  MEDIUM: { tone: 'warn', label: 'medium risk' },
  LOW: { tone: 'neutral', label: 'low risk' },
  UNKNOWN: { tone: 'neutral', label: 'risk unknown' },
} as const;

type Answer = { readonly accept: boolean; readonly reason?: string; readonly always?: ReturnType<typeof alwaysChoices>[number] };

/** What the agent asks for, above the composer, until somebody has answered. */
export function ApprovalCard() {
  const asks = useView((view) => view.state.execution === 'waiting_for_confirmation');
  return asks ? <Asking /> : null;
}

function Asking() {
  const timeline = useView((view) => view.timeline);
  const analysis = useView((view) => view.analysis);
  const state = useView((view) => view.state);
  const { conversation, orgId } = useConversation();
  const { org } = useSession();
  const [rejecting, setRejecting] = useState(false);
  const pending = pendingOf({ state, timeline, analysis });
  const answer = useMutation({
    mutationFn: ({ accept, reason, always }: Answer) =>
      api.answerConfirmation({
        org: orgId,
        conversation: conversation.id,
        idempotencyKey: newId(),
        body: {
          accept,
          actionIds: pending.map(({ id }) => id),
          ...(reason ? { reason } : {}),
          ...(always ? { always: { tool_name: always.tool_name, match: always.match, value: always.value } } : {}),
        },
      }),
    onError: (error) => {
      const failure = failureOf(error);
      toast.error(failure.title, { description: [failure.detail, failure.nextStep].filter(Boolean).join(' ') });
    },
  });
  if (pending.length === 0) return null;
  const mayAnswer = org.permissions.includes('conversation:write');
  // The answer was taken in; the log says what came of it.
  const busy = answer.isPending || answer.isSuccess;
  return (
    <section aria-label="Approval" className="shrink-0 border-t border-line bg-surface px-4 pt-3 pb-1 md:px-6">
      <div className="mx-auto flex max-w-3xl flex-col gap-2.5 rounded-lg border border-line-strong bg-raised p-3">
        <h2 className="flex items-center gap-2 text-sm font-semibold">
          <Hand aria-hidden className="size-4 text-warn" />
          {pending.length === 1 ? 'The agent asks before it does this' : `The agent asks before it does these ${pending.length} things`}
        </h2>
        <ul className="flex max-h-[32dvh] flex-col gap-2 overflow-auto">
          {pending.map((one) => (
            <PendingAction key={one.id} pending={one} />
          ))}
        </ul>
        {!mayAnswer ? (
          <p className="text-xs text-ink-muted">You may watch this conversation. Somebody who may write to it has to answer.</p>
        ) : rejecting ? (
          <Reason busy={busy} onCancel={() => setRejecting(false)} onReject={(reason) => answer.mutate({ accept: false, reason })} />
        ) : (
          <div className="flex flex-wrap items-center gap-2">
            <span className="inline-flex">
              <Button tone="primary" busy={busy} onClick={() => answer.mutate({ accept: true })}>
                Approve
              </Button>
            </span>
            <Always pending={pending} busy={busy} onChoose={(always) => answer.mutate({ accept: true, always })} />
            <Button disabled={busy} onClick={() => setRejecting(true)}>
              Reject…
            </Button>
            <p className="text-xs text-ink-muted max-sm:basis-full">A message rejects it, too.</p>
          </div>
        )}
      </div>
    </section>
  );
}

function PendingAction({ pending: { tool, what, summary, risk, reasons } }: { pending: Pending }) {
  return (
    <li className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-2 text-xs">
        <Badge tone={RISK[risk].tone}>{RISK[risk].label}</Badge>
        <span className="text-ink-muted">{tool}</span>
        {summary === null ? null : <span className="text-ink">{summary}</span>}
      </div>
      <ScrollBox
        label="What would happen"
        className="max-h-40 overflow-auto rounded-md border border-line bg-surface px-2.5 py-1.5 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {what}
      </ScrollBox>
      {reasons.length === 0 ? null : (
        <ul className="flex flex-col gap-0.5 text-xs text-ink-muted">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Always({
  pending,
  busy,
  onChoose,
}: {
  pending: readonly Pending[];
  busy: boolean;
  onChoose: (always: ReturnType<typeof alwaysChoices>[number]) => void;
}) {
  const choices = alwaysChoices(pending);
  if (choices.length === 0) return null;
  return (
    <Menu
      align="start"
      side="top"
      trigger={
        <Button disabled={busy}>
          Always here <ChevronDown aria-hidden />
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

function Reason({ busy, onCancel, onReject }: { busy: boolean; onCancel: () => void; onReject: (reason: string) => void }) {
  const [reason, setReason] = useState('');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!busy) onReject(reason.trim());
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2" aria-label="Reject with a reason">
      <label className="min-w-0 flex-1 basis-60">
        <span className="sr-only">Why, and what to do instead</span>
        <input
          // biome-ignore lint/a11y/noAutofocus: the field is what was asked for
          autoFocus
          value={reason}
          maxLength={2000}
          onChange={(event) => setReason(event.target.value)}
          placeholder="Why, and what to do instead (optional)"
          className="h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm touch:h-11 touch:text-[16px]"
        />
      </label>
      <Button type="submit" tone="danger" busy={busy}>
        Reject
      </Button>
      <Button tone="quiet" disabled={busy} onClick={onCancel}>
        Back
      </Button>
    </form>
  );
}
