'use client';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { Checkbox, Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type ReactNode, useRef, useState } from 'react';
import { failureOf } from '../../api/failure.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { ReasonForm } from '../form/reason-form.tsx';
import { useSession } from '../session/me.ts';
import { AllowChoices } from './allow-choices.tsx';
import { AskedHost, HostName } from './asked-host.tsx';
import { AskedUseLine, UseMeans } from './asked-use.tsx';
import { refusalOf } from './card-state.ts';
import { askedText } from './egress-words.ts';
import { RequestFacts } from './request-facts.tsx';
import type { RequestGroup } from './request-groups.ts';
import { type Answer, type Outcome, useAnswerRequests } from './use-answer-requests.ts';

/** What is asked for in clear cannot be limited. */
const CLEAR_PORT = 80;

/**
 * Hosts that one command waits for: what is known of each, and one answer for those that are checked. A host that came
 * after the others were shown is not checked: an answer is for what was there to be read.
 * @param onOutcome with whether the focus was inside.
 */
export function WaitingGroup({
  conversationId,
  requests,
  asker,
  opensHosts = false,
  onOutcome,
}: {
  conversationId: string;
  requests: RequestGroup['requests'];
  asker: ReactNode;
  /** Whether a yes may be limited to reading. */
  opensHosts?: boolean;
  onOutcome: (outcome: Outcome, focus: boolean) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const place = useRef<HTMLDivElement>(null);
  const [first] = useState(() => new Set(requests.map(({ id }) => id)));
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [refusing, setRefusing] = useState<'not yet' | 'now' | 'given up'>('not yet');
  const answer = useAnswerRequests({ orgId: org.id, conversationId }, (outcome) => {
    if (outcome.failed.size === 0) setRefusing('not yet');
    onOutcome(outcome, place.current?.contains(document.activeElement) === true);
  });
  const several = requests.length > 1;
  const { use } = requests[0];
  const isChosen = (id: string): boolean => !several || (chosen.get(id) ?? first.has(id));
  const answered = requests.filter(({ id }) => isChosen(id));
  const send = (given: Answer) => answer.mutate({ answer: given, requests: answered });
  const failures = [...(answer.data?.failed ?? [])].filter(([id]) => requests.some((one) => one.id === id));
  const fourEyes = failures.find(([, error]) => isFourEyes(error))?.[1];
  const name = several ? t('egress.hosts', { count: answered.length }) : askedText(t, requests[0]);
  return (
    <div ref={place} className="flex flex-col gap-1.5">
      {several ? (
        <Hosts
          requests={requests}
          isChosen={org.permissions.includes('egress:answer') ? isChosen : null}
          disabled={answer.isPending}
          failures={new Map(failures.filter(([, error]) => !isFourEyes(error)))}
          onChoose={(id, is) => setChosen(new Map(chosen).set(id, is))}
        />
      ) : use === undefined ? (
        <AskedHost request={requests[0]} />
      ) : (
        <AskedUseLine request={requests[0]} use={use} />
      )}
      {asker}
      {several ? null : <RequestFacts request={requests[0]} />}
      {!org.permissions.includes('egress:answer') ? (
        <p className="text-xs text-ink-muted">{t('egress.youCanViewThisConversation', { name: org.name })}</p>
      ) : (
        <>
          {refusing === 'now' ? (
            <ReasonForm
              name={t('egress.refuseHost', { host: name })}
              label={t('egress.reason')}
              submit={t('egress.refuse2')}
              maxLength={500}
              busy={answer.isPending}
              onCancel={() => setRefusing('given up')}
              onSend={(reason) => send({ decision: 'deny', scope: 'conversation', reason })}
            />
          ) : (
            <AllowChoices
              mayConversation={use?.ask !== 'each-use'}
              mayOrganization={use === undefined}
              mayLimit={use === undefined && opensHosts && answered.every(({ port }) => port !== CLEAR_PORT)}
              host={name}
              sending={answer.isPending ? answer.variables.answer.scope : null}
              mayAllow={fourEyes === undefined && answered.length > 0}
              mayRefuse={answered.length > 0}
              onAllow={(allow) => send({ decision: 'allow', reason: '', ...allow })}
              cameBack={refusing === 'given up'}
              onRefuse={() => setRefusing('now')}
            />
          )}
          {use === undefined ? null : <UseMeans use={use} />}
          {fourEyes === undefined ? null : <FourEyes error={fourEyes} />}
          {several ? null : <ErrorNotice error={failures.find(([, error]) => !isFourEyes(error))?.[1]} />}
        </>
      )}
    </div>
  );
}

/** Each host with a box, what is known of it, and why its own answer did not count. */
function Hosts({
  requests,
  isChosen,
  disabled,
  failures,
  onChoose,
}: {
  requests: readonly EgressRequest[];
  /** `null` for who may not answer. */
  isChosen: ((id: string) => boolean) | null;
  disabled: boolean;
  failures: ReadonlyMap<string, unknown>;
  onChoose: (id: string, is: boolean) => void;
}) {
  const t = useTranslations();
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="pb-1 text-sm text-ink">
        {t('egress.theSandboxAsksForHosts', { count: requests.length })}
      </legend>
      {requests.map((request) => {
        const host = <HostName request={request} />;
        return (
          <div key={request.id} className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-0.5">
            {isChosen === null ? (
              <p className="min-w-0 text-sm text-ink">{host}</p>
            ) : (
              <Checkbox
                label={host}
                checked={isChosen(request.id)}
                disabled={disabled}
                onChange={(is) => onChoose(request.id, is)}
              />
            )}
            <RequestFacts request={request} brief />
            <ErrorNotice error={failures.get(request.id)} />
          </div>
        );
      })}
    </fieldset>
  );
}

const isFourEyes = (error: unknown): boolean => refusalOf(failureOf(error).code) === 'four-eyes';

/** Why a yes did not count. That another user came first is said where their answer stands. */
function FourEyes({ error }: { error: unknown }) {
  const t = useTranslations();
  const { org } = useSession();
  const { title, detail } = failureOf(error);
  return (
    <Notice tone="bad" title={title}>
      <p>{[detail, t('egress.anotherUserMustAllow', { name: org.name })].join(' ')}</p>
    </Notice>
  );
}
