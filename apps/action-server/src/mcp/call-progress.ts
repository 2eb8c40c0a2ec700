import type { McpProgressResponse } from '@slipway/contracts/agent';
import { LongQuestions } from './long-question.js';

/** Limit of the progress text of one call, together. UTF-16 code units. */
const MAX_TEXT = 16 * 1024;
const MAX_LINE = 300;
/**
 * From one line to the next: at first, and how much longer with each. A server reports as often as it likes; the latest
 * message of an interval counts. Milliseconds.
 */
const LINE_MS = 200;
const LONGER_MS = 20;
const LINE_AT_MOST_MS = 10_000;
/**
 * A server's progress of a call under way, for viewers: text that only grows, line by line. It is in no answer and in
 * no log.
 */
export class CallProgress {
  #text = '';
  #lines = 0;
  #latest: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #over = false;
  readonly #questions = new LongQuestions();

  note({
    progress,
    total,
    message,
  }: {
    readonly progress?: unknown;
    readonly total?: unknown;
    readonly message?: unknown;
  }): void {
    const counted = typeof progress === 'number' ? `${progress}${typeof total === 'number' ? ` of ${total}` : ''}` : '';
    const said =
      typeof message === 'string'
        ? message
            .slice(0, MAX_LINE)
            .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
            .trim()
        : '';
    const line = said === '' ? counted : `${said}${counted === '' ? '' : ` (${counted})`}`;
    if (line === '' || this.#over) return;
    this.#latest = line;
    if (this.#timer === undefined) this.#tell();
  }

  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#questions.wake();
  }

  /** When there is more than `after`, when the call is over, or after a while. Rejects with the signal's reason. */
  async since(after: number, signal: AbortSignal): Promise<McpProgressResponse> {
    if (this.#text.length <= after && !this.#over) await this.#questions.news(signal);
    return { text: this.#text.slice(after), over: this.#over };
  }

  #tell(): void {
    this.#timer = undefined;
    const line = this.#latest;
    if (line === undefined || this.#over) return;
    this.#latest = undefined;
    if (this.#text.length + line.length >= MAX_TEXT) return;
    this.#text += `${line}\n`;
    this.#lines += 1;
    this.#timer = setTimeout(() => this.#tell(), Math.min(LINE_AT_MOST_MS, LINE_MS + LONGER_MS * this.#lines)).unref();
    this.#questions.wake();
  }
}
