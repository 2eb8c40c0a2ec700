import { z } from 'zod';

/** One call that was sent to a model. `id` is made with the entry: storing it twice keeps one row. */
export const LedgerEntry = z.object({
  id: z.uuid(),
  orgId: z.string(),
  conversationId: z.uuid(),
  keyId: z.string(),
  userId: z.string().nullable(),
  requestId: z.string(),
  traceId: z.string(),
  model: z.string(),
  promptTokens: z.int().min(0),
  completionTokens: z.int().min(0),
  cachedTokens: z.int().min(0),
  usageSource: z.enum(['reported', 'estimated', 'none']),
  costUsd: z.number().min(0),
  costKnown: z.boolean(),
  status: z.enum(['ok', 'aborted', 'failed']),
  errorCode: z.string().nullable(),
  streamed: z.boolean(),
  startedAt: z.iso.datetime(),
  firstByteMs: z.number().nullable(),
  latencyMs: z.number(),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;
