import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { hostCookie, hostCookieRules } from '../../http/host-cookie.js';

/** 256 bits. Bytes. */
const SECRET_BYTES = 32;

/**
 * What one attempt to link is known by: `state` goes through the provider, `nonce` stays in the browser's cookie. The
 * server keeps the hashes of both.
 */
export interface LinkProof {
  readonly state: string;
  readonly nonce: string;
}

/** @param random so many random bytes. */
export function makeProof(random: (size: number) => Buffer): LinkProof {
  return { state: random(SECRET_BYTES).toString('base64url'), nonce: random(SECRET_BYTES).toString('base64url') };
}

export const hashOf = (value: string): Buffer => createHash('sha256').update(value).digest();

export function isNonce(nonce: string | undefined, hash: Buffer): boolean {
  return nonce !== undefined && timingSafeEqual(hashOf(nonce), hash);
}

/** PKCE's verifier: made again from what the browser brings back, so that it is stored nowhere. */
export const verifierOf = ({ state, nonce }: LinkProof): string =>
  createHmac('sha256', nonce).update(`pkce:${state}`).digest('base64url');

export const challengeOf = (proof: LinkProof): string => hashOf(verifierOf(proof)).toString('base64url');

/** The cookie of one attempt; each has its own, so that two tabs do not end each other's. */
export function nonceCookie(
  state: string,
  publicUrl: string,
): { readonly name: string; set(nonce: string, seconds: number): string } {
  const { name, attributes } = hostCookie(
    `slipway_link_${state.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 10)}`,
    publicUrl,
  );
  return {
    name,
    set: (nonce, seconds) => `${name}=${nonce}; ${attributes}; Max-Age=${seconds}; ${hostCookieRules(publicUrl)}`,
  };
}
