'use client';
import type { AnswerEgressRequest, EgressRequest } from '@slipway/contracts/sandboxes';
import { Badge, Button, Notice } from '@slipway/ui';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { ArrowUpRight } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type RefObject, useRef, useState } from 'react';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { asAgo } from '../../browser/ago.tsx';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { visibleText } from '../conversation/visible-text.ts';
import { workspacePaths } from '../conversation/workspace-path.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { ReasonForm } from '../form/reason-form.tsx';
import { useSession } from '../session/me.ts';
import { AskedHost } from './asked-host.tsx';
import { commandOf, refusalOf } from './card-state.ts';
import { EgressChoices } from './egress-choices.tsx';
import { hostText } from './egress-words.ts';
import { useKeepEgressRequest } from './use-egress-requests.ts';

type Answer = Pick<AnswerEgressRequest, 'decision' | 'scope' | 'reason'>;
type OnAnswered = (how: { readonly late: boolean; readonly focus: boolean }) => void;

/** Sends an answer. Pressing again after a lost response sends the same key, so it counts once. */
function useAnswer(
  { id, host, port }: EgressRequest,
  place: RefObject<HTMLLIElement | null>,
  onAnswered: OnAnswered,
): UseMutationResult<EgressRequest, unknown, Answer> {
  const { orgId, conversation } = useConversation();
  const { keep, reread } = useKeepEgressRequest();
  const attempt = useRef({ body: '', key: '' });
  const settle = (late: boolean) =>
    onAnswered({ late, focus: place.current?.contains(document.activeElement) === true });
  return useMutation({
    mutationFn: (answer: Answer) => {
      const body = JSON.stringify(answer);
      if (attempt.current.body !== body) attempt.current = { body, key: newId() };
      return api.answerEgressRequest({
        org: orgId,
        conversation: conversation.id,
        request: id,
        idempotencyKey: attempt.current.key,
        body: { ...answer, host, port },
      });
    },
    onSuccess: (decided) => {
      settle(false);
      keep(decided);
    },
    onError: async (error) => {
      if (refusalOf(failureOf(error).code) !== 'answered') return;
      settle(true);
      await reread();
    },
  });
}

/** One host that the sandbox waits for: who asks, what is known of it, and the answers. */
export function WaitingRequest({ request, onAnswered }: { request: EgressRequest; onAnswered: OnAnswered }) {
  const t = useTranslations();
  const { org } = useSession();
  const place = useRef<HTMLLIElement>(null);
  const answer = useAnswer(request, place, onAnswered);
  const [refusing, setRefusing] = useState<'not yet' | 'now' | 'given up'>('not yet');
  const host = hostText(request);
  const refusal = answer.isError ? refusalOf(failureOf(answer.error).code) : null;
  return (
    <li ref={place} className="flex flex-col gap-1.5 border-t border-line pt-3 first:border-0 first:pt-0">
      <AskedHost request={request} />
      <Asker request={request} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-muted">
        {request.firstTime ? <Badge tone="warn">{t('egress.firstTime')}</Badge> : null}
        <span>{t('egress.tries', { tries: request.tries })}</span>
        <span>{t.rich('egress.asked', { at: request.createdAt, ago: asAgo })}</span>
      </div>
      {!org.permissions.includes('egress:answer') ? (
        <p className="text-xs text-ink-muted">{t('egress.youCanViewThisConversation', { name: org.name })}</p>
      ) : (
        <>
          {refusing === 'now' ? (
            <ReasonForm
              name={t('egress.refuseHost', { host })}
              label={t('egress.reason')}
              submit={t('egress.refuse2')}
              maxLength={500}
              busy={answer.isPending}
              onCancel={() => setRefusing('given up')}
              onSend={(reason) => answer.mutate({ decision: 'deny', scope: 'conversation', reason })}
            />
          ) : (
            <EgressChoices
              host={host}
              sending={answer.isPending ? answer.variables.scope : null}
              mayAllow={refusal !== 'four-eyes'}
              onAllow={(scope) => answer.mutate({ decision: 'allow', scope, reason: '' })}
              cameBack={refusing === 'given up'}
              onRefuse={() => setRefusing('now')}
            />
          )}
          <WhyNot error={answer.error} />
        </>
      )}
    </li>
  );
}

/** Why the answer did not count. That another user came first is said where their answer stands. */
function WhyNot({ error }: { error: unknown }) {
  const t = useTranslations();
  const { org } = useSession();
  if (error === null) return null;
  const { code, title, detail } = failureOf(error);
  if (refusalOf(code) !== 'four-eyes') return <ErrorNotice error={error} />;
  return (
    <Notice tone="bad" title={title}>
      <p>{[detail, t('egress.anotherUserMustAllow', { name: org.name })].join(' ')}</p>
    </Notice>
  );
}

/** The command that asked, if the sandbox named one that is in the timeline. Nothing relies on it. */
function Asker({ request }: { request: EgressRequest }) {
  const t = useTranslations();
  const { conversation, reveal } = useConversation();
  const rows = useView((view) => view.timeline.rows);
  const asker = commandOf(rows, request.actionId);
  if (asker === null) return null;
  const command = visibleText(workspacePaths(conversation.repository).command(asker.command));
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-xs text-ink-muted">{t('egress.askedBy')}</p>
      <div className="flex min-w-0 items-center gap-1 rounded-md border border-line bg-term pl-2.5">
        <code dir="ltr" className="min-w-0 flex-1 truncate py-1.5 font-mono text-xs" title={command}>
          {command}
        </code>
        <Button
          size="icon-small"
          tone="quiet"
          aria-label={t('egress.showInTimeline')}
          title={t('egress.showInTimeline')}
          onClick={() => reveal.ask(asker.seq, { stepId: asker.step.id })}
        >
          <ArrowUpRight aria-hidden />
        </Button>
      </div>
    </div>
  );
}
