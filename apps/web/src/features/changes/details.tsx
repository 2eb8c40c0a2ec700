'use client';
import { DEMO_MODEL } from '@slipway/contracts';
import { ScrollBox } from '@slipway/ui';
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
  const { conversation } = useConversation();
  const { costUsd: cost, promptTokens: prompt, completionTokens: completion } = useSpent();
  const events = useView((view) => view.lastSeq);
  return (
    <ScrollBox label="Details" className="h-full overflow-auto">
      <dl className="grid auto-rows-min grid-cols-[110px_minmax(0,1fr)] gap-x-4 gap-y-2.5 p-4 text-sm">
        <Runtime />
        <Line name="Model">{conversation.model === DEMO_MODEL ? 'demo · scripted, not an AI' : conversation.model}</Line>
        <Line name="Repository">{conversation.repository ?? 'none'}</Line>
        <Line name="Branch">{conversation.branch ?? 'default'}</Line>
        <Line name="Owner">{conversation.createdBy.label}</Line>
        <Line name="Created">
          <Ago at={conversation.createdAt} />
        </Line>
        <Line name="Cost">
          <span title={`$${cost}`}>{money(cost)}</span>
        </Line>
        <Line name="Tokens">
          {number(prompt)} read, {number(completion)} written
        </Line>
        <Line name="Events">{number(events)}</Line>
        <Line name="Id">
          <span className="flex items-center gap-1">
            <code className="truncate font-mono text-xs">{conversation.id}</code>
            <CopyButton label="Copy the id" text={() => conversation.id} />
          </span>
        </Line>
      </dl>
      <PromptAndTools />
    </ScrollBox>
  );
}

/** Where the runtime stands; why, and what to do, where it goes on only when somebody does something. */
function Runtime() {
  const runtime = useRuntime(true);
  const status = useView((view) => view.status);
  if (runtime === null) return null;
  const { cause, nextStep } = reasonOf(runtime, status);
  return (
    <Line name="Runtime">
      <p className="font-medium">{RUNTIME_LABELS[runtime.status]}</p>
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
