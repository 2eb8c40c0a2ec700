import { z } from 'zod';

/**
 * The one call that gives a blank sandbox to a claim: `POST /api/init` on agent-server. `Authorization: Bearer` holds
 * an Ed25519-signed JWT (EdDSA, audience `slipway-activation`, at most 30 s old) with these claims.
 */
export const ActivationClaims = z.object({
  slot_id: z.string(),
  pod_uid: z.string(),
  claim_id: z.string(),
  epoch: z.int().nonnegative(),
  org: z.string(),
  /** SHA-256 of the request body, base64url: what is activated is what was signed. */
  body_sha256: z.string(),
  /**
   * SHA-256, base64url, of the keys that the app and sandbox-gateway show beside the session key. Absent from an
   * earlier release of the caller.
   */
  app_key_sha256: z.string().optional(),
  gateway_key_sha256: z.string().optional(),
});
export type ActivationClaims = z.infer<typeof ActivationClaims>;

/** Body of `POST /api/init`. Field names follow OpenHands'. */
export const InitRequest = z.looseObject({
  session_api_keys: z.array(z.string().min(16)).min(1),
  env: z.record(z.string(), z.string()).default({}),
  web_url: z.string().optional(),
});
export type InitRequest = z.infer<typeof InitRequest>;

/**
 * `GET /api/init` and the answer of the POST. A sandbox accepts exactly one `claim_id` ever; the same again is answered
 * 200, another is 409 `sandbox.already-activated`.
 */
export const InitState = z.object({
  state: z.enum(['dormant', 'initializing', 'ready']),
  slot_id: z.string(),
  claim_id: z.string().nullable(),
  working_dir: z.string(),
  /** When the empty command last ran through both of its processes while it was blank; `null` before that. */
  warmed_at: z.iso.datetime().nullable().default(null),
  /** False: never hand out this sandbox, replace it; `unhealthy_reason` says why. */
  healthy: z.boolean().default(true),
  unhealthy_reason: z.string().nullable().default(null),
});
export type InitState = z.infer<typeof InitState>;
