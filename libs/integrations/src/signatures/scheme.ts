/** When a delivery was signed. Without it only the delivery's id stops a replay. */
export interface SignedTime {
  /** A header, or a top-level field of the JSON body: read only after the signature holds. */
  readonly from: { readonly header: string } | { readonly bodyField: string };
  readonly unit: 's' | 'ms';
  /** Refused when it is further away from now than this, in the past as in the future. Seconds. */
  readonly toleranceS: number;
}

/**
 * How a provider signs its deliveries, as data. `signed` names the bytes in their order: literal text, headers, the raw
 * body; never a string that was decoded or serialised again.
 */
export type SignatureScheme =
  | {
      readonly kind: 'hmac-sha256';
      readonly header: string;
      readonly encoding: 'hex' | 'base64';
      /** What stands before the digest, such as `sha256=`. */
      readonly prefix?: string;
      /**
       * The header may hold several signatures with a blank between them, of which one must be right (Standard
       * Webhooks: rotation).
       */
      readonly several?: true;
      /** `whsec-base64`: the key is the base64 after `whsec_`. */
      readonly key: 'utf8' | 'whsec-base64';
      readonly signed: readonly ({ readonly text: string } | { readonly header: string } | 'body')[];
      readonly time?: SignedTime;
    }
  /** The secret itself in a header. Compared as digests. */
  | { readonly kind: 'token'; readonly header: string }
  /** `Authorization: Basic`, the secret being `user:password`. */
  | { readonly kind: 'basic' }
  /**
   * `Authorization: Bearer` with a JWT of HS256: says who calls, not what the body says, so what it is about is fetched
   * again.
   */
  | { readonly kind: 'jwt-hs256'; readonly header: string }
  /**
   * A socket that we opened (`calls/socket-access.ts`): the connection authenticates it. Deliveries by HTTP are
   * refused.
   */
  | { readonly kind: 'socket' };

/** Why a delivery is not believed. For the log alone: the caller learns none of it. */
export type SignatureRefusal = 'no-secret' | 'missing' | 'doubled' | 'malformed' | 'wrong' | 'too-old' | 'too-new';
