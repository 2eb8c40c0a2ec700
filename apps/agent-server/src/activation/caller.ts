import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CALLER_KEY_HEADER, CALLER_USER_HEADER, type CallerUser, callerUserOf } from '@slipway/contracts/agent';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';

/**
 * The caller, by the key sent beside the session key. Without one of the two keys it is only a holder of the session
 * key.
 */
export type Caller =
  | { readonly kind: 'app' }
  /** Through sandbox-gateway, which names who it is. */
  | { readonly kind: 'user'; readonly user: CallerUser }
  /**
   * `isMarked`: came by an earlier sandbox-gateway, or may have.
   * `mayBeEarlierApp`: the activation named no key of the app, so it was asked for by a release that has none.
   */
  | { readonly kind: 'unauthenticated'; readonly isMarked: boolean; readonly mayBeEarlierApp: boolean };

/** SHA-256, base64url, as the activation named them. */
export interface CallerKeys {
  readonly app_key_sha256?: string | undefined;
  readonly gateway_key_sha256?: string | undefined;
}

/**
 * Names and values. Node silently drops headers beyond its own limit: with this many the origin header may be missing.
 */
const MANY_RAW_HEADERS = 400;

export const UNAUTHENTICATED: Caller = { kind: 'unauthenticated', isMarked: true, mayBeEarlierApp: false };

/** A key that fits neither hash, twice the same header, a user that cannot be read: all of it is `unauthenticated`. */
export function callerOf(request: IncomingMessage, keys: CallerKeys): Caller {
  const shown = request.headers[CALLER_KEY_HEADER];
  if (typeof shown === 'string' && isKey(shown, keys.app_key_sha256)) return { kind: 'app' };
  if (typeof shown === 'string' && isKey(shown, keys.gateway_key_sha256)) {
    const header = request.headers[CALLER_USER_HEADER];
    const user = callerUserOf(typeof header === 'string' ? header : undefined);
    return user === null ? UNAUTHENTICATED : { kind: 'user', user };
  }
  const isMarked =
    request.headers[THROUGH_GATEWAY_HEADER] !== undefined || request.rawHeaders.length >= MANY_RAW_HEADERS;
  return { kind: 'unauthenticated', isMarked, mayBeEarlierApp: keys.app_key_sha256 === undefined && !isMarked };
}

/**
 * True for the app, and for what may be a release of it that has no key yet. It may start and set up; what needs a
 * second user it may not accept.
 */
export function actsForApp(caller: Caller): boolean {
  return caller.kind === 'app' || (caller.kind === 'unauthenticated' && caller.mayBeEarlierApp);
}

function isKey(shown: string, sha256: string | undefined): boolean {
  if (sha256 === undefined) return false;
  const known = Buffer.from(sha256, 'base64url');
  const given = hash('sha256', shown, 'buffer');
  return known.length === given.length && timingSafeEqual(known, given);
}
