'use client';
import { EGRESS_ONCE_SECONDS, type EgressRequest } from '@slipway/contracts/sandboxes';
import { Button, IconButton, Notice, ScrollBox } from '@slipway/ui';
import { ArrowUpRight, CircleX, Globe, ShieldCheck, X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { AskedTooOften } from './asked-too-often.tsx';
import { Asker } from './asker.tsx';
import { cardOf, commandOf, dismiss, NO_MEMORY, remember } from './card-state.ts';
import { egressWords } from './egress-words.ts';
import { answeredAlike, groupsOf, type RequestGroup } from './request-groups.ts';
import { SentSoFar } from './sent-so-far.tsx';
import type { Outcome } from './use-answer-requests.ts';
import { useEgressRequests, useKeepEgressRequest } from './use-egress-requests.ts';
import { WaitingGroup } from './waiting-group.tsx';

/** How the user's own last answers came out, until the card is put away. */
interface Answered {
  readonly ids: ReadonlySet<string>;
  /** Of those that another user had answered first. */
  readonly late: ReadonlySet<string>;
  /** The focus was on a button that is gone. */
  readonly focus: boolean;
}

/** Hosts that the sandbox asks for, above the composer, until each has its answer. */
export function EgressCard() {
  const t = useTranslations();
  const read = useEgressRequests();
  const requests = read.data?.requests ?? [];
  const [memory, setMemory] = useState(NO_MEMORY);
  const [answered, setAnswered] = useState<Answered | null>(null);
  const known = remember(memory, requests);
  if (known !== memory) setMemory(known);
  const { waiting, settled } = cardOf(requests, known);
  const last = waiting.at(-1) ?? settled.at(-1);
  return (
    <>
      <div aria-live="polite" className="sr-only">
        {last === undefined || answered?.ids.has(last.id) ? '' : egressWords(t, last)}
      </div>
      {read.data?.observes === true ? (
        <p className="shrink-0 bg-surface px-4 pt-2 md:px-6">
          <span className="mx-auto flex max-w-3xl items-start gap-2 text-xs text-ink-muted">
            <Globe aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warn" />
            {t('egress.observed')}
          </span>
        </p>
      ) : null}
      <AskedTooOften requests={requests} />
      {read.data === undefined && read.error !== null ? (
        <div className="shrink-0 bg-surface px-4 pt-3 md:px-6">
          <Notice
            tone="warn"
            title={t('egress.requestsNotLoaded')}
            action={<Button onClick={() => void read.refetch()}>{t('common.retry')}</Button>}
            className="mx-auto max-w-3xl"
          />
        </div>
      ) : null}
      {waiting.length + settled.length === 0 ? null : (
        <section
          aria-label={t('egress.networkRequests')}
          className="shrink-0 border-t border-line bg-surface px-4 pt-3 pb-1 md:px-6"
        >
          <div className="mx-auto flex max-w-3xl flex-col rounded-lg border border-line-strong bg-raised">
            {waiting.length === 0 ? null : (
              <Waiting requests={waiting} opensHosts={read.data?.opensHosts === true} onAnswered={setAnswered} />
            )}
            {settled.length === 0 ? null : (
              <div className="flex items-start gap-2 border-t border-line py-1.5 pr-1.5 pl-3 first:border-0">
                <ul className="flex min-w-0 flex-1 flex-col">
                  {answeredAlike(settled).map(({ key, requests: alike }) => (
                    <SettledLine key={key} requests={alike} answered={answered} />
                  ))}
                </ul>
                <IconButton
                  size="icon-small"
                  label={t('egress.dismiss')}
                  onClick={() => setMemory(dismiss(known, requests))}
                >
                  <X aria-hidden />
                </IconButton>
              </div>
            )}
          </div>
        </section>
      )}
    </>
  );
}

function Waiting({
  requests,
  opensHosts,
  onAnswered,
}: {
  requests: readonly EgressRequest[];
  opensHosts: boolean;
  onAnswered: (answered: Answered) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const { conversation } = useConversation();
  const { keep, reread } = useKeepEgressRequest();
  const onOutcome = ({ decided, late }: Outcome, focus: boolean) => {
    const ids = [...decided.map(({ id }) => id), ...late];
    if (ids.length > 0) onAnswered({ ids: new Set(ids), late: new Set(late), focus });
    keep(decided);
    if (late.length > 0) void reread();
  };
  return (
    <div>
      <h2 className="flex items-center gap-2 px-3 pt-2.5 pb-1.5 text-xs font-medium text-ink-muted">
        <Globe aria-hidden className="size-3.5 text-warn" />
        {t('egress.requests', { count: requests.length })}
      </h2>
      <ScrollBox
        label={t('egress.waitingRequests')}
        className="max-h-[min(40dvh,24rem)] overflow-y-auto overscroll-contain px-3 pb-2.5"
      >
        <ul className="flex flex-col gap-3">
          {groupsOf(requests).map(({ key, requests: together }) => (
            <li key={key} className="border-t border-line pt-3 first:border-0 first:pt-0">
              <WaitingGroup
                opensHosts={opensHosts}
                conversationId={conversation.id}
                requests={together}
                asker={<AskerHere request={together[0]} />}
                onOutcome={onOutcome}
              />
            </li>
          ))}
        </ul>
      </ScrollBox>
      <SentSoFar />
      {org.permissions.includes('egress:answer') && requests.some(({ use }) => use === undefined) ? (
        <p className="border-t border-line px-3 py-1.5 text-xs text-ink-muted">
          {t('egress.onceIsAMinute', { seconds: EGRESS_ONCE_SECONDS })}
        </p>
      ) : null}
    </div>
  );
}

/** What asked, with the way to it in the timeline. */
function AskerHere({ request }: { request: EgressRequest }) {
  const t = useTranslations();
  const { conversation, reveal } = useConversation();
  const rows = useView((view) => view.timeline.rows);
  // The log may have the action only after the list was read.
  const askedBy = request.askedBy ?? commandOf(rows, request.actionId);
  const { seq } = askedBy ?? { seq: null };
  return (
    <Asker
      askedBy={askedBy}
      repository={conversation.repository}
      place={
        seq === null ? null : (
          <Button
            size="icon-small"
            tone="quiet"
            aria-label={t('egress.showInTimeline')}
            title={t('egress.showInTimeline')}
            onClick={() => reveal.ask(seq, { stepId: request.actionId })}
          >
            <ArrowUpRight aria-hidden />
          </Button>
        )
      }
    />
  );
}

/** What became of requests that were answered alike, with name and time. */
function SettledLine({
  requests: [request, ...others],
  answered,
}: {
  requests: RequestGroup['requests'];
  answered: Answered | null;
}) {
  const t = useTranslations();
  const line = useRef<HTMLLIElement>(null);
  const last = others.at(-1) ?? request;
  const isOwn = answered?.ids.has(last.id) ?? false;
  const isLate = [request, ...others].some(({ id }) => answered?.late.has(id));
  useEffect(() => {
    if (isOwn && answered?.focus) line.current?.focus();
  }, [isOwn, answered]);
  const Icon = request.state === 'allowed' ? ShieldCheck : CircleX;
  return (
    <li ref={line} tabIndex={-1} className="flex items-start gap-2 py-0.5 text-sm text-ink">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${request.state === 'allowed' ? 'text-ok' : 'text-bad'}`} />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {egressWords(t, request, others)}
        {isLate ? <span className="text-ink-muted"> · {t('egress.answeredBefore')}</span> : null}
        {last.decidedAt === null ? null : (
          <span className="text-xs text-ink-muted">
            {' · '}
            <Ago at={last.decidedAt} />
          </span>
        )}
      </span>
    </li>
  );
}
