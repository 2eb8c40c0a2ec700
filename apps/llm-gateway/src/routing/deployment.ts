import type { SlipwayError } from '@slipway/errors';
import type { ModelPrice } from '@slipway/llm';
import type { Target } from '../wire/exchange.js';
import { Breaker, type BreakerState } from './breaker.js';
import { type FallbackClass, failureClassOf } from './failure-class.js';
import { RateAllowance } from './rate-allowance.js';
import { RecentTimes } from './recent-times.js';
import type { Choosable } from './strategies.js';

export interface DeploymentSettings {
  /** `group/number`, or the name that the file gives it. */
  readonly id: string;
  readonly target: Target;
  readonly weight: number;
  /** Calls and tokens a minute of this replica; `null`: no limit. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  /** `null`: unknown. */
  readonly price: ModelPrice | null;
  /** Longest wait for the first byte and longest silence. Milliseconds; `null`: the gateway's own. */
  readonly firstByteTimeoutMs: number | null;
  readonly silenceTimeoutMs: number | null;
  /** Its address was typed by a caller, not by who runs the gateway: only public addresses are called. */
  readonly guarded: boolean;
  /** Its provider may fetch what callers name by an address. */
  readonly mediaByUrl: boolean;
}

/** The newest measurement counts for this much. */
const SMOOTHING = 0.3;

/**
 * One place that answers calls to a model, and what is known of its health. Time is in milliseconds of a clock that
 * does not go back.
 */
export class Deployment implements Choosable {
  readonly id: string;
  readonly target: Target;
  readonly weight: number;
  readonly price: ModelPrice | null;
  inFlight = 0;
  latencyMs: number | null = null;
  latencyAt = 0;
  /** Until the first byte of the newest answers. */
  readonly firstBytes = new RecentTimes();
  /** Since the start of this process. */
  calls = 0;
  failures = 0;
  /** The newest failure; it stays when calls succeed again. `at` is of the same clock. */
  lastFailure: { readonly code: string; readonly detail: string; readonly at: number } | null = null;
  private readonly breaker = new Breaker();
  private readonly requests: RateAllowance;
  private readonly tokens: RateAllowance;

  constructor(readonly settings: DeploymentSettings) {
    ({ id: this.id, target: this.target, weight: this.weight, price: this.price } = settings);
    this.requests = new RateAllowance(settings.rpm);
    this.tokens = new RateAllowance(settings.tpm);
  }

  state(now: number): BreakerState {
    return this.breaker.state(now);
  }

  /** When its breaker lets a call through again; 0 when it is not open. */
  get openUntil(): number {
    return this.breaker.openUntil;
  }

  /** Its provider asked to be left alone. */
  get coolsDown(): boolean {
    return this.breaker.coolsDown;
  }

  /** Its breaker and its limits would let a call of so many tokens through. */
  allows(tokens: number, now: number): boolean {
    return this.breaker.allows(now) && this.hasRoom(tokens, now);
  }

  /** Its limits would. */
  hasRoom(tokens: number, now: number): boolean {
    return this.requests.allows(1, now) && this.tokens.allows(tokens, now);
  }

  /** A call is sent. What comes back belongs to it and goes back with how it ended, once. */
  begins(tokens: number, now: number): boolean {
    this.inFlight += 1;
    this.calls += 1;
    this.requests.take(1, now);
    this.tokens.take(tokens, now);
    return this.breaker.begins(now);
  }

  firstByte(afterMs: number, now: number): void {
    this.latencyMs = this.latencyMs === null ? afterMs : this.latencyMs + SMOOTHING * (afterMs - this.latencyMs);
    this.latencyAt = now;
    this.firstBytes.add(afterMs);
  }

  succeeded(probe: boolean): void {
    this.inFlight -= 1;
    this.breaker.succeeded(probe);
  }

  /** Answers what kind of failure it is. */
  failed(error: SlipwayError, now: number, probe: boolean): FallbackClass | null {
    this.inFlight -= 1;
    const kind = failureClassOf(error.code);
    if (kind === 'any' || kind === 'rate-limit') {
      this.failures += 1;
      this.lastFailure = { code: error.code, detail: error.detail, at: now };
    }
    const { retryAfterSeconds } = error.more;
    if (kind === 'rate-limit' || (kind === 'any' && retryAfterSeconds !== undefined))
      this.breaker.coolDown(now, retryAfterSeconds === undefined ? null : retryAfterSeconds * 1000, probe);
    else if (kind === 'any') this.breaker.failed(now, probe);
    else this.breaker.givenUp(probe);
    return kind;
  }

  /** The call ended without saying anything of its health. */
  givenUp(probe: boolean): void {
    this.inFlight -= 1;
    this.breaker.givenUp(probe);
  }
}
