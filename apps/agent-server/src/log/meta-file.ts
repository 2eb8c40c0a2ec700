import type { Logger } from '@slipway/telemetry';
import { type ConversationMeta, writeMeta } from '../settings/conversation-settings.js';

/** How long a change that is no hurry waits for others. Milliseconds. */
const SOON_MS = 1_000;

/** What is kept of a conversation beside its log. A full disk costs only the note; the log itself says what matters. */
export class MetaFile {
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly directory: string,
    private current: ConversationMeta,
    private readonly logger: Logger,
  ) {}

  get meta(): ConversationMeta {
    return this.current;
  }

  change(part: Partial<ConversationMeta>): void {
    this.current = { ...this.current, ...part };
    this.save();
  }

  /** Written within a second, together with what else changes until then. */
  changeSoon(part: Partial<ConversationMeta>): void {
    this.current = { ...this.current, ...part };
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.save();
    }, SOON_MS);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private save(): void {
    // A fork that was closed may have been deleted: a write would bring its folder back.
    if (this.closed) return;
    writeMeta(this.directory, this.current).catch((error: NodeJS.ErrnoException) => {
      // Closed and deleted while it was written: there is nothing to save or to report.
      if (this.closed && error.code === 'ENOENT') return;
      this.logger.warn({ err: error, conversation_id: this.current.id }, 'failed to save conversation settings');
    });
  }
}
