import type { ServerResponse } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import { pricesFor } from '@slipway/llm';
import type { Dispatcher } from 'undici';
import type { Admission, Claim } from '../budgets/admission.js';
import type { Granted } from '../budgets/call-bound.js';
import type { Deployment } from '../routing/deployment.js';
import type { Dispatchers } from '../routing/dispatchers.js';
import type { FallbackClass } from '../routing/failure-class.js';
import type { RetryBudget } from '../routing/retry-budget.js';
import type { Route, Step } from '../routing/route.js';
import type { Answer, Asked } from '../wire/exchange.js';
import { openExchange } from '../wire/open-exchange.js';
import { Attempt, type AttemptEvents } from './attempt.js';
import type { Call, Used } from './call.js';
import type { CallerAnswer } from './caller-answer.js';
import { estimateTokens, NO_USAGE, type Usage } from './usage.js';

/** Most of a stream that is held back until it is sure that the answer has begun. Bytes. */
const MAX_HELD = 64 * 1024;
/**
 * Longest that it is held back while pieces arrive: what a provider sends to keep a connection alive must reach the
 * caller. Milliseconds.
 */
const MAX_HELD_MS = 1_000;

export interface DeliveryOptions {
  readonly dispatchers: Dispatchers;
  readonly retries: RetryBudget;
  /** Aborted when the process must end. */
  readonly shutdown: AbortSignal;
}

/**
 * No text has longer tokens all through: a stream that is longer than what was granted has a provider that keeps no
 * limit. UTF-16 code units.
 */
const LONG_TOKEN = 8;
const NOTHING_SAID = { usage: null, complete: false, characters: 0, bytes: 0, error: null };

/**
 * Sends one call to deployments, one after the other until one answers, and the answer to the caller.
 *
 * A stream passes through in its dialect, at the caller's pace. An answer in one piece is held until it is whole, so
 * that its cost can stand in a header. A failure leads to another deployment as long as nothing of an answer has been
 * sent; while that is possible a stream is held back until it has really begun. After that a failure comes as an error
 * frame, and the connection is broken off, so that no client takes it for an end. When the caller goes away the
 * provider's connection is closed at once. In every case each attempt that may have cost is settled once: by what its
 * provider counted to the end, or else by what was granted.
 */
export class Delivery implements AttemptEvents {
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
  /** The next attempt is another row of the ledger. */
  private recordsAgain = false;
  /** The caller may hear at most so much of a stream, should the provider keep no limit. UTF-16 code units. */
  private maxCharacters = Number.POSITIVE_INFINITY;
  private metered: Usage | null = null;
  /** Limits in this attempt's request. */
  private granted: Granted = { limit: null, searches: null };

  constructor(
    private readonly call: Call,
    private readonly response: ServerResponse,
    private readonly caller: CallerAnswer,
    private readonly asked: Asked,
    private readonly route: Route,
    /** What it may come to at most. */
    private readonly claim: Claim,
    private readonly options: DeliveryOptions,
  ) {}

  /**
   * @throws SlipwayError when the first deployment cannot be asked for what the request says, or none may be asked at
   * all; nothing has been sent then.
   */
  start(): void {
    this.options.retries.called();
    const step = this.route.first(performance.now());
    const { answer, send } = this.prepare(step.deployment);
    this.response.once('close', this.onCallerGone);
    this.options.shutdown.addEventListener('abort', this.onShutdown, { once: true });
    this.recordAndSend(step.deployment, () => this.send(step.deployment, answer, send));
  }

  private recordAndSend(deployment: Deployment, send: () => void): void {
    const recorded = this.call.record(this.claim, deployment);
    if (recorded === undefined) send();
    else void this.sendOnce(recorded, send);
  }

  private async sendOnce(recorded: Promise<void>, send: () => void): Promise<void> {
    try {
      await recorded;
    } catch (error) {
      this.fail(
        error instanceof SlipwayError
          ? error
          : new SlipwayError('internal.unexpected', 'The call could not be recorded.', { cause: error }),
        null,
      );
      return;
    }
    if (!this.over) send();
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
    this.call.settle({ status: 'ok', ...this.usedBy(answer, true) });
  }

  whole({ answer, deployment }: Attempt, body: Buffer): void {
    this.call.attempted(deployment, 'ok');
    const counted = this.usedBy(answer, true);
    this.finish();
    this.caller.whole(body, counted.costUsd ?? this.call.costOf(counted.usage));
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
        if (this.charged) this.payAgain(attempt, error, step);
        else this.retry(step);
        return;
      }
    }
    this.fail(error, attempt);
  }

  /**
   * The attempt before may have cost all that was held for the call: the next needs money of its own, or it is not
   * made.
   */
  private payAgain(attempt: Attempt, error: SlipwayError, step: Step): void {
    const goOn = (next: Admission): void => {
      if (this.over) {
        next.settle(NO_USAGE, 0);
        return;
      }
      this.call.lost(error.code, this.usedBy(attempt.answer, false), next);
      this.charged = false;
      this.recordsAgain = true;
      this.retry(step);
    };
    // Who asked hears what the provider said; that a second attempt was too dear is beside it.
    const refused = (): void => this.fail(error, attempt);
    try {
      const next = this.call.another(this.options.shutdown);
      if (next instanceof Promise) next.then(goOn, refused);
      else goOn(next);
    } catch {
      refused();
    }
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
        error instanceof SlipwayError
          ? error
          : new SlipwayError('internal.unexpected', 'The call could not be said to another model.', { cause: error }),
        null,
      );
      return;
    }
    const { answer, send } = prepared;
    if (!this.recordsAgain) this.send(deployment, answer, send);
    else {
      this.recordsAgain = false;
      this.recordAndSend(deployment, () => this.send(deployment, answer, send));
    }
  }

  private prepare(deployment: Deployment): { answer: Answer; send: (attempt: Attempt) => void } {
    this.granted = this.call.granted;
    const exchange = openExchange({ ...this.asked, ...this.granted }, deployment.target);
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
    const attempt = new Attempt(
      deployment,
      answer,
      deployment.begins(this.route.tokens, performance.now()),
      this.asked.stream,
      this,
    );
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
    this.maxCharacters =
      output === 0
        ? Number.POSITIVE_INFINITY
        : Math.max(0, Math.floor(((ceilingUsd - prompt) * 1_000_000) / output)) * LONG_TOKEN;
  }

  /** The provider goes on beyond its limit: all that was granted is spent. */
  private stopAtCeiling(attempt: Attempt): void {
    const { answer } = attempt;
    const promptTokens = answer.usage?.promptTokens ?? estimateTokens(this.asked.body.length);
    const usage = {
      ...(answer.usage ?? NO_USAGE),
      promptTokens,
      completionTokens: Math.floor(this.maxCharacters / LONG_TOKEN),
    };
    const error = new SlipwayError('budget.exhausted', 'The answer was ended here: the budget is used up.');
    attempt.giveUp();
    this.finish();
    this.call.attempted(attempt.deployment, 'ok');
    if (this.opened) this.caller.breakOff(error, answer, usage);
    else this.caller.refuse(error);
    this.call.settle({
      status: 'failed',
      code: error.code,
      usage,
      source: 'estimated',
      costUsd: this.call.ceilingUsd ?? this.call.costOf(usage),
    });
  }

  /**
   * What an attempt has used: what its provider counted to the end, or else what it may have come to.
   * @param whole the provider ended it well: one that never counts is believed by what was heard of it, unless it may
   * have searched.
   */
  private usedBy(
    {
      usage,
      complete,
      characters,
      bytes,
      error,
    }: Pick<Answer, 'usage' | 'complete' | 'characters' | 'bytes' | 'error'>,
    whole: boolean,
  ): Used {
    const ended = complete && error === null;
    if (ended && usage !== null) return { usage, source: 'reported' };
    if (ended && whole && this.granted.searches === null) return this.call.heard(this.granted, bytes);
    return this.call.worst(this.granted, usage, estimateTokens(characters));
  }

  private fail(error: SlipwayError, attempt: Attempt | null): void {
    if (this.over) return;
    this.finish();
    const answer = attempt?.answer ?? null;
    // What the provider itself has ended has passed through, with its error. A silent end without an answer is
    // reported.
    if (this.opened && answer?.passesThrough === true && attempt?.ended === true && answer.error !== null) {
      if (attempt.tail !== null) this.pass(attempt.tail);
      this.response.end();
    } else if (this.opened) this.caller.breakOff(error, answer, null);
    else this.caller.refuse(error);
    this.settleUnfinished('failed', error, answer);
  }

  private settleUnfinished(status: 'failed' | 'aborted', error: SlipwayError | null, answer: Answer | null): void {
    const used = (answer?.usage ?? null) !== null || this.charged || this.opened;
    const counted: Used = used ? this.usedBy(answer ?? NOTHING_SAID, false) : { usage: NO_USAGE, source: 'none' };
    this.call.settle(
      status === 'failed' && error !== null
        ? { status, code: error.code, ...counted }
        : { status: 'aborted', ...counted },
    );
  }

  private readonly onCallerGone = (): void => {
    if (this.over) return;
    this.finish();
    const { attempt } = this;
    const answer = attempt?.answer ?? null;
    // A caller may go with the last word, before the provider has closed its stream: it has the whole answer then.
    if (
      attempt !== null &&
      answer?.complete === true &&
      answer.error === null &&
      this.held.length === 0 &&
      this.response.writableLength === 0
    ) {
      attempt.giveUp();
      this.call.attempted(attempt.deployment, 'ok');
      this.call.settle({ status: 'ok', ...this.usedBy(answer, false) });
      return;
    }
    this.giveUp();
    this.settleUnfinished('aborted', null, answer);
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
