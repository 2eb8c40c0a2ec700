import { SlipwayError } from '@slipway/errors';
import type { Deployment } from './deployment.js';
import type { FallbackClass } from './failure-class.js';
import { choose, type Strategy } from './strategies.js';

/** A model's public name and the places that answer to it. */
export interface ModelGroup {
  readonly name: string;
  /** At least one. */
  readonly deployments: readonly Deployment[];
  readonly strategy: Strategy;
  /** Most attempts of a call, those at its fallbacks included. From 1 to `MAX_ATTEMPTS`. */
  readonly attempts: number;
  /**
   * Groups that take over, in this order, by the kind of failure. `any` also stands in for `rate-limit` where that has
   * none.
   */
  readonly fallbacks: Readonly<Record<FallbackClass, readonly ModelGroup[]>>;
}

export const MAX_ATTEMPTS = 3;
/**
 * Before a deployment is asked a second time within one call; doubled each time. Milliseconds; the real wait is by
 * chance up to this.
 */
const PAUSE_MS = 200;

export interface Step {
  readonly deployment: Deployment;
  readonly waitMs: number;
}

/**
 * Where one call goes, and where it goes next when that fails. A deployment that was not tried yet comes before one
 * that was; the model's own come before those of a fallback. A lone deployment is always tried: holding it back gains
 * nothing. When several are all held back, the one that failed longest ago is tried anyway, unless providers asked for
 * a pause or limits are reached: then nothing is sent.
 */
export class Route {
  /** Attempts so far. */
  attempts = 0;
  private readonly tried: Deployment[] = [];

  /** @param tokens what the call may come to, for limits of tokens a minute. */
  constructor(
    readonly group: ModelGroup,
    readonly tokens: number,
    private readonly random: () => number,
  ) {}

  /** @throws SlipwayError `model.rate-limited` with `retryAfterSeconds`. */
  first(now: number): Step {
    const { deployments, fallbacks } = this.group;
    const [only] = deployments;
    const step =
      deployments.length === 1 &&
      only !== undefined &&
      only.hasRoom(this.tokens, now) &&
      (fallbacks.any.length === 0 || only.allows(this.tokens, now))
        ? this.take(only, 0)
        : (this.pick(now, [this.group]) ??
          this.pick(now, this.fallbacksFor('rate-limit')) ??
          this.pick(now, fallbacks.any) ??
          this.lastResort(now));
    this.attempts = 1;
    return step;
  }

  /** Another attempt would be allowed after one that fails now. */
  get mayGoOn(): boolean {
    return this.attempts < this.group.attempts;
  }

  /** What is asked after a failure of this kind; `null`: that was the last word. */
  next(kind: FallbackClass | null, now: number): Step | null {
    if (kind === null || !this.mayGoOn) return null;
    const fallbacks = this.fallbacksFor(kind);
    // Another deployment of the same model has the same context and the same policy.
    const step =
      kind === 'any' || kind === 'rate-limit'
        ? (this.pick(now, [this.group]) ?? this.pick(now, fallbacks) ?? this.again(now))
        : this.pick(now, fallbacks);
    if (step !== null) this.attempts += 1;
    return step;
  }

  private fallbacksFor(kind: FallbackClass): readonly ModelGroup[] {
    const { fallbacks } = this.group;
    return kind === 'rate-limit' && fallbacks[kind].length === 0 ? fallbacks.any : fallbacks[kind];
  }

  /** One that lets the call through and was not asked yet, of the first group that has one. */
  private pick(now: number, groups: readonly ModelGroup[]): Step | null {
    for (const { deployments, strategy } of groups) {
      const free = deployments.filter((one) => !this.tried.includes(one) && one.allows(this.tokens, now));
      if (free.length > 0) return this.take(choose(free, strategy, now, this.random), 0);
    }
    return null;
  }

  /** One of the model's own that was asked already and lets calls through, after a pause. */
  private again(now: number): Step | null {
    const free = this.group.deployments.filter((one) => one.allows(this.tokens, now));
    if (free.length === 0) return null;
    return this.take(
      choose(free, this.group.strategy, now, this.random),
      Math.ceil(this.random() * PAUSE_MS * 2 ** (this.attempts - 1)),
    );
  }

  private lastResort(now: number): Step {
    const failing = this.group.deployments.filter((one) => !one.coolsDown && one.hasRoom(this.tokens, now));
    if (failing.length > 0)
      return this.take(
        failing.reduce((one, other) => (other.openUntil < one.openUntil ? other : one)),
        0,
      );
    const soonest = Math.min(...this.group.deployments.map((one) => (one.coolsDown ? one.openUntil : now)));
    throw new SlipwayError('model.rate-limited', `Every deployment of "${this.group.name}" is at its limit.`, {
      retryAfterSeconds: Math.max(1, Math.ceil((soonest - now) / 1000)),
    });
  }

  private take(deployment: Deployment, waitMs: number): Step {
    this.tried.push(deployment);
    return { deployment, waitMs };
  }
}
