import type { Logger } from '@slipway/telemetry';

/** What the replica that leads does again and again. Repeatable, and harmless when two do it at once. */
export interface Duty {
  /** One word, for the log. */
  readonly name: string;
  readonly everyMs: number;
  /**
   * Sooner when the backend hints at a change, or when a sandbox has become ready; but not before `soonestMs` have
   * passed since the last time.
   */
  readonly sooner?: { readonly on: 'change' | 'ready'; readonly soonestMs: number };
  readonly work: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Runs tasks beside the leader's loop, each apart from the others: a sandbox that hangs must not keep the pool from
 * filling.
 */
export class Duties {
  private readonly busy = new Set<string>();
  private readonly failing = new Map<string, string>();
  private ranAt = new Map<Duty, number>();
  private readonly hints = new Set<'change' | 'ready'>();

  constructor(
    private readonly logger: Logger,
    /** Ends what is said of failures: a leader that stops breaks off what it does. */
    private readonly stopped: AbortSignal,
    private readonly whenDone: () => void,
  ) {}

  /** These from now on; all of them are due. */
  begin(duties: readonly Duty[]): void {
    this.ranAt = new Map(duties.map((duty) => [duty, Number.NEGATIVE_INFINITY]));
  }

  hint(of: 'change' | 'ready'): void {
    this.hints.add(of);
  }

  /** Begins those that are due. Does not wait for them. */
  runDue(signal: AbortSignal): void {
    const now = performance.now();
    const late = new Set<'change' | 'ready'>();
    for (const [duty, ranAt] of this.ranAt) {
      const { sooner } = duty;
      const hinted = sooner !== undefined && this.hints.has(sooner.on);
      if (this.busy.has(duty.name) || now - ranAt < (hinted ? sooner.soonestMs : duty.everyMs)) {
        if (hinted) late.add(sooner.on);
        continue;
      }
      this.ranAt.set(duty, now);
      this.apart(duty.name, () => duty.work(signal));
    }
    // A hint stays until all that it concerns have run.
    for (const hint of this.hints) if (!late.has(hint)) this.hints.delete(hint);
  }

  /** Runs a task once at a time for each name; `whenDone` is called after a slot's, whose names hold a space. */
  apart(name: string, task: () => Promise<unknown>): void {
    if (this.busy.has(name)) return;
    this.busy.add(name);
    void task().then(
      () => {
        this.busy.delete(name);
        if (this.failing.delete(name)) this.logger.info(`${name} recovered`);
        if (name.includes(' ')) this.whenDone();
      },
      (error: unknown) => {
        this.busy.delete(name);
        this.report(name, error);
      },
    );
  }

  /**
   * Says it once for each change of the reason: what is tried twice a second must not fill the log while a cluster is
   * away.
   */
  report(what: string, error: unknown): void {
    if (this.stopped.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.failing.get(what) === reason) return;
    this.failing.set(what, reason);
    this.logger.warn({ err: error }, `${what} failed, will retry`);
  }
}
