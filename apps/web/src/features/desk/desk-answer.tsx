'use client';
import { MAX_PROMPT_LENGTH } from '@slipway/contracts/conversations';
import { Button, Checkbox, ScrollBox, Textarea } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { toast } from 'sonner';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { isSendKey, SEND_KEY } from '../../browser/keys.ts';
import { visibleText } from '../conversation/visible-text.ts';
import { useSession } from '../session/me.ts';
import { useDesk, useDeskStore } from './desk-context.tsx';
import { alikeOf } from './desk-groups.ts';
import type { DeskLine } from './desk-store.ts';

/** Others that ask for the same are named, so many of them. */
const MOST_NAMED = 10;

/** Sends an answer; the row leaves when the server says that it has it, never before. */
export function useAnswerHere<Body>(send: (body: Body) => Promise<unknown>) {
  const store = useDeskStore();
  return useMutation({
    mutationFn: send,
    onError: (error) => {
      const { title, detail, nextStep } = failureOf(error);
      toast.error(title, { description: [detail, nextStep].filter(Boolean).join(' ') });
      // Somebody else may have answered.
      store.again();
    },
  });
}

/** The command whole, and a yes or a no of the same size. No single key approves. */
export function ApproveHere({ line, onClose }: { line: DeskLine; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [reason, setReason] = useState('');
  const first = useRef<HTMLDivElement>(null);
  const id = useId();
  const { facts } = line;
  const alike = alikeOf(line, useDesk().lines ?? []);
  const [withAlike, setWithAlike] = useState(false);
  const answerOne = (accept: boolean, { id, approval }: DeskLine['facts']) =>
    api.answerConfirmation({
      org: org.id,
      conversation: id,
      idempotencyKey: newId(),
      body: {
        accept,
        actionIds: approval === null ? [] : [approval.actionId],
        ...(accept || reason.trim() === '' ? {} : { reason: reason.trim() }),
      },
    });
  const answer = useAnswerHere(async (accept: boolean) => {
    // Each is answered by itself: that of one that somebody else has answered fails alone.
    const all = withAlike ? [facts, ...alike.map((other) => other.facts)] : [facts];
    const answers = await Promise.allSettled(all.map((each) => answerOne(accept, each)));
    const failed = answers.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
  const busy = answer.isPending || answer.isSuccess;
  useLayoutEffect(() => first.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    else if (isSendKey(event) && !busy) answer.mutate(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would have its legend read before every control
    <div
      role="group"
      aria-label={t('deskPage.requestOf', { title: facts.title })}
      onKeyDown={onKeyDown}
      className="flex basis-full flex-col gap-2"
    >
      <ScrollBox
        ref={first}
        label={t('deskPage.command')}
        dir="ltr"
        className="rounded-md border border-line bg-term px-2.5 py-1.5 font-mono text-xs leading-[18px] whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {visibleText(facts.approval?.text ?? '')}
      </ScrollBox>
      <label htmlFor={id} className="text-xs text-ink-muted">
        {t('deskPage.reasonIfYouReject')}
      </label>
      <input
        id={id}
        value={reason}
        maxLength={2000}
        dir="auto"
        autoComplete="off"
        onChange={(event) => setReason(event.target.value)}
        className="h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm touch:h-11 touch:text-[16px]"
      />
      {alike.length === 0 ? null : (
        <AlikeRequests alike={alike} isChosen={withAlike} isDisabled={busy} choose={setWithAlike} />
      )}
      <div className="flex flex-wrap gap-4">
        <Button
          className="min-w-28"
          busy={busy && answer.variables === false}
          disabled={busy}
          onClick={() => answer.mutate(false)}
        >
          {t('deskPage.reject')}
        </Button>
        <Button
          tone="primary"
          className="min-w-28"
          busy={busy && answer.variables === true}
          disabled={busy}
          aria-keyshortcuts="Control+Enter Meta+Enter"
          onClick={() => answer.mutate(true)}
        >
          {t('deskPage.approve')}{' '}
          <kbd aria-hidden className="font-sans text-xs opacity-80 touch:hidden">
            {SEND_KEY}
          </kbd>
        </Button>
      </div>
    </div>
  );
}

/** Other agents that ask for the same, by name: one answer for all of them is chosen, never given by itself. */
function AlikeRequests({
  alike,
  isChosen,
  isDisabled,
  choose,
}: {
  alike: readonly DeskLine[];
  isChosen: boolean;
  isDisabled: boolean;
  choose: (isChosen: boolean) => void;
}) {
  const t = useTranslations();
  const rest = alike.length - MOST_NAMED;
  return (
    <div className="flex flex-col gap-1 text-xs text-ink-muted">
      <Checkbox
        label={t('deskPage.answerAlike', { count: alike.length })}
        checked={isChosen}
        disabled={isDisabled}
        onChange={choose}
      />
      <ul className="ml-6 list-disc">
        {alike.slice(0, MOST_NAMED).map(({ facts }) => (
          <li key={facts.id} dir="auto" className="[overflow-wrap:anywhere]">
            {facts.title}
          </li>
        ))}
        {rest > 0 ? <li>{t('deskPage.andMoreAlike', { count: rest })}</li> : null}
      </ul>
    </div>
  );
}

/** What the agent said, and a message to it. */
export function ReplyHere({ line, onClose }: { line: DeskLine; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { facts } = line;
  const send = useAnswerHere((message: { id: string; text: string }) =>
    api.sendMessage({
      org: org.id,
      conversation: facts.id,
      body: message,
      idempotencyKey: message.id,
    }),
  );
  const busy = send.isPending || send.isSuccess;
  const isReady = text.trim() !== '' && text.length <= MAX_PROMPT_LENGTH && !busy;
  useLayoutEffect(() => box.current?.focus(), []);
  const go = () => isReady && send.mutate({ id: newId(), text });
  return (
    <div className="flex basis-full flex-col gap-2">
      <label htmlFor={id} className="text-xs text-ink-muted">
        {t('deskPage.replyTo', { title: facts.title })}
      </label>
      <Textarea
        ref={box}
        id={id}
        rows={3}
        dir="auto"
        value={text}
        readOnly={busy}
        aria-keyshortcuts="Control+Enter Meta+Enter"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && text === '') onClose();
          else if (isSendKey(event)) go();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div className="flex flex-wrap gap-4">
        <Button tone="quiet" disabled={busy} onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button tone="primary" busy={busy} disabled={!isReady} onClick={go}>
          {t('deskPage.send')}{' '}
          <kbd aria-hidden className="font-sans text-xs opacity-80 touch:hidden">
            {SEND_KEY}
          </kbd>
        </Button>
      </div>
    </div>
  );
}
