'use client';
import { DEMO_MODEL } from '@slipway/contracts';
import type { ReactNode } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { CopyButton } from '../../browser/copy-button.tsx';
import { money, number } from '../../browser/format.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';

export function Details() {
  const { conversation } = useConversation();
  const cost = useView((view) => view.costUsd);
  const prompt = useView((view) => view.promptTokens);
  const completion = useView((view) => view.completionTokens);
  const events = useView((view) => view.lastSeq);
  return (
    <dl className="grid h-full auto-rows-min grid-cols-[110px_minmax(0,1fr)] gap-x-4 gap-y-2.5 overflow-auto p-4 text-sm">
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
