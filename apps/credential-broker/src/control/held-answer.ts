import type { OpenedCredentials } from '@slipway/contracts/credentials';
import { type Needle, needlesOf } from '../forward/needles.js';
import type { HeldCredential } from '../judge/credential.js';
import type { HostRules } from '../judge/judge-rules.js';

/**
 * What one conversation may use at one host. Values are buffers, zeroed once the answer is forgotten and no request has
 * it any more. (The text that they were read from is left to the garbage collector.)
 */
export class HeldAnswer implements HostRules {
  readonly credentials: readonly HeldCredential[];
  /** Names of those that rest. */
  readonly resting: readonly string[];
  /** Names of those that have ended. */
  readonly expired: readonly string[];
  readonly needles: readonly Needle[];
  readonly rules: HostRules['rules'];
  readonly observes: boolean;
  readonly minAgeDays: number | null;
  private leases = 0;
  /** Whether something has changed since. */
  forgotten = false;

  constructor(
    readonly org: string,
    { credentials, resting = [], expired = [], rules = [], observes = false, minAgeDays, ttlMs }: OpenedCredentials,
    /** When it was asked for, by a clock that only goes forward. Milliseconds. */
    readonly at: number,
  ) {
    this.until = at + ttlMs;
    this.resting = resting;
    this.expired = expired;
    this.rules = rules;
    this.observes = observes;
    this.minAgeDays = minAgeDays ?? null;
    this.credentials = credentials.map(({ id, name, use, value, reference, identity, endsInMs }) => ({
      id,
      name,
      use,
      value: Buffer.from(value),
      reference,
      identity: identity === null ? null : Buffer.from(identity),
      endsAt: endsInMs === null ? Number.POSITIVE_INFINITY : at + endsInMs,
    }));
    this.needles = needlesOf(this.credentials);
  }

  readonly until: number;

  take(): void {
    this.leases += 1;
  }

  release(): void {
    this.leases -= 1;
    this.wipe();
  }

  forget(): void {
    this.forgotten = true;
    this.wipe();
  }

  private wipe(): void {
    if (!this.forgotten || this.leases > 0) return;
    for (const { value, identity } of this.credentials) {
      value.fill(0);
      identity?.fill(0);
    }
    for (const { bytes } of this.needles) bytes.fill(0);
  }
}
