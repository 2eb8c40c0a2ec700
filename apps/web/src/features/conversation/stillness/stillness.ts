import type { StartStep } from '@slipway/contracts/conversations';
import type { ConversationView } from '../conversation-view.ts';
import { type Step, stepState } from '../timeline-row.ts';

/** Without an event for so long, while it works or starts, the page says why. Milliseconds. */
export const STILL_AFTER_MS = 10_000;

/** What it waits for, with what the log says of it. */
export type Stillness =
  | {
      readonly on: 'queue';
      readonly place: number;
      readonly length: number | null;
      readonly estimateSeconds: number | null;
    }
  | { readonly on: 'start'; readonly step: StartStep }
  | { readonly on: 'tool'; readonly step: Step }
  | { readonly on: 'retry'; readonly failures: number; readonly detail: string }
  | { readonly on: 'model' };

/** Why no event comes; `null` in a state in which none is due. Looks at the last rows alone. */
export function stillnessOf({ status, timeline, state }: Pick<ConversationView, 'status' | 'timeline' | 'state'>) {
  if (status === 'starting') return ofStart(timeline);
  if (status !== 'working' || state.execution === 'waiting_for_confirmation') return null;
  return ofWork(timeline);
}

function ofStart({ rows }: ConversationView['timeline']): Stillness {
  const start = rows.findLast((row) => row.kind === 'start');
  const step = start?.kind === 'start' ? start.steps.findLast(({ state }) => state === 'running') : undefined;
  if (step?.queue !== undefined) {
    const { place, length, estimateSeconds } = step.queue;
    return { on: 'queue', place, length: length ?? null, estimateSeconds };
  }
  return step === undefined ? { on: 'model' } : { on: 'start', step };
}

function ofWork({ rows, open }: ConversationView['timeline']): Stillness {
  const [call] = open;
  if (call !== undefined) {
    const row = rows.findLast((each) => each.kind === 'steps' && each.steps.some(({ id }) => id === call.actionId));
    const step = row?.kind === 'steps' ? row.steps.find(({ id }) => id === call.actionId) : undefined;
    if (step !== undefined && stepState(step) === 'running') return { on: 'tool', step };
  }
  const last = rows.at(-1);
  return last?.kind === 'retry' ? { on: 'retry', failures: last.failures, detail: last.detail } : { on: 'model' };
}
