'use client';
import type { AnswerEgressRequest } from '@slipway/contracts/sandboxes';
import { Badge } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { api, newId } from '../../api/client.ts';
import { AskedHost } from '../egress/asked-host.tsx';
import { EgressChoices } from '../egress/egress-choices.tsx';
import { hostText } from '../egress/egress-words.ts';
import { ReasonForm } from '../form/reason-form.tsx';
import { useSession } from '../session/me.ts';
import { useAnswerHere } from './desk-answer.tsx';
import type { DeskLine } from './desk-store.ts';

/** The host whole, and the answers of the conversation's card. No single key allows. */
export function AllowHere({ line, onClose }: { line: DeskLine; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const group = useRef<HTMLDivElement>(null);
  const [refusing, setRefusing] = useState<'not yet' | 'now' | 'given up'>('not yet');
  const { facts } = line;
  const { egress } = facts;
  const answer = useAnswerHere(
    async ({ decision, scope, reason }: Pick<AnswerEgressRequest, 'decision' | 'scope' | 'reason'>) => {
      if (egress == null) return;
      const { requestId, host, port } = egress;
      await api.answerEgressRequest({
        org: org.id,
        conversation: facts.id,
        request: requestId,
        idempotencyKey: newId(),
        body: { decision, scope, reason, host, port },
      });
    },
  );
  // Before the next key, however soon it is pressed.
  useLayoutEffect(() => group.current?.focus(), []);
  if (egress == null) return null;
  const host = hostText(egress);
  // The row leaves with the next word of the server.
  const sending = answer.isPending || answer.isSuccess ? answer.variables.scope : null;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    onClose();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would have its legend read before every control
    <div
      ref={group}
      role="group"
      tabIndex={-1}
      aria-label={t('deskPage.requestOf', { title: facts.title })}
      onKeyDown={onKeyDown}
      className="flex basis-full flex-col gap-2 outline-none"
    >
      <AskedHost request={egress} />
      {egress.firstTime ? (
        <p>
          <Badge tone="warn">{t('egress.firstTime')}</Badge>
        </p>
      ) : null}
      {refusing === 'now' ? (
        <ReasonForm
          name={t('egress.refuseHost', { host })}
          label={t('egress.reason')}
          submit={t('egress.refuse2')}
          maxLength={500}
          busy={sending !== null}
          onCancel={() => setRefusing('given up')}
          onSend={(reason) => answer.mutate({ decision: 'deny', scope: 'conversation', reason })}
        />
      ) : (
        <EgressChoices
          host={host}
          sending={sending}
          mayAllow
          onAllow={(scope) => answer.mutate({ decision: 'allow', scope, reason: '' })}
          cameBack={refusing === 'given up'}
          onRefuse={() => setRefusing('now')}
        />
      )}
    </div>
  );
}
