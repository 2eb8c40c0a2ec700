import { createHmac, timingSafeEqual } from 'node:crypto';
import { EgressClaims } from '@slipway/contracts/sandboxes';

/** The user's name in a proxy URL; who it is stands in the password. */
export const EGRESS_USER = 'sandbox';
/** Every credential begins so, and is found by scanners of leaked secrets. */
const PREFIX = 'slp_egr_';
/** Signed with the claims: a MAC of another purpose under the same secret is none of this. */
const PURPOSE = 'slipway-egress-1:';
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

  sign({ claim, org, template, egress, address, exp }: EgressClaims): string {
    // The order is part of the text.
    const body = Buffer.from(JSON.stringify({ claim, org, template, egress, address, exp })).toString('base64url');
    return `${PREFIX}${body}.${this.mac(body).toString('base64url')}`;
  }

  /** @returns `null` for one that is malformed, of another key, or over. */
  verify(credential: string, now: Date): EgressClaims | null {
    if (credential.length > MAX_LENGTH || !credential.startsWith(PREFIX)) return null;
    const [, body, mac] = FORM.exec(credential.slice(PREFIX.length)) ?? [];
    if (body === undefined || mac === undefined || !timingSafeEqual(this.mac(body), Buffer.from(mac, 'base64url')))
      return null;
    const claims = EgressClaims.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()));
    return claims.success && claims.data.exp * 1000 > now.getTime() ? claims.data : null;
  }

  private mac(body: string): Buffer {
    return createHmac('sha256', this.secret).update(PURPOSE).update(body).digest();
  }
}
