import { z } from 'zod';

/**
 * A deployment of one of the installation's models. Address and key are not shown, nor a provider's answer to another
 * organization's call: a failure shows its code only.
 */
export const ModelDeployment = z.object({
  id: z.string(),
  model: z.string(),
  provider: z.string(),
  /** As the provider names it. */
  providerModel: z.string(),
  region: z.string().nullable(),
  /** `closed`: calls go there. `open`: none do until `openUntil`. `half-open`: the next one tries it. */
  state: z.enum(['closed', 'open', 'half-open']),
  openUntil: z.iso.datetime().nullable(),
  /** It is left alone because its provider asked for it, not because it fails. */
  coolsDown: z.boolean(),
  /** Calls under way, of all organizations. */
  inFlight: z.int().nonnegative(),
  /** Since that replica of the gateway started. */
  calls: z.int().nonnegative(),
  failures: z.int().nonnegative(),
  /** Median of the newest answers. Milliseconds. */
  firstTokenMs: z.int().nonnegative().nullable(),
  /** It stays when calls succeed again. */
  lastFailure: z.object({ code: z.string(), at: z.iso.datetime() }).nullable(),
});
export type ModelDeployment = z.infer<typeof ModelDeployment>;

/** In the order in which the gateway offers the models; as one replica of it sees them. The demo model is none. */
export const ModelDeploymentList = z.object({ data: z.array(ModelDeployment), asOf: z.iso.datetime() });
export type ModelDeploymentList = z.infer<typeof ModelDeploymentList>;

/** One real call of at most 16 tokens. A failure is an answer, too. */
export const ModelDeploymentTest = z.object({
  ok: z.boolean(),
  elapsedMs: z.int().nonnegative(),
  /** `null`: it failed, or the provider does not count. */
  promptTokens: z.int().nonnegative().nullable(),
  completionTokens: z.int().nonnegative().nullable(),
  failure: z.object({ code: z.string(), detail: z.string() }).nullable(),
});
export type ModelDeploymentTest = z.infer<typeof ModelDeploymentTest>;
