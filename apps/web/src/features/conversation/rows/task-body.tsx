'use client';
import { useMemo } from 'react';
import { appendToTimeline, EMPTY_TIMELINE } from '../timeline.ts';
import { type Step, stepState } from '../timeline-row.ts';
import { RowView } from './row-view.tsx';
import { Output, outputOf } from './step-bodies.tsx';

const NOTHING: NonNullable<Step['inside']> = [];

/** What a sub-agent was asked, did and reported, as a timeline of its own. */
export function TaskBody({ step }: { step: Step }) {
  const { inside = NOTHING } = step;
  const { rows } = useMemo(() => appendToTimeline(EMPTY_TIMELINE, inside), [inside]);
  return (
    <div className="flex flex-col gap-1.5">
      {rows.length === 0 ? (
        <Output text={String(step.action?.['prompt'] ?? '')} label="Task" />
      ) : (
        <div className="max-h-[32rem] overflow-auto border-l-2 border-line pl-3">
          {rows.map((row) => (
            <RowView key={row.key} row={row} />
          ))}
        </div>
      )}
      {step.observation === null && step.error === null ? null : (
        <Output text={outputOf(step)} label="Report" tone={stepState(step) === 'failed' ? 'bad' : 'plain'} />
      )}
    </div>
  );
}
