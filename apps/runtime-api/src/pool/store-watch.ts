import { SlipwayError } from '@slipway/errors';
import { probeStore, type WorkspaceStore } from '@slipway/sandbox/adapters/kubernetes';
import type { Logger } from '@slipway/telemetry';

/** Between two probes: three small requests, or four. Milliseconds; a store that fails is asked more often. */
const PROBE_EVERY_MS = 60_000;
const FAILING_EVERY_MS = 10_000;
/** Longest probe. Milliseconds. */
const PROBE_TIMEOUT_MS = 20_000;

/**
 * Knows whether workspaces can be kept, before the first one has to be: `/ready` and the metric
 * `workspace_store_problem` say so.
 */
export class StoreWatch {
  private timer: NodeJS.Timeout | undefined;
  private readonly closed = new AbortController();
  /** In the words of the store; `null`: it took, gave back and deleted an object, or was not asked yet. */
  problem: string | null = null;

  constructor(
    private readonly store: WorkspaceStore,
    private readonly logger: Logger,
  ) {}

  start(): this {
    void this.probe();
    return this;
  }

  /** One probe, and the next one after a while. Never rejects. */
  async probe(): Promise<void> {
    clearTimeout(this.timer);
    const before = this.problem;
    try {
      await probeStore(this.store, AbortSignal.any([this.closed.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
      this.problem = null;
      if (before !== null) this.logger.info('workspace store works again');
    } catch (error) {
      if (this.closed.signal.aborted) return;
      this.problem = `Workspaces cannot be kept: ${wordsOf(error)}`;
      if (before !== this.problem)
        this.logger.error({ err: error }, 'workspace store failed its probe, paused workspaces are not saved');
    }
    if (this.closed.signal.aborted) return;
    this.timer = setTimeout(() => void this.probe(), this.problem === null ? PROBE_EVERY_MS : FAILING_EVERY_MS);
    this.timer.unref();
  }

  close(): void {
    this.closed.abort();
    clearTimeout(this.timer);
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof SlipwayError) return error.detail;
  if (!(error instanceof Error)) return String(error);
  return error.name === 'TimeoutError'
    ? `the store did not answer within ${PROBE_TIMEOUT_MS / 1_000} s.`
    : error.message;
}
