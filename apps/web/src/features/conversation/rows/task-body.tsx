'use client';
import { Spinner } from '@slipway/ui';
import { Bot } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { Fragment, use, useMemo } from 'react';
import type { Translate } from '../../../messages/translate.ts';
import { type SubAgentWork, subAgentsOf } from '../sub-agents.ts';
import { appendToTimeline, EMPTY_TIMELINE } from '../timeline.ts';
import { type Row, type Step, stepState } from '../timeline-row.ts';
import { Disclosure } from './disclosure.tsx';
import { RowRenderer } from './row-renderer.ts';
import { Output, outputOf } from './step-bodies.tsx';

const NOTHING: NonNullable<Step['inside']> = [];

/** Who gives a sub-agent its task is the agent that it works for. */
function shownOfAgent(t: Translate, row: Row): Row {
  return row.kind === 'message' && row.author === 'user' ? { ...row, sender: t('conversation.theAgent') } : row;
}

/** What a sub-agent was asked, did and reported, as a timeline of its own. */
export function TaskBody({ step }: { step: Step }) {
  const t = useTranslations();
  const rows = useRowsOf(step.inside ?? NOTHING);
  const reported =
    stepState(step) !== 'failed' && rows.some((row) => row.kind === 'message' && row.author === 'finish');
  return (
    <div className="flex flex-col gap-1.5">
      {rows.length === 0 ? (
        <Output text={String(step.action?.['prompt'] ?? '')} label={t('conversation.task')} />
      ) : (
        <InsideRows rows={rows} />
      )}
      {reported || (step.observation === null && step.error === null) ? null : (
        <Output
          text={outputOf(step)}
          label={t('conversation.report')}
          tone={stepState(step) === 'failed' ? 'bad' : 'plain'}
        />
      )}
    </div>
  );
}

/** What sub-agents did that work beside each other: each under its own name, and folded by itself. */
export function DelegateBody({ step }: { step: Step }) {
  const t = useTranslations();
  const agents = useMemo(() => subAgentsOf(step), [step]);
  if (agents.length === 0) return <Output text={outputOf(step)} label={t('conversation.report')} tone="plain" />;
  return (
    <div className="flex flex-col gap-1">
      {agents.map((agent) => (
        <SubAgentRow key={agent.name} rowKey={`${step.id}:${agent.name}`} agent={agent} />
      ))}
    </div>
  );
}

function SubAgentRow({ rowKey, agent }: { rowKey: string; agent: SubAgentWork }) {
  const t = useTranslations();
  const rows = useRowsOf(agent.inside);
  const steps = agent.inside.filter(({ event }) => event.kind === 'ActionEvent').length;
  return (
    <Disclosure
      rowKey={rowKey}
      icon={agent.state === 'running' ? <Spinner className="size-3.5" /> : <Bot aria-hidden />}
      label={t('conversation.subAgent', { text: agent.name })}
      aside={
        <span className={agent.state === 'failed' ? 'text-xs text-bad' : 'text-xs'}>
          {agent.state === 'failed' ? t('common.failed') : t('conversation.steps', { steps })}
        </span>
      }
    >
      {rows.length === 0 ? <Output text={agent.prompt} label={t('conversation.task')} /> : <InsideRows rows={rows} />}
    </Disclosure>
  );
}

function useRowsOf(inside: NonNullable<Step['inside']>): readonly Row[] {
  const t = useTranslations();
  return useMemo(() => appendToTimeline(EMPTY_TIMELINE, inside).rows.map((row) => shownOfAgent(t, row)), [inside, t]);
}

function InsideRows({ rows }: { rows: readonly Row[] }) {
  const render = use(RowRenderer);
  return (
    <div className="max-h-[32rem] overflow-auto border-l-2 border-line pl-3">
      {rows.map((row) => (
        <Fragment key={row.key}>{render(row)}</Fragment>
      ))}
    </div>
  );
}
