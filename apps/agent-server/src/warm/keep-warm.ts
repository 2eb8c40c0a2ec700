import type { RunCommandRequest, RunCommandResponse } from '@slipway/contracts/actions';

/**
 * Longest that a warm-up may take, with the wait for a tool process that is not there yet; beyond it the sandbox is not
 * one to give away. Milliseconds.
 */
const LIMIT_MS = 10_000;
/** From a warm-up that failed to the next, when that is sooner than the ordinary one. Milliseconds. */
const AGAIN_AFTER_MS = 5_000;
/** Sandboxes that were started together do not stay together: each interval is up to so much longer or shorter. */
const JITTER = 0.2;

/**
 * What the agent will need first: a shell, and the pages of the programs that it will start, in memory. Changes
 * nothing, runs nothing of the workspace, and a program that is missing or broken in a custom image is no reason to
 * give a sandbox up.
 */
const COMMAND = 'git --version; python3 -I -S -c ""; node --version; :';

export interface KeepWarmOptions {
  readonly run: (request: RunCommandRequest, signal: AbortSignal) => Promise<RunCommandResponse>;
  /** Milliseconds from one warm-up to the next; 0: only one. */
  readonly everyMs: number;
  readonly limitMs?: number;
  /** In [0, 1). */
  readonly random?: () => number;
}

/**
 * Runs an inert command through both processes of a blank sandbox from time to time, so that the first real one finds
 * everything compiled and in memory, or the failure shows before.
 */
export class KeepWarm {
  private timer: NodeJS.Timeout | undefined;
  private readonly control = new AbortController();
  private warmed: Date | null = null;
  private failure: string | null = null;

  constructor(private readonly options: KeepWarmOptions) {}

  /** ISO 8601; `null` before the first that succeeded. */
  get warmedAt(): string | null {
    return this.warmed?.toISOString() ?? null;
  }

  /** Why the last warm-up failed, in a sentence; `null` when it did not. */
  get problem(): string | null {
    return this.failure;
  }

  start(): void {
    if (!this.control.signal.aborted) void this.warm();
  }

  /** For good: the sandbox is claimed, and its programs are the user's. */
  stop(): void {
    this.control.abort();
    clearTimeout(this.timer);
  }

  private async warm(): Promise<void> {
    const { everyMs, limitMs = LIMIT_MS, random = Math.random, run } = this.options;
    const signal = AbortSignal.any([this.control.signal, AbortSignal.timeout(limitMs)]);
    const failure = await run({ command: COMMAND, timeout: limitMs / 1000 }, signal).then(
      ({ exitCode, timedOut }) =>
        timedOut ? tooLong(limitMs) : exitCode === 0 ? null : `The warm-up ended with exit code ${exitCode}.`,
      (error: unknown) =>
        signal.aborted
          ? tooLong(limitMs)
          : `The warm-up failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    if (this.control.signal.aborted) return;
    this.failure = failure;
    if (failure === null) this.warmed = new Date();
    if (everyMs === 0) return;
    const wait = failure === null ? everyMs : Math.min(everyMs, AGAIN_AFTER_MS);
    this.timer = setTimeout(() => void this.warm(), wait * (1 + JITTER * (2 * random() - 1)));
    this.timer.unref();
  }
}

function tooLong(limitMs: number): string {
  return `The warm-up took longer than ${limitMs / 1000} s.`;
}
