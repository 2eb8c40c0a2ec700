import { createPublicKey, type KeyObject } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { JSONWebKeySet, JWK } from 'jose';
import { z } from 'zod';

/** Longest wait for the issuer's keys. Milliseconds. */
const TIMEOUT_MS = 5_000;
/** A key that the issuer has withdrawn is trusted at most this much longer. Milliseconds. */
const FRESH_MS = 60_000;
/**
 * An unknown key id triggers a fetch of the issuer's keys, at most this often: anyone can invent key ids. Milliseconds.
 */
const COOLDOWN_MS = 1_000;

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });

/** The public keys that one issuer signs with, fetched when they are needed and kept for a minute. */
export class IssuerKeys {
  private known: { readonly at: number; readonly set: JSONWebKeySet } | undefined;
  private fetching: Promise<JSONWebKeySet> | undefined;

  /**
   * @param uri the issuer's `jwks_uri`.
   * @param now milliseconds of a clock that only goes forward.
   * @param wait for so many milliseconds of that clock.
   */
  constructor(
    readonly uri: string,
    private readonly now: () => number = () => performance.now(),
    private readonly wait: (milliseconds: number) => Promise<unknown> = setTimeout,
  ) {}

  /**
   * The keys, with the one of this id among them if the issuer has it. An unknown id waits out the second, together
   * with every other: the issuer may have begun to sign with a new key since.
   * @throws Error when the issuer's keys are unavailable: tokens can then be neither accepted nor refused.
   */
  async withKey(id: string | undefined): Promise<JSONWebKeySet> {
    const { known } = this;
    const age = known === undefined ? FRESH_MS : this.now() - known.at;
    if (known !== undefined && age < FRESH_MS && named(known.set, id) !== undefined) return known.set;
    this.fetching ??= this.wait(Math.max(0, COOLDOWN_MS - age))
      .then(() => this.fetch())
      .finally(() => {
        this.fetching = undefined;
      });
    return this.fetching;
  }

  /**
   * The key of this id to check an RS256 signature with, among those last fetched. No other kind of key is ever given.
   */
  rsaKey(id: unknown): KeyObject | undefined {
    const jwk = this.known === undefined || typeof id !== 'string' ? undefined : named(this.known.set, id);
    if (jwk === undefined || jwk.kty !== 'RSA' || (jwk.use ?? 'sig') !== 'sig' || (jwk.alg ?? 'RS256') !== 'RS256')
      return undefined;
    return createPublicKey({ key: { kty: 'RSA', n: jwk.n ?? '', e: jwk.e ?? '' }, format: 'jwk' });
  }

  private async fetch(): Promise<JSONWebKeySet> {
    const response = await fetch(this.uri, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the issuer answered ${response.status} when asked for its keys`);
    const set = KeySet.parse(JSON.parse(text)) as JSONWebKeySet;
    this.known = { at: this.now(), set };
    return set;
  }
}

function named(set: JSONWebKeySet, id: string | undefined): JWK | undefined {
  return set.keys.find(({ kid }) => kid === id);
}
