import type { StreamingDelta } from '@slipway/contracts/events';
import type { IngestClient } from './ingest-client.js';

/** Pieces of text that arrive within this time leave as one. Milliseconds. */
const GATHER_MS = 25;
/** More than this waiting is dropped: the durable event brings the text anyway. */
const MAX_WAITING = 200;
const MAX_WAITING_LENGTH = 64 * 1024;

/**
 * Sends what the model is writing to the app, beside the log. One call at a time; what does not fit is dropped, so that
 * it never delays an event.
 */
export class DeltaSender {
  private waiting: StreamingDelta[] = [];
  private length = 0;
  private timer: NodeJS.Timeout | undefined;
  private sending = false;
  private readonly stop = new AbortController();

  constructor(
    private readonly client: IngestClient,
    private readonly epoch: number,
  ) {}

  add(delta: StreamingDelta): void {
    if (this.stop.signal.aborted) return;
    const last = this.waiting.at(-1);
    if (this.waiting.length >= MAX_WAITING || this.length + delta.text.length > MAX_WAITING_LENGTH) return;
    this.length += delta.text.length;
    if (
      last !== undefined &&
      last.responseId === delta.responseId &&
      last.channel === delta.channel &&
      last.offset + last.text.length === delta.offset
    ) {
      this.waiting[this.waiting.length - 1] = { ...last, text: last.text + delta.text };
    } else this.waiting.push(delta);
    if (!this.sending) this.timer ??= setTimeout(() => void this.send(), GATHER_MS);
  }

  close(): void {
    clearTimeout(this.timer);
    this.stop.abort(new Error('the conversation was closed'));
  }

  private async send(): Promise<void> {
    this.timer = undefined;
    const deltas = this.waiting;
    this.waiting = [];
    this.length = 0;
    this.sending = true;
    await this.client.sendDeltas(this.epoch, deltas, this.stop.signal);
    this.sending = false;
    if (this.waiting.length > 0 && !this.stop.signal.aborted)
      this.timer ??= setTimeout(() => void this.send(), GATHER_MS);
  }
}
