import type { HeldLock } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { ConversationLocks } from '../../conversations/conversation-locks.js';

export interface LeadOptions {
  /** Of the lock, the same in every worker. */
  readonly name: string;
  /** Pause between two rounds. Milliseconds. */
  readonly everyMs: number;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly logger: Logger;
  /**
   * One round. Its signal is aborted when the lock is lost or the process ends. A round that rejects is repeated after
   * the pause.
   */
  readonly round: (signal: AbortSignal) => Promise<void>;
}

/**
 * Rounds that one worker makes at a time: whichever holds the lock. The lock ends with the process and with its
 * connection; then every worker asks for it again, this one included. For a moment two workers may make rounds: what
 * they do must be harmless twice.
 */
export class Lead {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private lock: HeldLock | null = null;
  private readonly closing = new AbortController();

  constructor(private readonly options: LeadOptions) {}

  start(): void {
    if (this.closing.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.running = this.tick()
        .catch((error: unknown) => {
          if (!this.closing.signal.aborted)
            this.options.logger.warn({ err: error, lead: this.options.name }, 'lead round failed, will retry');
        })
        .finally(() => this.start());
    }, this.options.everyMs);
  }

  /** One round, if this worker leads or can lead now. */
  async tick(): Promise<void> {
    if (this.lock?.signal.aborted === true) await this.giveBack();
    this.lock ??= await this.options.locks.tryLock(this.options.name);
    if (this.lock !== null) await this.options.round(AbortSignal.any([this.closing.signal, this.lock.signal]));
  }

  /** Ends the round under way and lets another worker lead. */
  async close(): Promise<void> {
    this.closing.abort();
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
    await this.giveBack();
  }

  private async giveBack(): Promise<void> {
    const { lock } = this;
    this.lock = null;
    await lock?.release();
  }
}
