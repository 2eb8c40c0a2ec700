import { ONLY_THE_END } from '@slipway/contracts/actions';
import type { StreamingDelta } from '@slipway/contracts/events';
import type { OutputWatch } from './ports.js';

/** Most of what a stopped command had printed that stays: its end. UTF-16 code units. */
const KEPT_WHEN_STOPPED = 16_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is taken out
const COLOURS = /\u001b\[[0-?]*m/g;

/**
 * What a command prints while it runs: shown to viewers, and stored in the log if the command is stopped without an
 * answer. In bounded memory.
 */
export class PrintedOutput implements OutputWatch {
  private length = 0;
  private end = '';

  constructor(
    readonly call: string,
    private readonly onDelta: (delta: StreamingDelta) => void,
  ) {}

  readonly output = (text: string): void => {
    if (text === '') return;
    this.onDelta({ responseId: this.call, channel: 'progress', offset: this.length, text });
    this.length += text.length;
    this.end = (this.end + text).slice(-2 * KEPT_WHEN_STOPPED);
  };

  /**
   * For the answer of a call that was stopped; empty when nothing was printed. Without colours, and of a line that was
   * drawn again the last form.
   */
  get untilStopped(): string {
    const plain = this.end
      .replace(COLOURS, '')
      .replace(/\r+\n/g, '\n')
      .replace(/^.*\r(?!$)/gm, '')
      .trimEnd();
    if (plain.trim() === '') return '';
    const cut = this.length > this.end.length || plain.length > KEPT_WHEN_STOPPED;
    if (!cut) return `\n[Output until then.]\n${plain}`;
    const kept = plain.slice(-KEPT_WHEN_STOPPED);
    // Half a line may hold half a secret. Of a longer one the mask hides what is left of it behind the cut.
    const line = kept.indexOf('\n') + 1;
    return `\n${ONLY_THE_END}${kept.slice(line)}`;
  }
}
