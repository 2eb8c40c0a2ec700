import type { ServerResponse } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import { pricesFor } from '@slipway/llm';
import type { Dispatcher } from 'undici';
import type { Answer, Asked } from '../dialects/exchange.js';
import { openExchange } from '../dialects/open-exchange.js';
import { settledUsage } from '../dialects/usage.js';
import type { Deployment } from '../routing/deployment.js';
import type { Dispatchers } from '../routing/dispatchers.js';
import type { FallbackClass } from '../routing/failure-class.js';
import type { RetryBudget } from '../routing/retry-budget.js';
import type { Route, Step } from '../routing/route.js';
import { Attempt } from './attempt.js';
import type { Call } from './call.js';
import type { CallerAnswer } from './caller-answer.js';
import { CHARACTERS_PER_TOKEN, estimateTokens, NO_USAGE, type Usage } from './usage.js';

/** Most of a stream that is held back until it is sure that the answer has begun. Bytes. */
const MAX_HELD = 64 * 1024;
/** Longest that it is held back while pieces arrive: what a provider sends to keep a connection alive must reach the caller. Milliseconds. */
const MAX_HELD_MS = 1_000;

export interface DeliveryOptions {
  readonly dispatchers: Dispatchers;
  readonly retries: RetryBudget;
  /** Aborted when the process must end. */
  readonly shutdown: AbortSignal;
}

const NOTHING_SAID = { usage: null, complete: false, characters: 0 };

/**
 * Carries one call to deployments, one after the other until one answers, and the answer to the caller.
 *
 * A stream passes through as its dialect says it, at the caller's pace. An answer in one piece is held until it is whole, so that its cost can stand in a header.
 * A failure leads to another deployment as long as nothing of an answer has been sent; while that is possible a stream is held back until it has really begun.
 * After that a failure comes as an error frame, and the connection is broken off, so that no client takes the rest for an end. When the caller goes away the
 * provider's connection is closed at once. Whatever happens, the call is settled once: the attempts that came to nothing are no second charge.
 */
export class Delivery {
  private attempt: Attempt | null = null;
  private timer: NodeJS.Timeout | undefined;
  private over = false;
  /** Of a stream: its head has been sent. */
  private opened = false;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private heldSince = 0;
  /** An attempt that failed may have been charged by its provider. */
  private charged = false;
  /** The caller may hear at most so much of a stream. UTF-16 code units, at what they cost. */
  private maxCharacters = Number.POSITIVE_INFINITY;
  private metered: Usage | null = null;

  constructor(
    private readonly call: Call,
    private readonly response: ServerResponse,
    private readonly caller: CallerAnswer,
    private readonly asked: Asked,
    private readonly route: Route,
    private readonly options: DeliveryOptions,
  ) {}

  /** @throws SlipwayError when the first deployment cannot be asked for what the request says, or none may be asked at all; nothing has been sent then. */
  start(): void {
    this.options.retries.called();
    const step = this.route.first(performance.now());
    const { answer, send } = this.prepare(step.deployment);
    this.response.once('close', this.onCallerGone);
    this.options.shutdown.addEventListener('abort', this.onShutdown, { once: true });
    this.send(step.deployment, answer, send);
  }

  firstByte(): void {
    this.call.firstByte();
  }

  streamBegins(attempt: Attempt): void {
    this.meter(attempt);
    if (this.route.mayGoOn) {
      this.heldSince = performance.now();
      return;
    }
    this.open(attempt.answer);
    // With the first chunk if it is here already, else now.
    setImmediate(() => {
      if (!this.over) this.response.flushHeaders();
    });
  }

  piece(attempt: Attempt, controller: Dispatcher.DispatchController, piece: Buffer | null): void {
    const { answer } = attempt;
    if (answer.usage !== this.metered) this.meter(attempt);
    if (answer.characters > this.maxCharacters && !answer.complete) {
      this.stopAtCeiling(attempt);
      return;
    }
    if (this.opened) {
      if (piece !== null) this.write(piece, controller);
      return;
    }
    if (piece !== null) {
      this.held.push(piece);
      this.heldBytes += piece.length;
    }
    // An error in its place says that it will not begin, and leads elsewhere at the stream's end.
    const waits = answer.error !== null || performance.now() - this.heldSince < MAX_HELD_MS;
    if (!answer.begun && waits && this.heldBytes < MAX_HELD) return;
    this.open(answer);
    for (const part of this.held) this.write(part, controller);
    this.held = [];
  }

  streamEnds({ answer, deployment, tail }: Attempt): void {
    this.call.attempted(deployment, 'ok');
    if (!this.opened) this.open(answer);
    for (const part of this.held) this.pass(part);
    if (tail !== null) this.pass(tail);
    this.finish();
    this.response.end();
    this.call.settle({ status: 'ok', ...settledUsage(answer, this.asked.body.length) });
  }

  whole({ answer, deployment }: Attempt, body: Buffer): void {
    this.call.attempted(deployment, 'ok');
    const counted = answer.usage === null ? settledUsage(answer, this.asked.body.length) : ({ usage: answer.usage, source: 'reported' } as const);
    this.finish();
    this.caller.whole(body, this.call.costOf(counted.usage));
    this.call.settle({ status: 'ok', ...counted });
  }

  /** @param charged its provider may want to be paid for it. */
  fails(attempt: Attempt, error: SlipwayError, kind: FallbackClass | null, charged: boolean): void {
    if (this.over) return;
    this.call.attempted(attempt.deployment, error.code);
    if (!this.opened) {
      this.charged ||= charged;
      const step = this.route.next(kind, performance.now());
      if (step !== null && this.options.retries.take()) {
        this.retry(step);
        return;
      }
    }
    this.fail(error, attempt);
  }

  private retry(step: Step): void {
    this.held = [];
    this.heldBytes = 0;
    if (step.waitMs > 0) {
      this.attempt = null;
      this.timer = setTimeout(() => this.again(step.deployment), step.waitMs);
    } else this.again(step.deployment);
  }

  private again(deployment: Deployment): void {
    let prepared: ReturnType<Delivery['prepare']>;
    try {
      prepared = this.prepare(deployment);
    } catch (error) {
      this.fail(
        error instanceof SlipwayError ? error : new SlipwayError('internal.unexpected', 'The call could not be said to another model.', { cause: error }),
        null,
      );
      return;
    }
    this.send(deployment, prepared.answer, prepared.send);
  }

  private prepare(deployment: Deployment): { answer: Answer; send: (attempt: Attempt) => void } {
    const exchange = openExchange(this.asked, deployment.target);
    const { firstByteTimeoutMs, silenceTimeoutMs, guarded } = deployment.settings;
    const dispatcher = this.options.dispatchers.for(exchange.origin, guarded);
    return {
      answer: exchange.answer,
      send: (attempt) => {
        dispatcher.dispatch(
          {
            origin: exchange.origin,
            path: exchange.path,
            method: exchange.method,
            headers: exchange.headers,
            body: exchange.body,
            headersTimeout: firstByteTimeoutMs,
            bodyTimeout: silenceTimeoutMs,
          },
          attempt,
        );
      },
    };
  }

  private send(deployment: Deployment, answer: Answer, send: (attempt: Attempt) => void): void {
    this.call.asks(deployment);
    const attempt = new Attempt(deployment, answer, deployment.begins(this.route.tokens, performance.now()), this.asked.stream, this);
    this.attempt = attempt;
    send(attempt);
  }

  private open(answer: Answer): void {
    this.opened = true;
    this.caller.open(answer.contentType, this.call.price);
  }

  private write(piece: Buffer, controller: Dispatcher.DispatchController): void {
    if (this.pass(piece)) return;
    controller.pause();
    this.response.once('drain', () => controller.resume());
  }

  private pass(piece: Buffer): boolean {
    return this.caller.piece(piece);
  }

  /** Sets what the caller may hear of this stream, from what is known of its cost. */
  private meter({ answer, deployment }: Attempt): void {
    this.metered = answer.usage;
    const { ceilingUsd } = this.call;
    if (ceilingUsd === null || deployment.price === null) return;
    const promptTokens = answer.usage?.promptTokens ?? estimateTokens(this.asked.body.length);
    const prompt = this.call.costOf({ ...(answer.usage ?? NO_USAGE), promptTokens, completionTokens: 0 });
    const { output } = pricesFor(deployment.price, promptTokens);
    this.maxCharacters = output === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Math.floor(((ceilingUsd - prompt) * 1_000_000) / output)) * CHARACTERS_PER_TOKEN;
  }

  private stopAtCeiling(attempt: Attempt): void {
    const { answer } = attempt;
    const promptTokens = answer.usage?.promptTokens ?? estimateTokens(this.asked.body.length);
    const usage = { ...(answer.usage ?? NO_USAGE), promptTokens, completionTokens: Math.floor(this.maxCharacters / CHARACTERS_PER_TOKEN) };
    const error = new SlipwayError('budget.exhausted', 'The answer was ended here: the budget is used up.');
    attempt.giveUp();
    this.finish();
    this.call.attempted(attempt.deployment, 'ok');
    if (this.opened) this.caller.breakOff(error, answer, usage);
    else this.caller.refuse(error);
    this.call.settle({ status: 'failed', code: error.code, usage, source: 'estimated' });
  }

  private fail(error: SlipwayError, attempt: Attempt | null): void {
    if (this.over) return;
    this.finish();
    const answer = attempt?.answer ?? null;
    // What the provider itself has ended has passed through, with the error that it said. One that said none, and no answer either, is told of.
    if (this.opened && answer?.passesThrough === true && attempt?.ended === true && answer.error !== null) {
      if (attempt.tail !== null) this.pass(attempt.tail);
      this.response.end();
    } else if (this.opened) this.caller.breakOff(error, answer, null);
    else this.caller.refuse(error);
    this.settleUnfinished('failed', error, answer);
  }

  private settleUnfinished(status: 'failed' | 'aborted', error: SlipwayError | null, answer: Answer | null): void {
    const used = (answer?.usage ?? null) !== null || this.charged || this.opened;
    const counted = used ? settledUsage(answer ?? NOTHING_SAID, this.asked.body.length) : ({ usage: NO_USAGE, source: 'none' } as const);
    this.call.settle(status === 'failed' && error !== null ? { status, code: error.code, ...counted } : { status: 'aborted', ...counted });
  }

  private readonly onCallerGone = (): void => {
    if (this.over) return;
    this.finish();
    const { attempt } = this;
    this.giveUp();
    this.settleUnfinished('aborted', null, attempt?.answer ?? null);
  };

  private readonly onShutdown = (): void => {
    if (this.over) return;
    const { attempt } = this;
    this.giveUp();
    this.fail(new SlipwayError('service.unavailable', 'The gateway is restarting.', { retryAfterSeconds: 1 }), attempt);
  };

  private giveUp(): void {
    const { attempt } = this;
    if (attempt === null) return;
    // What a provider has in hand it may charge.
    this.charged ||= attempt.controller !== null;
    attempt.giveUp();
    this.call.attempted(attempt.deployment, 'aborted');
  }

  private finish(): void {
    this.over = true;
    this.held = [];
    clearTimeout(this.timer);
    this.response.off('close', this.onCallerGone);
    this.options.shutdown.removeEventListener('abort', this.onShutdown);
  }
}
