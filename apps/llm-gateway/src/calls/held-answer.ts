import type { ServerResponse } from 'node:http';
import type { ModelPrice } from '@slipway/llm';
import type { Dispatcher } from 'undici';
import type { Answer } from '../wire/exchange.js';
import type { CallerAnswer } from './caller-answer.js';
import type { Usage } from './usage.js';

/** Most of a stream that is held back until it is sure that the answer has begun. Bytes. */
const MAX_HELD = 64 * 1024;
/**
 * Longest that it is held back while pieces arrive: what a provider sends to keep a connection alive must reach the
 * caller. Milliseconds.
 */
const MAX_HELD_MS = 1_000;

/**
 * The answer on its way to the caller. A stream passes through in its dialect, at the caller's pace; it is held back
 * until it has really begun.
 */
export class HeldAnswer {
  private headSent = false;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private heldSince = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly caller: CallerAnswer,
  ) {}

  /** Of a stream: its head has been sent. */
  get opened(): boolean {
    return this.headSent;
  }

  /** The caller has everything that came. */
  get isSent(): boolean {
    return this.held.length === 0 && this.response.writableLength === 0;
  }

  onGone(listener: () => void): void {
    this.response.once('close', listener);
  }

  offGone(listener: () => void): void {
    this.response.off('close', listener);
  }

  /** From now on, while the answer has not begun. */
  hold(): void {
    this.heldSince = performance.now();
  }

  /** @param price `null`: unknown. */
  open({ contentType }: Pick<Answer, 'contentType'>, price: ModelPrice | null): void {
    this.headSent = true;
    this.caller.open(contentType, price);
  }

  flushHead(): void {
    this.response.flushHeaders();
  }

  /**
   * Takes a piece in before the head is sent, and sends all of them once the answer has begun. @param piece `null`:
   * nothing for the caller in what the provider sent.
   */
  begin(
    answer: Answer,
    piece: Buffer | null,
    { controller, price }: { readonly controller: Dispatcher.DispatchController; readonly price: ModelPrice | null },
  ): void {
    if (piece !== null) {
      this.held.push(piece);
      this.heldBytes += piece.length;
    }
    // An error in its place says that it will not begin, and leads elsewhere at the stream's end.
    const waits = answer.error !== null || performance.now() - this.heldSince < MAX_HELD_MS;
    if (!answer.begun && waits && this.heldBytes < MAX_HELD) return;
    this.open(answer, price);
    for (const part of this.held) this.write(part, controller);
    this.held = [];
  }

  write(piece: Buffer, controller: Dispatcher.DispatchController): void {
    if (this.caller.piece(piece)) return;
    controller.pause();
    this.response.once('drain', () => controller.resume());
  }

  /** What is left at the end of a stream. */
  last(answer: Answer, tail: Buffer | null, price: ModelPrice | null): void {
    if (!this.headSent) this.open(answer, price);
    for (const part of this.held) this.caller.piece(part);
    if (tail !== null) this.caller.piece(tail);
  }

  end(tail: Buffer | null = null): void {
    if (tail !== null) this.caller.piece(tail);
    this.response.end();
  }

  /** Forgets what is held back. */
  drop(): void {
    this.held = [];
    this.heldBytes = 0;
  }

  whole(body: Buffer, costUsd: number): void {
    this.caller.whole(body, costUsd);
  }

  /** As the caller's dialect has it: an answer of its own, or the end of the stream. */
  fail(error: unknown, answer: Pick<Answer, 'frames'> | null, usage: Usage | null): void {
    if (this.headSent) this.caller.breakOff(error, answer, usage);
    else this.caller.refuse(error);
  }
}
