import { type CallOutputResponse, notShown } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import { LongQuestions } from '../mcp/long-question.js';
import { ShownOutput } from './shown-output.js';

/** Most that is shown of one moment; of more, the latest. UTF-16 code units. */
const MAX_PIECE = 8 * 1024;
/** Pieces that are kept for whoever asks late. UTF-16 code units. */
const MAX_KEPT = 4 * MAX_PIECE;
/** From one piece to the next: at first, and how much longer with each. Milliseconds. */
const PIECE_MS = 100;
const LONGER_MS = 10;
const PIECE_AT_MOST_MS = 1_000;
/**
 * How long the output of a call that has ended can still be asked for: a call that was stopped has no answer.
 * Milliseconds.
 */
const KEPT_MS = 5_000;
/** More than there are calls at once. */
const MAX_CALLS = 64;

/**
 * What one command prints while its action is under way: text that only grows, in pieces that come more seldom the
 * longer it takes. In bounded memory.
 */
export class CallOutput {
  readonly #shown = new ShownOutput();
  readonly #questions = new LongQuestions();
  #text = '';
  /** Code units before `#text`. */
  #start = 0;
  #next = '';
  #skipped = 0;
  #pieces = 0;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  push(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#next += this.#shown.push(bytes);
    const more = this.#next.length - MAX_PIECE;
    if (more > 0) {
      // At the beginning of a line, if one is near: half a line may be half a secret.
      const line = this.#next.indexOf('\n', more) + 1;
      const cut = line > 0 && line - more < MAX_PIECE / 2 ? line : more;
      this.#skipped += cut;
      this.#next = this.#next.slice(cut);
    }
    if (this.#next !== '')
      this.#timer ??= setTimeout(
        () => this.#tell(),
        Math.min(PIECE_AT_MOST_MS, PIECE_MS + LONGER_MS * this.#pieces),
      ).unref();
  }

  end(): void {
    if (this.#over) return;
    this.#tell();
    this.#over = true;
    this.#questions.wake();
  }

  /**
   * What was printed beyond the first `after` code units: when there is something, when the call is over, or after a
   * while; with `now` at once. Rejects with the signal's reason.
   */
  async since(after: number, now: boolean, signal: AbortSignal): Promise<CallOutputResponse> {
    if (now) this.#tell();
    else if (this.#start + this.#text.length <= after && !this.#over) await this.#questions.news(signal);
    const missed = this.#start - after;
    return {
      text: missed > 0 ? notShown(missed) + this.#text : this.#text.slice(-missed),
      end: this.#start + this.#text.length,
      over: this.#over,
    };
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#next === '' || this.#over) return;
    this.#text += (this.#skipped === 0 ? '' : notShown(this.#skipped)) + this.#next;
    this.#next = '';
    this.#skipped = 0;
    this.#pieces += 1;
    const over = this.#text.length - MAX_KEPT;
    if (over > 0) {
      this.#text = this.#text.slice(over);
      this.#start += over;
    }
    this.#questions.wake();
  }
}

/** What is known of the call by which an action is carried out. */
export interface Call {
  /** Given what a command prints meanwhile. */
  readonly output?: CallOutput | undefined;
  /** The action's event, by which egress-proxy knows its command. */
  readonly actionId?: string | undefined;
}

/** The output of calls under way, by the id that who made the call gave it. */
export class CallOutputs {
  readonly #calls = new Map<string, CallOutput>();

  open(call: string): CallOutput {
    for (const oldest of this.#calls.keys()) if (this.#calls.size >= MAX_CALLS) this.#calls.delete(oldest);
    const output = new CallOutput();
    this.#calls.set(call, output);
    return output;
  }

  close(call: string): void {
    const output = this.#calls.get(call);
    output?.end();
    setTimeout(() => this.#calls.get(call) === output && this.#calls.delete(call), KEPT_MS).unref();
  }

  /** As `CallOutput.since`. @throws SlipwayError `resource.not-found` for a call that is not under way. */
  since(call: string, after: number, now: boolean, signal: AbortSignal): Promise<CallOutputResponse> {
    const output = this.#calls.get(call);
    if (output === undefined) throw new SlipwayError('resource.not-found', 'There is no such call under way.');
    return output.since(after, now, signal);
  }
}
