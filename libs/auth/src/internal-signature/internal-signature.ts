import { createHmac, timingSafeEqual } from 'node:crypto';

/** `<seconds since 1970>.<nonce>.<HMAC-SHA256>`, base64url. */
export const SIGNATURE_HEADER = 'x-slipway-signature';
/** How far the clocks of two processes may be apart, and how long a request is good for. Seconds. */
const WINDOW_SECONDS = 30;
const FORM = /^([1-9][0-9]{0,11})\.([A-Za-z0-9_-]{16,64})\.([A-Za-z0-9_-]{43})$/;

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/**
 * Proves that a request between two processes of the platform, and its answer, are of whoever holds their secret. A
 * request is good once and for 30 s; an answer for its own request alone.
 */
export class InternalSignature {
  /** Nonces that were taken, with the second at which they are forgotten. */
  private readonly taken = new Map<string, number>();

  /** @param secret at least 32 characters, the same on both sides, for this purpose alone. */
  constructor(
    private readonly secret: string,
    private readonly purpose: string,
  ) {}

  /** @returns the value of `x-slipway-signature`. */
  sign(request: SignedRequest, now: Date, nonce: string): string {
    const at = Math.floor(now.getTime() / 1000);
    return `${at}.${nonce}.${this.mac('request', [at, nonce, request.method, request.path, request.body])}`;
  }

  /** Whether a request is signed, in time, and not one that was taken before by this process. */
  accepts(header: string | undefined, request: SignedRequest, now: Date): boolean {
    const [, at, nonce, mac] = FORM.exec(header ?? '') ?? [];
    if (at === undefined || nonce === undefined || mac === undefined) return false;
    const seconds = now.getTime() / 1000;
    if (!isSame(mac, this.mac('request', [Number(at), nonce, request.method, request.path, request.body])))
      return false;
    if (Math.abs(seconds - Number(at)) > WINDOW_SECONDS) return false;
    for (const [each, until] of this.taken) {
      if (until > seconds) break;
      this.taken.delete(each);
    }
    if (this.taken.has(nonce)) return false;
    // One second more than the last moment at which a request from the other end of the window is in time.
    this.taken.set(nonce, seconds + 2 * WINDOW_SECONDS + 1);
    return true;
  }

  /** For the answer to the request with this header. */
  signAnswer(requestHeader: string, body: string): string {
    return this.mac('answer', [requestHeader, body]);
  }

  acceptsAnswer(requestHeader: string, body: string, given: string | null): boolean {
    return given !== null && isSame(given, this.signAnswer(requestHeader, body));
  }

  private mac(kind: 'request' | 'answer', parts: readonly (string | number)[]): string {
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([this.purpose, kind, ...parts]))
      .digest('base64url');
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
