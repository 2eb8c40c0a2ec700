import { z } from 'zod';
import { ConversationStatus } from '../conversations/conversations.js';

/** The sandboxes of an organization as an admin sees them. */

const User = z.object({ id: z.string(), label: z.string() });

export const SANDBOX_STATES = ['starting', 'running', 'pausing'] as const;

export const LiveSandbox = z.object({
  /** Of the conversation: a conversation has one sandbox at a time. */
  id: z.uuid(),
  conversation: z.object({ id: z.uuid(), title: z.string(), status: ConversationStatus }),
  owner: User,
  state: z.enum(SANDBOX_STATES),
  /** Why it is in this state, in words; empty when there is nothing to say. */
  reason: z.string(),
  /** Where it runs; `null` where that is not known, or where sandboxes have no nodes. */
  node: z.string().nullable(),
  /** `warm`: it was ready. `cold`: the start waited for it. `null`: not known. */
  start: z.enum(['warm', 'cold']).nullable(),
  template: z.string().nullable(),
  /** Multiple of the template's resources. */
  size: z.int().positive().nullable(),
  restarts: z.int().nonnegative(),
  startedAt: z.iso.datetime(),
  /** Since when nothing has happened in the conversation; `null` while its agent works. */
  idleSince: z.iso.datetime().nullable(),
});
export type LiveSandbox = z.infer<typeof LiveSandbox>;

export const ListSandboxesQuery = z.object({
  state: z.enum(SANDBOX_STATES).optional(),
  owner: z
    .string()
    .regex(/^[\w-]{1,100}$/, 'is no id')
    .optional(),
});

/**
 * Oldest first, at most 1,000. `live: false`: runtime-api does not answer; `detail` says so, and this is what the
 * conversations last knew.
 */
export const SandboxFleet = z.object({
  data: z.array(LiveSandbox),
  live: z.boolean(),
  detail: z.string().nullable(),
  asOf: z.iso.datetime(),
});
export type SandboxFleet = z.infer<typeof SandboxFleet>;

export const WaitingForSandbox = z.object({
  conversation: z.object({ id: z.uuid(), title: z.string() }),
  owner: User,
  /** 1 is the next. Counted over all who wait for such a sandbox, in the order in which they will be served. */
  position: z.int().positive(),
  /** `null`: cannot be said, as when the quota is used up. */
  estimateSeconds: z.number().nonnegative().nullable(),
  /** What stands in the way, in words. */
  reason: z.string(),
  since: z.iso.datetime(),
});
export type WaitingForSandbox = z.infer<typeof WaitingForSandbox>;

export const SandboxQueue = z.object({
  data: z.array(WaitingForSandbox),
  quota: z.object({
    /** In multiples of a template's resources, as a sandbox of twice the size counts twice. */
    inUse: z.int().nonnegative(),
    /** `null`: not known. */
    limit: z.int().nonnegative().nullable(),
  }),
  live: z.boolean(),
  detail: z.string().nullable(),
});
export type SandboxQueue = z.infer<typeof SandboxQueue>;
