import type { ServerResponse } from 'node:http';
import { type ModelPrice, PRICE_HEADER } from '@slipway/llm';
import type { Dialect } from '../wire/dialect.js';
import { type DialectError, errorFrame, errorOf } from '../wire/errors.js';
import type { Answer } from '../wire/exchange.js';
import type { Capture } from './capture.js';
import type { Usage } from './usage.js';

/** What a caller is answered, in its dialect. */
export class CallerAnswer {
  constructor(
    private readonly response: ServerResponse,
    private readonly dialect: Dialect,
    private readonly requestId: string,
    /** Of its limits. */
    private readonly headers: Readonly<Record<string, string>>,
    /** Observes the answer, where it is needed afterwards. */
    private readonly capture: Capture | null,
    /** A frame of counts alone is read by a caller of chat only where it has asked for one. */
    private readonly countsWanted = true,
  ) {}

  /**
   * The head of a stream. Its cost is known at its end only, so the caller gets the price per token. @param price
   * `null`: unknown.
   */
  open(contentType: string, price: ModelPrice | null): void {
    this.response.writeHead(200, {
      'x-request-id': this.requestId,
      'content-type': contentType,
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...(price === null ? {} : { [PRICE_HEADER]: JSON.stringify(price) }),
      ...this.headers,
    });
  }

  /** A piece of a stream. Answers whether the caller takes more at once. */
  piece(piece: Buffer | string): boolean {
    this.capture?.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
    return this.response.write(piece);
  }

  whole(body: Buffer, costUsd: number): void {
    this.response.writeHead(200, {
      'x-request-id': this.requestId,
      'content-type': 'application/json',
      'content-length': body.length,
      'x-litellm-response-cost': String(costUsd),
      ...this.headers,
    });
    this.capture?.push(body);
    this.response.end(body);
  }

  /** An error, before anything else was sent. */
  refuse(thrown: unknown): void {
    if (this.response.destroyed || this.response.headersSent) this.response.destroy();
    else sendDialectError(this.response, this.dialect, this.requestId, thrown);
  }

  /**
   * An error after the beginning of a stream: as its last frames, and then the connection breaks, so that no client
   * takes it for an end.
   */
  breakOff(thrown: unknown, answer: Pick<Answer, 'frames'> | null, usage: Usage | null): void {
    if (!this.response.destroyed)
      this.response.write(
        errorFrame(this.dialect, thrown, { frames: answer?.frames ?? 0, usage: this.countsWanted ? usage : null }),
        () => this.response.destroy(),
      );
  }
}

/** Answers with the error in the caller's dialect. Nothing may have been sent before. */
export function sendDialectError(
  response: ServerResponse,
  dialect: Dialect,
  requestId: string,
  thrown: unknown,
): DialectError {
  const answer = errorOf(dialect, thrown);
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    'x-request-id': requestId,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...answer.headers,
  });
  response.end(body);
  return answer;
}
