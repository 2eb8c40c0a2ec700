import { z } from 'zod';

/**
 * Workload identity: this installation is an OpenID Connect issuer for its conversations. credential-broker alone is
 * given the tokens, and sends them to places or exchanges them.
 */

/** Of the issuer, below PUBLIC_URL: apart from sign-in, whose tokens are of another issuer. */
export const IDENTITY_PATH = '/oauth/identity';

/** Longest life of a token. Seconds. */
export const WORKLOAD_TOKEN_SECONDS = 600;

/** What a token says. Its header has `alg: ES256` and the `kid` of the key. */
export const WorkloadClaims = z.strictObject({
  iss: z.url(),
  /**
   * `org:<id>:env:<environment>:repo:<host/owner/name>`: each part in percent encoding, so that no name reads as
   * another part; empty without an environment or repository.
   */
  sub: z.string(),
  aud: z.string(),
  conversation_id: z.string(),
  /** The sandbox. */
  claim_id: z.string(),
  /** Id of the user whose conversation it is. */
  user: z.string(),
  iat: z.int(),
  nbf: z.int(),
  exp: z.int(),
  jti: z.string(),
});
export type WorkloadClaims = z.infer<typeof WorkloadClaims>;
