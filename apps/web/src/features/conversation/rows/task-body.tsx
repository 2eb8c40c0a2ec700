'use client';
import { useTranslations } from 'next-intl';
import { Fragment, use, useMemo } from 'react';
import type { Translate } from '../../../messages/translate.ts';
import { appendToTimeline, EMPTY_TIMELINE } from '../timeline.ts';
import { type Row, type Step, stepState } from '../timeline-row.ts';
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
  const { inside = NOTHING } = step;
  const render = use(RowRenderer);
  const rows = useMemo(
    () => appendToTimeline(EMPTY_TIMELINE, inside).rows.map((row) => shownOfAgent(t, row)),
    [inside, t],
  );
  const reported =
    stepState(step) !== 'failed' && rows.some((row) => row.kind === 'message' && row.author === 'finish');
  return (
    <div className="flex flex-col gap-1.5">
      {rows.length === 0 ? (
        <Output text={String(step.action?.['prompt'] ?? '')} label={t('conversation.task')} />
      ) : (
        <div className="max-h-[32rem] overflow-auto border-l-2 border-line pl-3">
          {rows.map((row) => (
            <Fragment key={row.key}>{render(row)}</Fragment>
          ))}
        </div>
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
