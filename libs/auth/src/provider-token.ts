import { z } from 'zod';

/** A token of another provider (GitHub, GitLab …) that the issuer stored when the user signed in through it. */
export interface ProviderToken {
  readonly accessToken: string;
  /** `null` where the provider gives none, as GitHub's OAuth apps do. */
  readonly refreshToken: string | null;
  /** Seconds that it lived when the provider gave it, `null` when it does not end. */
  readonly lifeSeconds: number | null;
  /** What it may be used for, in the provider's words. */
  readonly scopes: readonly string[];
}

/** Longest wait. Milliseconds. */
const TIMEOUT_MS = 5_000;
/** Largest answer that is read. Characters. */
const MAX_CHARACTERS = 64 * 1024;
const ALIAS = /^[a-z0-9][a-z0-9-]{0,62}$/;

const Stored = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  expires_in: z.coerce.number().nonnegative().optional(),
  scope: z.string().optional(),
});

/**
 * Asks Keycloak for the token that it stored of a brokered sign-in: the only user of this API, which Keycloak calls
 * deprecated without a successor. The realm's provider must have `storeToken`, and the user the role
 * `broker.read-token` (`addReadTokenRoleOnCreate` gives it).
 * @param alias the provider's name in the realm, as `Identity.provider` says it; Keycloak answers for one that it does
 * not know as for an outage.
 * @returns `null` when the issuer has none for this user, or no such feature.
 * @throws Error when it does not answer, or with an unexpected answer.
 */
export async function readProviderToken(
  issuerUrl: string,
  accessToken: string,
  alias: string,
): Promise<ProviderToken | null> {
  if (!ALIAS.test(alias)) return null;
  const response = await fetch(`${issuerUrl.replace(/\/$/, '')}/broker/${alias}/token`, {
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.status >= 400 && response.status < 500) return null;
  if (response.status !== 200 || text.length > MAX_CHARACTERS)
    throw new Error(`the issuer answered ${response.status} when asked for a stored token`);
  const stored = Stored.parse(
    text.trimStart().startsWith('{') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text)),
  );
  return {
    accessToken: stored.access_token,
    refreshToken: stored.refresh_token ?? null,
    // GitHub and GitLab say 0, or nothing, for one that does not end.
    lifeSeconds: stored.expires_in === undefined || stored.expires_in === 0 ? null : stored.expires_in,
    scopes: stored.scope?.split(/[\s,]+/).filter((scope) => scope !== '') ?? [],
  };
}
