import { z } from 'zod';
import { CredentialQuestion } from './broker.js';
import { TokenText } from './refresh-token.js';

/**
 * Renewal of access tokens for the form `oauth-refresh-token`, between credential-broker and app-server
 * (docs/decisions/0070). Answers and outcomes are sealed: tokens are in clear on no wire.
 */

/** `POST /internal/credentials/v1/renew`: an access token for this credential. */
export const RenewalQuestion = CredentialQuestion.extend({
  credential: z.string().min(1).max(100),
  /** SHA-256 of an access token that a place did not take, in base64. */
  refused: z.string().max(100).nullable(),
});
export type RenewalQuestion = z.infer<typeof RenewalQuestion>;

/** Sealed as `renewal:` and the question's signature. */
export const RenewalAnswer = z.discriminatedUnion('state', [
  z.object({ state: z.literal('issued'), accessToken: z.string(), seconds: z.number() }),
  /** Who asked is to renew it, alone for `LEASE_SECONDS`. */
  z.object({
    state: z.literal('lease'),
    lease: z.string(),
    refreshToken: z.string(),
    clientSecret: z.string().nullable(),
  }),
  /** Another process renews it. */
  z.object({ state: z.literal('busy') }),
  /** It may not be used, or not any more. */
  z.object({ state: z.literal('resting') }),
]);
export type RenewalAnswer = z.infer<typeof RenewalAnswer>;

/** For how long one process may use a refresh token; longer than an authorization server is waited for. */
export const LEASE_SECONDS = 30;

export const RenewalOutcome = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('issued'),
    accessToken: TokenText,
    /** `null`: the one that was used goes on. */
    refreshToken: TokenText.nullable(),
    seconds: z.number().min(0).nullable(),
  }),
  /** The server did not take it; `isGrant`: it says that the refresh token is not valid. */
  z.strictObject({ outcome: z.literal('refused'), isGrant: z.boolean() }),
  /** Nothing reached the server. */
  z.strictObject({ outcome: z.literal('unsent') }),
  /** Something was sent and no answer understood: the refresh token may be used up. */
  z.strictObject({ outcome: z.literal('unknown') }),
]);
export type RenewalOutcome = z.infer<typeof RenewalOutcome>;

/** Most of a report. Bytes. */
export const MAX_ROTATED_BYTES = 64 * 1024;

/** `POST /internal/credentials/v1/rotated`: what came of a renewal. */
export const RotatedCredential = RenewalQuestion.omit({ refused: true }).extend({
  lease: z.string().min(1).max(100),
  /** `RenewalOutcome` in base64, sealed as `rotated:` and the lease. */
  sealed: z.string().max(MAX_ROTATED_BYTES),
});
export type RotatedCredential = z.infer<typeof RotatedCredential>;

/** `kept: false`: the credential was changed meanwhile, or another process renews it. */
export const RotatedAnswer = z.object({ kept: z.boolean() });
export type RotatedAnswer = z.infer<typeof RotatedAnswer>;
