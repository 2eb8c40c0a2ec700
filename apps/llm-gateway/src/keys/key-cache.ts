import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { StoredKey } from './keys.queries.js';
import { hashKeyToken, keyIdOf } from './virtual-key-token.js';

/**
 * How long an answer of the database is believed; a key that was ended elsewhere works at most this much longer.
 * Milliseconds.
 */
export const KEY_TTL_MS = 4_000;
/**
 * From this age on a call renews the answer beside itself, so that no call of a busy conversation waits for it.
 * Milliseconds.
 */
const RENEW_AFTER_MS = 2_000;
/**
 * A key whose end is nearer than this has ended: it was written by another clock, and most end at the moment in which
 * that is written. Milliseconds.
 */
const CLOCK_SKEW_MS = 5_000;
/**
 * Entries of keys that exist, and of keys that do not: apart, so that made-up keys never push out real ones. The oldest
 * goes first; about 0.5 kB each.
 */
const MAX_KNOWN = 20_000;
const MAX_UNKNOWN = 10_000;
/**
 * Lookups of never-seen keys under way at once: a flood of made-up keys must not take the database from those that are
 * known.
 */
const MAX_NEW_LOOKUPS = 16;
/** Never-seen keys that wait for their turn, as after a restart; more are answered `rate.limited`. */
const MAX_WAITING = 1_000;

interface Entry {
  readonly key: StoredKey | null;
  readonly at: number;
}

/**
 * Who calls, from the key alone. In front of one SQL lookup; never answers from an entry older than `KEY_TTL_MS`.
 * When the database does not answer, new and aged keys fail closed with `service.unavailable`.
 */
export class KeyCache {
  private readonly known = new Map<string, Entry>();
  private readonly unknown = new Map<string, Entry>();
  private readonly lookups = new Map<string, Promise<StoredKey | null>>();
  private newLookups = 0;
  private readonly waiting: Array<() => void> = [];

  constructor(
    private readonly find: (keyId: string) => Promise<StoredKey | null>,
    private readonly clock: Clock,
  ) {}

  /**
   * @param keyId where it is known that the token has its form. @param pays `pass`: the call counts for another user,
   * so a spent budget of the key's own does not matter. @throws SlipwayError `auth.missing`, `rate.limited`,
   * `service.unavailable`, or `budget.exhausted` with the sentence that the conversation shows.
   */
  authenticate(
    token: string | null,
    keyId = token === null ? null : keyIdOf(token),
    pays: 'owner' | 'pass' = 'owner',
  ): StoredKey | Promise<StoredKey> {
    if (token === null || keyId === null)
      throw unauthorized('Send a key of this gateway as "Authorization: Bearer slp_llm_…".');
    const now = this.clock.now().getTime();
    const entry = this.entryOf(keyId);
    if (entry !== undefined && now - entry.at < KEY_TTL_MS) {
      // What is unknown stays unknown for the whole time: renewing it would let a flood reach the database.
      if (entry.key !== null && now - entry.at >= RENEW_AFTER_MS) this.lookup(keyId).catch(() => {});
      return this.check(entry.key, token, now, pays);
    }
    const key = entry === undefined ? this.lookupNew(keyId) : this.lookup(keyId);
    return key.then((found) => this.check(found, token, this.clock.now().getTime(), pays));
  }

  /** Forgets keys that this process has just ended. */
  forget(keyIds: readonly string[]): void {
    for (const keyId of keyIds) this.known.delete(keyId);
  }

  /** Rereads every key of an organization before its next call: what limits them has changed. */
  forgetOrg(orgId: string): void {
    for (const [keyId, { key }] of this.known) if (key?.orgId === orgId) this.known.delete(keyId);
  }

  private async lookupNew(keyId: string): Promise<StoredKey | null> {
    const running = this.lookups.get(keyId);
    if (running !== undefined) return running;
    if (this.newLookups >= MAX_NEW_LOOKUPS) {
      if (this.waiting.length >= MAX_WAITING)
        throw new SlipwayError('rate.limited', 'Too many unknown keys are being checked.', { retryAfterSeconds: 1 });
      // The place is handed over, so that the count stays as it is.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.newLookups += 1;
    try {
      const entry = this.entryOf(keyId);
      return entry === undefined ? await this.lookup(keyId) : entry.key;
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.newLookups -= 1;
      else next();
    }
  }

  private lookup(keyId: string): Promise<StoredKey | null> {
    const running = this.lookups.get(keyId);
    if (running !== undefined) return running;
    const at = this.clock.now().getTime();
    const lookup = this.find(keyId)
      .then(
        (key) => {
          this.store(keyId, { key, at });
          return key;
        },
        (error: unknown) => {
          throw new SlipwayError('service.unavailable', 'The key could not be checked: the database does not answer.', {
            cause: error,
            retryAfterSeconds: 1,
          });
        },
      )
      .finally(() => this.lookups.delete(keyId));
    this.lookups.set(keyId, lookup);
    return lookup;
  }

  private entryOf(keyId: string): Entry | undefined {
    return this.known.get(keyId) ?? this.unknown.get(keyId);
  }

  private store(keyId: string, entry: Entry): void {
    const [place, other, limit] =
      entry.key === null ? [this.unknown, this.known, MAX_UNKNOWN] : [this.known, this.unknown, MAX_KNOWN];
    other.delete(keyId);
    place.delete(keyId);
    place.set(keyId, entry);
    if (place.size <= limit) return;
    const [oldest] = place.keys();
    if (oldest !== undefined) place.delete(oldest);
  }

  private check(key: StoredKey | null, token: string, now: number, pays: 'owner' | 'pass'): StoredKey {
    if (key === null || !timingSafeEqual(key.hash, hashKeyToken(token))) throw unauthorized('This key is not known.');
    if (key.revokedAt !== null && key.revokedAt <= now + CLOCK_SKEW_MS)
      throw unauthorized('This key was ended; the conversation has a newer one or is over.');
    if (key.blocked === true) throw unauthorized('This key is blocked.');
    if (key.expiresAt <= now) throw unauthorized('This key has expired.');
    if (pays === 'owner' && key.stop !== null && key.stop.until > now)
      throw new SlipwayError('budget.exhausted', key.stop.reason);
    return key;
  }
}

function unauthorized(detail: string): SlipwayError {
  return new SlipwayError('auth.missing', detail);
}
