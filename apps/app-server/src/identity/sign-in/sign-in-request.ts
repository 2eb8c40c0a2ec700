import type { SignInOptions } from '@slipway/auth';

/** What of `GET /oauth/login`'s query is heeded; other and malformed parameters are ignored. */
export interface SignInRequest {
  /** Where to go afterwards, not validated yet. */
  readonly redirect: unknown;
  readonly options: SignInOptions;
  /** Signs in as another user, here and at the issuer. */
  readonly switching: boolean;
}

const INVITATION = /^[A-Za-z0-9._~-]{8,300}$/;
/** Longest name or address that is filled into the issuer's form. Characters. */
const MAX_HINT = 254;

/**
 * - `redirect`: a path of ours.
 * - `invitation`: the token of one; the way then leads to its page, through a registration too.
 * - `switch=1`: as another user; both sessions, here and with the issuer, end first.
 * - `again=sign-in` or `again=second-factor`: as what an organization's rules ask for (`Org.needs`), with a fresh
 * authentication.
 * - `login_hint`: who is expected.
 * - `verify=1`: to verify the e-mail address.
 */
export function signInRequestOf(query: unknown): SignInRequest {
  const given = (query ?? {}) as Readonly<Record<string, unknown>>;
  const { invitation, login_hint: hint, again } = given;
  return {
    switching: given['switch'] === '1',
    redirect:
      typeof invitation === 'string' && INVITATION.test(invitation) ? `/invite/${invitation}` : given['redirect'],
    options: {
      ...(again === 'second-factor'
        ? { prompt: 'login', secondFactor: true }
        : again === 'sign-in'
          ? { prompt: 'login' }
          : {}),
      ...(typeof hint === 'string' && hint !== '' && hint.length <= MAX_HINT ? { loginHint: hint } : {}),
      ...(given['verify'] === '1' ? { action: 'VERIFY_EMAIL' } : {}),
    },
  };
}
