import { SlipwayError } from '@slipway/errors';
import { pricesFor } from '@slipway/llm';
import type { Dispatcher } from 'undici';
import type { Admission } from '../budgets/admission.js';
import type { Deployment } from '../routing/deployment.js';
import type { FallbackClass } from '../routing/failure-class.js';
import type { RetryBudget } from '../routing/retry-budget.js';
import type { Route, Step } from '../routing/route.js';
import type { Answer } from '../wire/exchange.js';
import { Attempt, type AttemptEvents } from './attempt.js';
import type { Call, Used } from './call.js';
import type { DeploymentRequests, PreparedRequest } from './deployment-requests.js';
import type { HeldAnswer } from './held-answer.js';
import { estimateTokens, NO_USAGE, type Usage } from './usage.js';

export interface DeliveryOptions {
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
 * An answer in one piece is held until it is whole, so that its cost can stand in a header. A failure leads to another
 * deployment as long as nothing of an answer has been sent; while that is possible a stream is held back until it has
 * really begun. After that a failure comes as an error frame, and the connection is broken off, so that no client takes
 * it for an end. When the caller goes away the provider's connection is closed at once. In every case each attempt that
 * may have cost is settled once: by what its provider counted to the end, or else by what was granted.
 */
export class Delivery implements AttemptEvents {
  private attempt: Attempt | null = null;
  private timer: NodeJS.Timeout | undefined;
  private over = false;
  /** An attempt that failed may have been charged by its provider. */
  private charged = false;
  /** The next attempt is another row of the ledger. */
  private recordsAgain = false;
  /** The caller may hear at most so much of a stream, should the provider keep no limit. UTF-16 code units. */
  private maxCharacters = Number.POSITIVE_INFINITY;
  private metered: Usage | null = null;

  constructor(
    private readonly call: Call,
    private readonly held: HeldAnswer,
    private readonly requests: DeploymentRequests,
    private readonly route: Route,
    private readonly options: DeliveryOptions,
  ) {}

  /**
   * @throws SlipwayError when the first deployment cannot be asked for what the request says, or none may be asked at
   * all; nothing has been sent then.
   */
  start(): void {
    this.options.retries.called();
    const step = this.route.first(performance.now());
    const prepared = this.requests.prepare(step.deployment);
    this.held.onGone(this.onCallerGone);
    this.options.shutdown.addEventListener('abort', this.onShutdown, { once: true });
    this.recordAndSend(step.deployment, () => this.send(step.deployment, prepared));
  }

  private recordAndSend(deployment: Deployment, send: () => void): void {
    const recorded = this.requests.record(deployment);
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
      this.held.hold();
      return;
    }
    this.held.open(attempt.answer, this.call.price);
    // With the first chunk if it is here already, else now.
    setImmediate(() => {
      if (!this.over) this.held.flushHead();
    });
  }

  piece(attempt: Attempt, controller: Dispatcher.DispatchController, piece: Buffer | null): void {
    const { answer } = attempt;
    if (answer.usage !== this.metered) this.meter(attempt);
    if (answer.characters > this.maxCharacters && !answer.complete) {
      this.stopAtCeiling(attempt);
      return;
    }
    if (!this.held.opened) this.held.begin(answer, piece, { controller, price: this.call.price });
    else if (piece !== null) this.held.write(piece, controller);
  }

  streamEnds({ answer, deployment, tail }: Attempt): void {
    this.call.attempted(deployment, 'ok');
    this.held.last(answer, tail, this.call.price);
    this.finish();
    this.held.end();
    this.call.settle({ status: 'ok', ...this.usedBy(answer, true) });
  }

  whole({ answer, deployment }: Attempt, body: Buffer): void {
    this.call.attempted(deployment, 'ok');
    const counted = this.usedBy(answer, true);
    this.finish();
    this.held.whole(body, counted.costUsd ?? this.call.costOf(counted.usage));
    this.call.settle({ status: 'ok', ...counted });
  }

  /** @param charged its provider may want to be paid for it. */
  fails(attempt: Attempt, error: SlipwayError, kind: FallbackClass | null, charged: boolean): void {
    if (this.over) return;
    this.call.attempted(attempt.deployment, error.code);
    if (!this.held.opened) {
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
    this.held.drop();
    if (step.waitMs > 0) {
      this.attempt = null;
      this.timer = setTimeout(() => this.again(step.deployment), step.waitMs);
    } else this.again(step.deployment);
  }

  private again(deployment: Deployment): void {
    let prepared: PreparedRequest;
    try {
      prepared = this.requests.prepare(deployment);
    } catch (error) {
      this.fail(
        error instanceof SlipwayError
          ? error
          : new SlipwayError('internal.unexpected', 'The call could not be said to another model.', { cause: error }),
        null,
      );
      return;
    }
    if (!this.recordsAgain) this.send(deployment, prepared);
    else {
      this.recordsAgain = false;
      this.recordAndSend(deployment, () => this.send(deployment, prepared));
    }
  }

  private send(deployment: Deployment, { answer, send }: PreparedRequest): void {
    this.call.asks(deployment);
    const attempt = new Attempt(
      deployment,
      answer,
      deployment.begins(this.route.tokens, performance.now()),
      this.requests.streamed,
      this,
    );
    this.attempt = attempt;
    send(attempt);
  }

  /** Sets what the caller may hear of this stream, from what is known of its cost. */
  private meter({ answer, deployment }: Attempt): void {
    this.metered = answer.usage;
    const { ceilingUsd } = this.call;
    if (ceilingUsd === null || deployment.price === null) return;
    const promptTokens = answer.usage?.promptTokens ?? estimateTokens(this.requests.bodyBytes);
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
    const promptTokens = answer.usage?.promptTokens ?? estimateTokens(this.requests.bodyBytes);
    const usage = {
      ...(answer.usage ?? NO_USAGE),
      promptTokens,
      completionTokens: Math.floor(this.maxCharacters / LONG_TOKEN),
    };
    const error = new SlipwayError('budget.exhausted', 'The answer was ended here: the budget is used up.');
    attempt.giveUp();
    this.finish();
    this.call.attempted(attempt.deployment, 'ok');
    this.held.fail(error, answer, usage);
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
    if (ended && whole && this.requests.granted.searches === null) return this.call.heard(this.requests.granted, bytes);
    return this.call.worst(this.requests.granted, usage, estimateTokens(characters));
  }

  private fail(error: SlipwayError, attempt: Attempt | null): void {
    if (this.over) return;
    this.finish();
    const answer = attempt?.answer ?? null;
    // What the provider itself has ended has passed through, with its error. A silent end without an answer is
    // reported.
    if (this.held.opened && answer?.passesThrough === true && attempt?.ended === true && answer.error !== null)
      this.held.end(attempt.tail);
    else this.held.fail(error, answer, null);
    this.settleUnfinished('failed', error, answer);
  }

  private settleUnfinished(status: 'failed' | 'aborted', error: SlipwayError | null, answer: Answer | null): void {
    const used = (answer?.usage ?? null) !== null || this.charged || this.held.opened;
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
    if (attempt !== null && answer?.complete === true && answer.error === null && this.held.isSent) {
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
    this.held.drop();
    clearTimeout(this.timer);
    this.held.offGone(this.onCallerGone);
    this.options.shutdown.removeEventListener('abort', this.onShutdown);
  }
}
