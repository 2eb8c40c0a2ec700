import { createHmac, timingSafeEqual } from 'node:crypto';
import { EgressClaims } from '@slipway/contracts/sandboxes';

/** Every credential begins so, and is found by scanners of leaked secrets. */
const PREFIX = 'slp_egr_';
/**
 * Signed with the claims: a MAC of another purpose under the same secret is none of this. The first form names no
 * conversation; it is read until sandboxes of before 0.1.0 have ended.
 */
const PURPOSES = { 1: 'slipway-egress-1:', 2: 'slipway-egress-2:' } as const;
/** Longest accepted credential. Characters. */
const MAX_LENGTH = 1_000;
const FORM = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/;

/**
 * Password of one sandbox at egress-proxy: its claims and their HMAC-SHA256. The same claims make the same text, so a
 * repeated activation gives the same text; it is verified without a query.
 */
export class EgressCredentials {
  /** @param secret `EGRESS_SECRET`, at least 32 characters, the same for runtime-api and egress-proxy. */
  constructor(private readonly secret: string) {}

  sign({ claim, org, conversation, template, egress, address, exp }: EgressClaims): string {
    // The order is part of the text.
    const claims = {
      claim,
      org,
      ...(conversation === undefined ? {} : { conversation }),
      template,
      egress,
      address,
      exp,
    };
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return `${PREFIX}${body}.${this.mac(body, conversation === undefined ? 1 : 2).toString('base64url')}`;
  }

  /** @returns `null` for one that is malformed, of another key, or over. */
  verify(credential: string, now: Date): EgressClaims | null {
    if (credential.length > MAX_LENGTH || !credential.startsWith(PREFIX)) return null;
    const [, body, mac] = FORM.exec(credential.slice(PREFIX.length)) ?? [];
    if (body === undefined || mac === undefined) return null;
    const given = Buffer.from(mac, 'base64url');
    // The last character has two bits that mean nothing: of four spellings one is a credential.
    if (given.toString('base64url') !== mac) return null;
    const version = timingSafeEqual(this.mac(body, 2), given)
      ? 2
      : timingSafeEqual(this.mac(body, 1), given)
        ? 1
        : null;
    if (version === null) return null;
    const claims = EgressClaims.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()));
    if (!claims.success || claims.data.exp * 1000 <= now.getTime()) return null;
    // Each form says what it says: the first knows no conversation.
    return (claims.data.conversation === undefined) === (version === 1) ? claims.data : null;
  }

  private mac(body: string, version: keyof typeof PURPOSES): Buffer {
    return createHmac('sha256', this.secret).update(PURPOSES[version]).update(body).digest();
  }
}
