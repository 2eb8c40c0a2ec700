import type { IncomingHttpHeaders } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import type { Dispatcher } from 'undici';
import type { Deployment } from '../routing/deployment.js';
import type { FallbackClass } from '../routing/failure-class.js';
import type { Answer } from '../wire/exchange.js';
import { brokenOf, inStreamErrorOf, refusalOf } from './upstream-failure.js';

/** Longest answer that is not a stream. Bytes. */
const MAX_ANSWER = 32 * 1024 * 1024;
/** Of a refusal, this much is read. Bytes. */
const MAX_REFUSAL = 64 * 1024;

/**
 * Refused before any work: nothing is charged. For all others above 499 it is unknown, and for these below: a model
 * that ran out of time, or failed, in Bedrock's words.
 */
const REFUSED_AT_ONCE: ReadonlySet<number> = new Set([501, 503, 505, 529]);
const FAILED_AT_WORK: ReadonlySet<number> = new Set([408, 424]);

function mayHaveWorked(status: number): boolean {
  return status >= 500 ? !REFUSED_AT_ONCE.has(status) : FAILED_AT_WORK.has(status);
}

type Mode = 'waiting' | 'stream' | 'whole' | 'refused';

/** What comes of an attempt. */
export interface AttemptEvents {
  firstByte(): void;
  streamBegins(attempt: Attempt): void;
  /** @param piece `null`: nothing for the caller in what the provider sent. */
  piece(attempt: Attempt, controller: Dispatcher.DispatchController, piece: Buffer | null): void;
  streamEnds(attempt: Attempt): void;
  whole(attempt: Attempt, body: Buffer): void;
  /**
   * @param kind `null`: no other deployment would do better. @param charged the provider may want to be paid for it.
   */
  fails(attempt: Attempt, error: SlipwayError, kind: FallbackClass | null, charged: boolean): void;
}

/**
 * One deployment is asked once. Reports to `AttemptEvents` and knows nothing of the caller. Its deployment hears
 * exactly once how it ended.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  controller: Dispatcher.DispatchController | null = null;
  private mode: Mode = 'waiting';
  private status = 0;
  private headers: Readonly<Record<string, string | undefined>> = {};
  private parts: Buffer[] = [];
  private length = 0;
  private over = false;
  /** The provider itself has ended its answer. */
  ended = false;
  /** What its reader still has to say at the end of a stream. */
  tail: Buffer | null = null;
  private readonly began = performance.now();

  constructor(
    readonly deployment: Deployment,
    readonly answer: Answer,
    private readonly probe: boolean,
    private readonly streamed: boolean,
    private readonly events: AttemptEvents,
  ) {}

  /** The provider has begun to answer. */
  get answered(): boolean {
    return this.mode !== 'waiting';
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.over) controller.abort(new Error('the caller has gone'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.over || status < 200) return;
    const now = performance.now();
    this.status = status;
    const contentType = headers['content-type'] ?? '';
    if (status >= 300) {
      // Headers that may be there more than once are no part of any refusal.
      this.headers = headers as Readonly<Record<string, string | undefined>>;
      this.mode = 'refused';
      return;
    }
    this.deployment.firstByte(now - this.began, now);
    this.events.firstByte();
    if (this.streamed && this.answer.streams.test(contentType)) {
      this.mode = 'stream';
      this.events.streamBegins(this);
    } else if (/\bjson\b/i.test(contentType)) this.mode = 'whole';
    else
      this.fail(
        new SlipwayError(
          'model.bad-response',
          `The model's address answers with ${contentType.slice(0, 100) || 'no content type'}, which is not a completion; correct LLM_BASE_URL.`,
        ),
        // A page is of no model; anything else may be an answer that cannot be read.
        !/^text\/html\b/i.test(contentType),
      );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.over) return;
    if (this.mode === 'stream') {
      this.events.piece(this, controller, this.answer.push(chunk));
      return;
    }
    this.length += chunk.length;
    this.parts.push(chunk);
    if (this.mode === 'refused') {
      if (this.length > MAX_REFUSAL) this.refused();
    } else if (this.length > MAX_ANSWER)
      this.fail(new SlipwayError('model.bad-response', 'The answer of the model is larger than 32 MiB.'), true);
  }

  onResponseEnd(): void {
    if (this.over) return;
    this.ended = true;
    if (this.mode === 'stream') this.streamEnds();
    else if (this.mode === 'refused') this.refused();
    else this.whole();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // A provider to whom nothing was sent has counted nothing.
    const mayHaveCost =
      this.mode === 'refused' ? mayHaveWorked(this.status) : this.answered || this.controller !== null;
    this.fail(error instanceof SlipwayError ? error : brokenOf(error, this.answered), mayHaveCost);
  }

  /**
   * The caller has gone, or wants no more: the provider's connection is closed at once. Says nothing of the deployment.
   */
  giveUp(): void {
    if (this.over) return;
    this.end();
    this.controller?.abort(new Error('the caller has gone'));
    this.deployment.givenUp(this.probe);
  }

  private streamEnds(): void {
    this.tail = this.answer.end();
    const { error, begun } = this.answer;
    if (error !== null) this.fail(this.inStream(error), true);
    else if (begun && this.answer.cutShort)
      this.fail(
        new SlipwayError(
          'model.bad-response',
          'The model ended its answer in the middle, without saying that it is whole.',
        ),
        true,
      );
    else if (!begun)
      this.fail(new SlipwayError('model.bad-response', 'The stream held no chunk of a completion.'), true);
    else {
      this.end();
      this.deployment.succeeded(this.probe);
      this.events.streamEnds(this);
    }
  }

  private whole(): void {
    let body: Buffer;
    try {
      body = this.answer.whole(
        this.parts.length === 1 && this.parts[0] !== undefined ? this.parts[0] : Buffer.concat(this.parts),
      );
    } catch (thrown) {
      const { error } = this.answer;
      if (error !== null) this.fail(this.inStream(error), true);
      else this.fail(notACompletion(thrown), true);
      return;
    }
    this.end();
    this.deployment.succeeded(this.probe);
    this.events.whole(this, body);
  }

  private refused(): void {
    const body = Buffer.concat(this.parts).subarray(0, MAX_REFUSAL).toString('utf8');
    this.fail(
      refusalOf(this.deployment.target, { status: this.status, headers: this.headers, body }),
      mayHaveWorked(this.status),
    );
  }

  private inStream(error: NonNullable<Answer['error']>): SlipwayError {
    return inStreamErrorOf(error, this.deployment.target.apiKey);
  }

  /** @param charged the provider may want to be paid for it. */
  private fail(error: SlipwayError, charged: boolean): void {
    if (this.over) return;
    this.end();
    this.controller?.abort(error);
    const kind = this.deployment.failed(error, performance.now(), this.probe);
    this.events.fails(this, error, kind, charged);
  }

  private end(): void {
    this.over = true;
    this.parts = [];
  }
}

function notACompletion(thrown: unknown): SlipwayError {
  return thrown instanceof SlipwayError
    ? thrown
    : new SlipwayError('model.bad-response', 'The answer of the model is not a completion.', { cause: thrown });
}
