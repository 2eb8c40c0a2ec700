import { z } from 'zod';

const Tokens = z.int().min(0);
/** A dimension as the key's metadata says it. */
const Dimension = z.string().max(500).nullable().default(null);

/**
 * One call that was sent to a model. `id` is made with the entry: storing it twice keeps one row.
 * What has a default may be missing on disk: an older version wrote it.
 */
export const LedgerEntry = z.object({
  id: z.uuid(),
  orgId: z.string(),
  conversationId: z.uuid(),
  keyId: z.string(),
  userId: z.string().nullable(),
  repository: Dimension,
  pullRequest: Dimension,
  integration: Dimension,
  /** What the agent called for; see `purposeOf`. */
  purpose: z.string().max(32).default('agent'),
  requestId: z.string(),
  traceId: z.string(),
  model: z.string(),
  /** Which of the model's deployments answered, or was asked last. */
  deployment: z.string().max(200).nullable().default(null),
  /** How often a deployment was asked. */
  attempts: z.int().min(0).default(1),
  promptTokens: Tokens,
  completionTokens: Tokens,
  cachedTokens: Tokens,
  cacheWriteTokens: Tokens.default(0),
  reasoningTokens: Tokens.default(0),
  /** Answered from the gateway's own cache: it cost nothing. */
  fromCache: z.boolean().default(false),
  usageSource: z.enum(['reported', 'estimated', 'none']),
  costUsd: z.number().min(0),
  costKnown: z.boolean(),
  status: z.enum(['ok', 'aborted', 'failed']),
  errorCode: z.string().nullable(),
  streamed: z.boolean(),
  startedAt: z.iso.datetime(),
  firstByteMs: z.number().nullable(),
  latencyMs: z.number(),
  /** `Admission.draw`. */
  holder: z.uuid().nullable().default(null),
  accounts: z.array(z.int().positive()).readonly().default([]),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;
/** Before the defaults. */
export type LedgerInput = z.input<typeof LedgerEntry>;
