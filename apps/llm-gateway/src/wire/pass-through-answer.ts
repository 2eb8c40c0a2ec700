import { SlipwayError } from '@slipway/errors';
import type { Usage } from '../calls/usage.js';
import { chatErrorOf } from './chat-answer-reader.js';
import type { Dialect } from './dialect.js';
import { EventLines } from './event-lines.js';
import type { Answer } from './exchange.js';
import { countsAlone, isGarbage, withoutUnwanted } from './frame-filter.js';
import { scanFrame } from './frame-scan.js';
import { type JsonObject, jsonText, listOf, objectOf, parseObject, textOf } from './json.js';
import type { ProviderError } from './turns.js';
import { readUsage, usageOfResponse } from './usage.js';
import { WholeFrames } from './whole-frames.js';

/** Where each dialect has the answer itself. */
const CONTENT: Readonly<Record<Dialect, string>> = {
  chat: 'choices',
  responses: 'output',
  messages: 'content',
  embeddings: 'data',
};

/**
 * An answer that the caller gets byte for byte, in whole frames. It is parsed on the side, and nothing in it can fail
 * the call; irrelevant frames are not even parsed.
 */
export class PassThroughAnswer implements Answer {
  readonly contentType: string;
  readonly passesThrough = true;
  readonly streams = /^text\/event-stream\b/i;
  usage: Usage | null = null;
  characters = 0;
  bytes = 0;
  frames = 0;
  begun = false;
  complete = false;
  error: ProviderError | null = null;
  /** A frame was too long to be parsed: it may have been the last. */
  private unread = false;
  /** Frames to be taken out that have been seen and may not have been handed on yet. */
  private unwanted = false;
  /** Of a stream. */
  private readonly wholeFrames: WholeFrames | null;
  private readonly lines: EventLines | null;

  constructor(
    private readonly dialect: Dialect,
    stream: boolean,
    /** The caller of a stream of chat has asked for its counts. */
    private readonly countsWanted = true,
  ) {
    this.contentType = stream ? 'text/event-stream' : 'application/json';
    this.wholeFrames = stream ? new WholeFrames() : null;
    this.lines = stream
      ? new EventLines(
          (data) => this.frame(data),
          () => {
            this.frames += 1;
            this.unread = true;
          },
        )
      : null;
  }

  get cutShort(): boolean {
    return !this.complete && !this.unread;
  }

  push(chunk: Buffer): Buffer | null {
    this.lines?.push(chunk);
    return this.passed(this.wholeFrames?.push(chunk) ?? null);
  }

  end(): Buffer | null {
    this.lines?.end();
    return this.passed(this.wholeFrames?.end() ?? null);
  }

  whole(body: Buffer): Buffer {
    const answer = parseObject(body.toString('utf8'));
    const content = answer?.[CONTENT[this.dialect]];
    if (answer === null || !Array.isArray(content)) {
      this.error =
        answer === null ? null : this.dialect === 'messages' ? objectOf(answer['error']) : chatErrorOf(answer);
      throw new SlipwayError('model.bad-response', 'The answer of the model is not one of its API.');
    }
    this.begun = true;
    this.complete = true;
    this.usage =
      this.dialect === 'responses' ? usageOfResponse(answer, null) : readUsage(this.dialect, answer['usage'], null);
    // Only an estimate needs it.
    if (this.usage === null && this.dialect !== 'embeddings') {
      const text = jsonText(content);
      this.characters = text?.length ?? body.length;
      this.bytes = text === null ? body.length : Buffer.byteLength(text);
    }
    return body;
  }

  /** Nearly all that passes is handed on as it is: from the first unwanted frame on each piece is scanned. */
  private passed(frames: Buffer | null): Buffer | null {
    return frames === null || !this.unwanted ? frames : withoutUnwanted(frames, this.countsWanted);
  }

  private frame(data: Buffer): void {
    const latin = data.toString('latin1');
    if (isGarbage(latin.trim())) {
      this.unwanted = true;
      return;
    }
    this.frames += 1;
    const scan = scanFrame(this.dialect, latin);
    this.characters += scan.characters;
    this.bytes += scan.bytes;
    this.begun ||= scan.answers;
    if (!scan.tells) return;
    const text = data.toString('utf8').trim();
    if (!this.countsWanted && countsAlone(text)) this.unwanted = true;
    if (text === '[DONE]' && this.dialect === 'chat') this.complete = true;
    else this.read(parseObject(text));
  }

  private read(frame: JsonObject | null): void {
    if (frame === null) return;
    if (this.dialect === 'messages') this.messagesFrame(frame);
    else if (this.dialect === 'responses') this.responsesFrame(frame);
    else this.chatFrame(frame);
  }

  private chatFrame(frame: JsonObject): void {
    this.error = chatErrorOf(frame) ?? this.error;
    this.usage = readUsage('chat', frame['usage'], this.usage);
    if (listOf(frame['choices']).some((choice) => (textOf(objectOf(choice)?.['finish_reason']) ?? '') !== ''))
      this.complete = true;
  }

  private messagesFrame(frame: JsonObject): void {
    const type = frame['type'];
    if (type === 'message_start') this.usage = readUsage('messages', objectOf(frame['message'])?.['usage'], this.usage);
    else if (type === 'message_delta') {
      this.usage = readUsage('messages', frame['usage'], this.usage);
      if (typeof objectOf(frame['delta'])?.['stop_reason'] === 'string') this.complete = true;
    } else if (type === 'message_stop') this.complete = true;
    else if (type === 'error') this.error = objectOf(frame['error']) ?? {};
  }

  private responsesFrame(frame: JsonObject): void {
    const type = frame['type'];
    const response = objectOf(frame['response']);
    if (type === 'error') this.error = objectOf(frame['error']) ?? { message: frame['message'], code: frame['code'] };
    if (type !== 'response.completed' && type !== 'response.incomplete' && type !== 'response.failed') return;
    this.usage = usageOfResponse(response, this.usage);
    if (type === 'response.failed') this.error = objectOf(response?.['error']) ?? {};
    else this.complete = true;
  }
}
