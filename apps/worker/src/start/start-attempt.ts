import { type SandboxStatus, type StartStatus, type StartStep } from '@slipway/contracts/conversations';
import { LEASE_MS } from '@slipway/contracts/events';
import type { Clock } from '@slipway/domain';
import type { SlipwayError } from '@slipway/errors';
import type { Checkpoint } from '../conversations/conversation.queries.js';
import type { ColumnChanges, PlatformEvent } from '../conversations/conversation-log.js';
import type { HeldConversation } from '../conversations/held-conversation.js';

const MAX_DETAIL = 4_000;
/** A start whose shown step did not change for this long says so. Milliseconds. */
const NO_PROGRESS_MS = 60_000;

/** Ends the running step: the conversation is to be paused. */
export class NoLongerWanted extends Error {
  override readonly name = 'NoLongerWanted';
}

/**
 * The steps of one start as people see them, and the checkpoint that lets another worker go on after the last one done.
 * A finished step is written together with the beginning of the next: one transaction a step.
 */
export class StartAttempt {
  private pending: StartStep[] = [];
  private current: {
    status: StartStatus;
    startedAt: Date;
    detail: string | undefined;
    queue: StartStep['queue'];
  } | null = null;
  private lastShown = performance.now();
  private readonly begun: number;

  private columns: ColumnChanges = {};
  private writing: Promise<void> = Promise.resolve();

  /** @param number the attempt: the row's own to go on with it, or the next. */
  constructor(
    private readonly held: HeldConversation,
    private readonly clock: Clock,
    private readonly number: number,
  ) {
    const first = held.row.steps.find((step) => step.attempt === number && step.status === 'WORKING');
    this.begun = first === undefined ? clock.now().getTime() : Date.parse(first.startedAt);
  }

  isDone(status: StartStatus): boolean {
    return this.held.row.attempt === this.number && (this.held.row.checkpoint.done?.includes(status) ?? false);
  }

  /** The step begins. `show` writes it now (it may take long); otherwise it is written when it ends. */
  async begin(
    status: StartStatus,
    options: { show: boolean; columns?: ColumnChanges; sandbox?: SandboxStatus },
  ): Promise<void> {
    if (this.isDone(status)) {
      this.current = null;
      return;
    }
    const shown = this.held.row.steps.find(
      (step) => step.attempt === this.number && step.status === status && step.state === 'running',
    );
    const startedAt = shown === undefined ? this.clock.now() : new Date(shown.startedAt);
    this.current = { status, startedAt, detail: shown?.detail, queue: shown?.queue };
    // A step that another try or another worker has begun goes on.
    if (options.columns !== undefined || (options.show && shown === undefined))
      await this.flush([this.step('running')], options.columns, options.sandbox);
  }

  /** The step is over; written with whatever is written next. */
  end(state: 'done' | 'skipped', detail?: string): void {
    if (this.current === null) return;
    this.current.detail = detail;
    this.pending.push(this.step(state));
    this.current = null;
  }

  /**
   * Says what the running step waits for, and at which place in which queue. Written when the sentence is a new one;
   * how many wait is no news: a queue of a thousand would write a thousand events for each that joins.
   */
  async report(detail: string, queue?: StartStep['queue']): Promise<void> {
    if (this.current === null || newsOf(this.current) === newsOf({ detail, queue })) return;
    this.current.detail = detail;
    this.current.queue = queue;
    await this.flush([this.step('running')]);
  }

  /** Says so when nothing was said for too long. */
  async reportSilence(): Promise<void> {
    if (this.current === null || performance.now() - this.lastShown < NO_PROGRESS_MS) return;
    const seconds = Math.round(this.sinceMs(this.current.startedAt) / 1000);
    await this.flush([
      {
        ...this.step('running'),
        detail: `No progress for a while: this step has been running for ${seconds} s. Stop it, or wait.`,
      },
    ]);
  }

  /** Columns to be written with the next step that is shown. */
  remember(columns: ColumnChanges): void {
    this.columns = { ...this.columns, ...columns };
  }

  /** The step failed and is tried again in a while. */
  async retrying(detail: string, checkpoint: Checkpoint): Promise<void> {
    const running = this.current === null ? [] : [{ ...this.step('running'), detail: cut(detail) }];
    await this.flush(running, { checkpoint: { ...checkpoint } });
  }

  /** Writes what is pending, with columns and the sandbox's new status. */
  flush(more: readonly StartStep[] = [], columns: ColumnChanges = {}, sandbox?: SandboxStatus): Promise<void> {
    // One at a time: the watcher may have something to say while a step ends.
    const written = this.writing.then(() => this.writePending(more, columns, sandbox));
    this.writing = written.catch(() => {});
    return written;
  }

  private async writePending(
    more: readonly StartStep[],
    given: ColumnChanges,
    sandbox: SandboxStatus | undefined,
  ): Promise<void> {
    const pending = this.pending;
    const columns = { ...this.columns, ...given };
    const steps = [...pending, ...more];
    await this.held.write((row) => {
      if (row.desired !== 'run') throw new NoLongerWanted('the conversation is to be paused');
      const before: Checkpoint = row.attempt === this.number ? row.checkpoint : {};
      const change: Checkpoint = columns.checkpoint ?? {};
      const done = change.done ?? [...(before.done ?? []), ...pending.map((step) => step.status)];
      const checkpoint: Checkpoint = { ...before, ...change, done };
      const events: PlatformEvent[] = steps.map((step) => ({ kind: 'start-step', step }));
      if (sandbox !== undefined && sandbox !== row.sandboxStatus)
        events.push({ kind: 'sandbox-status', status: sandbox });
      return { events, columns: { ...columns, checkpoint: { ...checkpoint } } };
    });
    this.pending = this.pending.slice(pending.length);
    this.columns = {};
    this.lastShown = performance.now();
  }

  /** The agent has the conversation. From now on its lease speaks. */
  async ready(): Promise<void> {
    await this.flush([this.final('READY', 'done')], { leaseMs: LEASE_MS });
  }

  /** The start is over, and says why. The outbox job that began it is done: only a new one starts again. */
  async failed(error: SlipwayError): Promise<void> {
    const stopped =
      this.current === null ? [] : [{ ...this.step('failed'), code: error.code, detail: cut(error.detail) }];
    const steps = [
      ...this.pending,
      ...stopped,
      { ...this.final('ERROR', 'failed'), code: error.code, detail: cut(error.detail) },
    ];
    await this.held.write((row) => ({
      events: [
        ...steps.map((step): PlatformEvent => ({ kind: 'start-step', step })),
        ...(row.sandboxStatus === 'ERROR' ? [] : [{ kind: 'sandbox-status' as const, status: 'ERROR' as const }]),
      ],
      columns: { leaseMs: null, checkpoint: {} },
      answers: ['conversation-start', 'conversation-deliver'],
    }));
    this.pending = [];
    this.current = null;
  }

  /** Since this attempt began, in whichever worker. Milliseconds. */
  elapsedMs(): number {
    return Math.max(0, this.clock.now().getTime() - this.begun);
  }

  private sinceMs(startedAt: Date): number {
    return Math.max(0, this.clock.now().getTime() - startedAt.getTime());
  }

  private final(status: 'READY' | 'ERROR', state: 'done' | 'failed'): StartStep {
    const now = this.clock.now();
    return {
      attempt: this.number,
      status,
      state,
      startedAt: now.toISOString(),
      elapsedMs: Math.max(0, now.getTime() - this.begun),
    };
  }

  private step(state: StartStep['state']): StartStep {
    const current = this.current;
    if (current === null) throw new Error('no step is running');
    return {
      attempt: this.number,
      status: current.status,
      state,
      startedAt: current.startedAt.toISOString(),
      ...(state === 'running' ? {} : { elapsedMs: this.sinceMs(current.startedAt) }),
      ...(current.detail === undefined ? {} : { detail: cut(current.detail) }),
      ...(state === 'running' && current.queue !== undefined ? { queue: current.queue } : {}),
    };
  }
}

function newsOf({ detail, queue }: Pick<StartStep, 'queue'> & { readonly detail: string | undefined }) {
  return detail?.replace(` of ${queue?.length} in the queue`, ' in the queue');
}

/**
 * The end of a long text (what a program says last is what it died of), as the database takes it: without NUL and
 * without half a surrogate pair.
 */
export function cut(text: string): string {
  const end = text.length <= MAX_DETAIL ? text : `…${text.slice(text.length - MAX_DETAIL + 1)}`;
  return end.replaceAll('\0', '\uFFFD').toWellFormed();
}
