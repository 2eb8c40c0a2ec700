import type { Usage } from '../calls/usage.js';
import { EventLines } from './event-lines.js';
import { type JsonObject, objectOf, parseObject } from './json.js';
import type { AnswerEvent, AnswerReader, ProviderError } from './turns.js';

/** What every dialect's reader has: it cuts the stream into frames, collects events, and ends with the first error. */
export abstract class FrameReader implements AnswerReader {
  private events: AnswerEvent[] = [];
  private over = false;
  /** As counted last. */
  protected usage: Usage | null = null;
  private readonly lines = new EventLines(
    (data) => {
      if (!this.over) this.data(data.toString('utf8').trim());
    },
    () => this.fail({ message: 'A frame of the answer is larger than the gateway reads.' }),
  );

  push(chunk: Buffer): readonly AnswerEvent[] {
    this.lines.push(chunk);
    return this.taken();
  }

  end(): readonly AnswerEvent[] {
    this.lines.end();
    if (!this.over) this.ended();
    return this.taken();
  }

  whole(body: Buffer): readonly AnswerEvent[] {
    const answer = parseObject(body.toString('utf8'));
    const error = objectOf(answer?.['error']);
    if (error !== null) this.fail(error);
    else if (answer === null || !this.answer(answer))
      this.fail({ message: 'The answer of the model is not one of its API.' });
    return this.taken();
  }

  /** One frame. */
  protected abstract frame(frame: JsonObject): void;
  /** An answer in one piece; `false` when it is none. */
  protected abstract answer(answer: JsonObject): boolean;
  /** Nothing more comes: what has been held back is said now. */
  protected abstract ended(): void;

  /** A frame that is no JSON is left out, as clients do. */
  protected data(text: string): void {
    const frame = parseObject(text);
    if (frame !== null) this.frame(frame);
  }

  protected emit(event: AnswerEvent): void {
    if (this.over) return;
    this.events.push(event);
    if (event.kind === 'finish' || event.kind === 'error') this.over = true;
  }

  protected fail(error: ProviderError): void {
    this.emit({ kind: 'error', error });
  }

  protected count(usage: Usage | null): void {
    if (usage === null || usage === this.usage) return;
    this.usage = usage;
    this.emit({ kind: 'usage', usage });
  }

  private taken(): readonly AnswerEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}
