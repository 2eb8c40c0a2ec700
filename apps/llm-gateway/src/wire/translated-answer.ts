import { SlipwayError } from '@slipway/errors';
import type { Usage } from '../calls/usage.js';
import type { Dialect } from './dialect.js';
import type { Answer } from './exchange.js';
import { type SignatureOrigin, tagged } from './signatures.js';
import type { AnswerEvent, AnswerReader, AnswerWriter, ProviderError } from './turns.js';

/**
 * Longest stream that is translated. Bytes; what is said once more at its end must be held until then. Twice what the
 * longest answers are today, in single tokens.
 */
const MAX_STREAM = 64 * 1024 * 1024;

export interface Translation {
  readonly reader: AnswerReader;
  readonly writer: AnswerWriter;
  readonly caller: Dialect;
  readonly stream: boolean;
  /** Who signs what the model reasoned. */
  readonly signedBy: SignatureOrigin;
  /** Content types that a streamed answer of the provider has. */
  readonly streams: RegExp;
}

/**
 * Translates an answer from the provider's dialect into the caller's. An error of the provider is kept, not sent: the
 * gateway decides on it.
 */
export class TranslatedAnswer implements Answer {
  readonly contentType: string;
  readonly passesThrough = false;
  readonly streams: RegExp;
  usage: Usage | null = null;
  characters = 0;
  bytes = 0;
  frames = 0;
  begun = false;
  complete = false;
  error: ProviderError | null = null;

  private read = 0;

  constructor(private readonly to: Translation) {
    this.contentType = to.stream ? 'text/event-stream' : 'application/json';
    this.streams = to.streams;
  }

  get cutShort(): boolean {
    return !this.complete;
  }

  push(chunk: Buffer): Buffer | null {
    this.read += chunk.length;
    if (this.read > MAX_STREAM) {
      this.error ??= { message: 'The answer of the model is longer than can be said in another API.' };
      return null;
    }
    return this.say(this.to.reader.push(chunk));
  }

  end(): Buffer | null {
    return this.error === null ? this.say(this.to.reader.end()) : null;
  }

  whole(body: Buffer): Buffer {
    const events = this.to.reader.whole(body).map((event) => this.seen(event));
    if (this.error !== null || !this.begun)
      throw new SlipwayError('model.bad-response', 'The answer of the model is not one of its API.');
    try {
      return Buffer.from(this.to.writer.whole(events));
    } catch (cause) {
      // Arguments of a call that are nested deeper than can be written.
      throw new SlipwayError('model.bad-response', "The answer of the model cannot be said in the caller's API.", {
        cause,
      });
    }
  }

  private say(events: readonly AnswerEvent[]): Buffer | null {
    let said = '';
    for (const event of events) said += this.to.writer.write(this.seen(event));
    if (said === '') return null;
    for (let at = said.indexOf('\n\n'); at !== -1; at = said.indexOf('\n\n', at + 2)) this.frames += 1;
    return Buffer.from(said);
  }

  private seen(event: AnswerEvent): AnswerEvent {
    switch (event.kind) {
      case 'start':
        this.begun = true;
        return event;
      case 'text':
      case 'refusal':
      case 'thinking':
      case 'tool-arguments':
        this.characters += event.text.length;
        this.bytes += Buffer.byteLength(event.text);
        return event;
      case 'usage':
        this.usage = event.usage;
        return event;
      case 'finish':
        this.complete = true;
        return event;
      case 'error':
        this.error = event.error;
        return event;
      default:
        return tagged(event, this.to.signedBy, this.to.caller);
    }
  }
}
