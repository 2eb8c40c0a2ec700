import { z } from 'zod';
import type { OAuthApp } from '../linking/account-linking.js';
import type { Grant } from './connection-oauth.js';

const MINUTE_MS = 60_000;
/**
 * A caller renews a token that expires within this; the worker, without a caller waiting, within twice that.
 * Milliseconds; shorter for a token that lasts less than twenty minutes.
 */
const RENEW_BEFORE_MS = 5 * MINUTE_MS;

/**
 * What is sealed of an OAuth authorization. The client is part of it: a refresh token is worth something to the client
 * alone that it was issued to.
 */
export const OAuthTokens = z.object({
  clientId: z.string(),
  clientSecret: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  issuedAt: z.iso.datetime(),
  /** `null`: the provider gives none. */
  expiresAt: z.iso.datetime().nullable(),
});
export type OAuthTokens = z.infer<typeof OAuthTokens>;

export function tokensOf(
  { accessToken, refreshToken, expiresIn }: Grant,
  { clientId, clientSecret }: OAuthApp,
  now: Date,
): OAuthTokens {
  const expiresAt = expiresIn === null ? null : new Date(now.getTime() + expiresIn * 1_000).toISOString();
  return { clientId, clientSecret, accessToken, refreshToken, issuedAt: now.toISOString(), expiresAt };
}

/** Whether a caller may use the access token without a word to the provider. */
export function isFresh({ expiresAt, issuedAt }: OAuthTokens, now: Date): boolean {
  if (expiresAt === null) return true;
  return (
    now.getTime() <
    Date.parse(expiresAt) - Math.min(RENEW_BEFORE_MS, (Date.parse(expiresAt) - Date.parse(issuedAt)) / 4)
  );
}

/** Whether it is worth anything still. */
export const isAlive = ({ expiresAt }: OAuthTokens, now: Date): boolean =>
  expiresAt === null || now.getTime() < Date.parse(expiresAt);

/** When the worker renews them; `null`: never. */
export function renewAtOf({ expiresAt, issuedAt, refreshToken }: OAuthTokens): Date | null {
  if (expiresAt === null || refreshToken === null) return null;
  return new Date(
    Date.parse(expiresAt) - Math.min(2 * RENEW_BEFORE_MS, (Date.parse(expiresAt) - Date.parse(issuedAt)) / 3),
  );
}
