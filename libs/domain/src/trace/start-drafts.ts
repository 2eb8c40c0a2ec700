import type { TraceSpanKind } from '@slipway/contracts/conversations';
import { type Draft, endDraft, spanName } from './draft.js';
import type { TraceEvent, TraceStartStep } from './trace-event.js';

export interface OpenedSpan {
  /** Its own event where that lies within another, as a sub-agent's does. */
  readonly eventId?: string;
  readonly name: string;
  readonly start: number;
}

/** `null`: the trace has no room for it. */
export type OpenDraft = (kind: TraceSpanKind, event: TraceEvent, opened: OpenedSpan) => Draft | null;

interface Attempt {
  readonly number: number;
  readonly draft: Draft;
  readonly steps: Map<string, Draft>;
}

/**
 * The starts of a log. A start comes before the message that wanted it, so it has no turn until that, or the run, has
 * come.
 */
export class StartDrafts {
  private attempt: Attempt | null = null;
  private homeless: Draft[] = [];

  constructor(private readonly open: OpenDraft) {}

  step(event: TraceEvent, step: TraceStartStep): void {
    const attempt = this.attempt?.number === step.attempt ? this.attempt : this.begin(event, step);
    if (attempt === null) return;
    const end = step.startedAt + (step.elapsedMs ?? 0);
    if (step.status === 'READY') this.finish(attempt, Math.max(event.at, end), null);
    else if (step.status === 'ERROR')
      this.finish(attempt, Math.max(event.at, end), step.code ?? 'sandbox.start-failed');
    else this.within(attempt, event, step, end);
  }

  private within({ draft, steps }: Attempt, event: TraceEvent, step: TraceStartStep, end: number): void {
    const known = steps.get(step.status);
    const own =
      known ?? this.open('start_step', event, { name: spanName('start', step.status), start: step.startedAt });
    if (own === null) return;
    if (known === undefined) {
      // Without a word of its end, a step ends where the next begins.
      for (const earlier of draft.children) if (earlier.end === null) endDraft(earlier, own.start);
      steps.set(step.status, own);
      draft.children.push(own);
    }
    draft.start = Math.min(draft.start, own.start);
    if (step.state !== 'running')
      endDraft(own, Math.max(end, own.start), step.state === 'failed' ? (step.code ?? 'sandbox.start-failed') : null);
    if (draft.end !== null) draft.end = Math.max(draft.end, own.end ?? own.start);
  }

  /** Gives starts that have no turn yet their root. */
  settle(rootOf: (startedAt: number) => Draft): void {
    for (const draft of this.homeless) rootOf(draft.start).children.push(draft);
    this.homeless = [];
  }

  /** The run that it was for has come to its end. */
  over(at: number): void {
    if (this.attempt !== null && this.attempt.draft.end === null) this.finish(this.attempt, at, null);
  }

  /** Starts that no turn has claimed. */
  get waiting(): readonly Draft[] {
    return this.homeless;
  }

  private begin(event: TraceEvent, step: TraceStartStep): Attempt | null {
    const draft = this.open('start', event, { name: spanName('start'), start: step.startedAt });
    if (draft === null) return null;
    if (this.attempt !== null && this.attempt.draft.end === null)
      this.finish(this.attempt, step.startedAt, 'start.superseded');
    this.homeless.push(draft);
    this.attempt = { number: step.attempt, draft, steps: new Map() };
    return this.attempt;
  }

  private finish({ draft }: Attempt, at: number, code: string | null): void {
    const end = Math.max(at, ...draft.children.map((step) => step.end ?? step.start));
    for (const step of draft.children) if (step.end === null) endDraft(step, end, code);
    endDraft(draft, end, code);
  }
}
