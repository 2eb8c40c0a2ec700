'use client';
import { Fragment, use, useMemo } from 'react';
import { appendToTimeline, EMPTY_TIMELINE } from '../timeline.ts';
import { type Step, stepState } from '../timeline-row.ts';
import { RowRenderer } from './row-renderer.ts';
import { Output, outputOf } from './step-bodies.tsx';

const NOTHING: NonNullable<Step['inside']> = [];

/** What a sub-agent was asked, did and reported, as a timeline of its own. */
export function TaskBody({ step }: { step: Step }) {
  const { inside = NOTHING } = step;
  const render = use(RowRenderer);
  const { rows } = useMemo(() => appendToTimeline(EMPTY_TIMELINE, inside), [inside]);
  return (
    <div className="flex flex-col gap-1.5">
      {rows.length === 0 ? (
        <Output text={String(step.action?.['prompt'] ?? '')} label="Task" />
      ) : (
        <div className="max-h-[32rem] overflow-auto border-l-2 border-line pl-3">
          {rows.map((row) => (
            <Fragment key={row.key}>{render(row)}</Fragment>
          ))}
        </div>
      )}
      {step.observation === null && step.error === null ? null : (
        <Output text={outputOf(step)} label="Report" tone={stepState(step) === 'failed' ? 'bad' : 'plain'} />
      )}
    </div>
  );
}
