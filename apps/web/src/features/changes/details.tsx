'use client';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { ScrollBox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { CopyButton } from '../../browser/copy-button.tsx';
import { money, number } from '../../browser/format.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSpent } from '../conversation/use-spent.ts';
import { PromptAndTools } from '../prompt-and-tools/prompt-and-tools.tsx';
import { RUNTIME_LABELS, reasonOf } from '../runtime/runtime-words.ts';
import { useRuntime } from '../runtime/use-runtime.ts';

export function Details() {
  const t = useTranslations();
  const { conversation } = useConversation();
  const { costUsd: cost, promptTokens: prompt, completionTokens: completion } = useSpent();
  const events = useView((view) => view.lastSeq);
  return (
    <ScrollBox label={t('common.details')} className="h-full overflow-auto">
      <dl className="grid auto-rows-min grid-cols-[110px_minmax(0,1fr)] gap-x-4 gap-y-2.5 p-4 text-sm">
        <Runtime />
        <Line name={t('common.model')}>
          {conversation.model === DEMO_MODEL ? t('changes.demoScriptedNotAnAi') : conversation.model}
        </Line>
        <Line name={t('common.repository')}>{conversation.repository ?? t('common.none2')}</Line>
        <Line name={t('changes.branch')}>{conversation.branch ?? t('changes.default')}</Line>
        <Line name={t('common.owner')}>{conversation.createdBy.label}</Line>
        <Line name={t('common.created')}>
          <Ago at={conversation.createdAt} />
        </Line>
        <Line name={t('common.cost')}>
          <span title={`$${cost}`}>{money(cost)}</span>
        </Line>
        <Line name={t('changes.tokens')}>
          {t('changes.readWritten', { prompt: number(prompt), completion: number(completion) })}
        </Line>
        <Line name={t('changes.events')}>{number(events)}</Line>
        <Line name={t('changes.id')}>
          <span className="flex items-center gap-1">
            <code className="truncate font-mono text-xs">{conversation.id}</code>
            <CopyButton label={t('changes.copyId')} text={() => conversation.id} />
          </span>
        </Line>
      </dl>
      <PromptAndTools />
    </ScrollBox>
  );
}

/** Where the runtime stands; why, and what to do, where it goes on only when somebody does something. */
function Runtime() {
  const t = useTranslations();
  const runtime = useRuntime(true);
  const status = useView((view) => view.status);
  if (runtime === null) return null;
  const { cause, nextStep } = reasonOf(t, runtime, status);
  return (
    <Line name={t('changes.runtime')}>
      <p className="font-medium">{t(RUNTIME_LABELS[runtime.status])}</p>
      {cause === '' ? null : <p className="whitespace-pre-wrap">{cause}</p>}
      {nextStep === '' ? null : <p className="text-ink-muted">{nextStep}</p>}
      {runtime.code === undefined ? null : <p className="font-mono text-xs text-ink-muted">{runtime.code}</p>}
    </Line>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-muted">{name}</dt>
      <dd className="min-w-0 break-words tabular-nums">{children}</dd>
    </>
  );
}
