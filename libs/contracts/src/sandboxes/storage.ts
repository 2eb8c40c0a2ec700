import { z } from 'zod';

/** What an organization keeps, and may. All figures are bytes. */

/** Conversations of one answer, the largest first. */
export const LARGEST_CONVERSATIONS = 20;

const bytes = z.int().nonnegative();

/** `near`: 80 % or more. `full`: no room for another block; new work is refused and agents are paused. */
export const STORAGE_STATES = ['ok', 'near', 'full'] as const;

export const StoredConversation = z.object({
  id: z.uuid(),
  title: z.string(),
  owner: z.object({ id: z.string(), label: z.string() }),
  updatedAt: z.iso.datetime(),
  /** What deleting it gives back: the blocks of 64 KiB that it has taken. */
  bytes,
  log: bytes,
  payloads: bytes,
  changes: bytes,
});
export type StoredConversation = z.infer<typeof StoredConversation>;

export const Storage = z.object({
  state: z.enum(STORAGE_STATES),
  /** Blocks that its conversations have taken: never less than what is stored. */
  used: bytes,
  /** `null`: no limit. Set by the operator of the installation. */
  limit: bytes.nullable(),
  /** Kept beyond the limit for what was promised before; `null` without a limit. */
  reserve: bytes.nullable(),
  kinds: z.object({
    /** Events and messages. */
    log: bytes,
    /** Long texts that were moved out of events. */
    payloads: bytes,
    /** Changes of workspaces as last seen. */
    changes: bytes,
    /** Taken ahead, or to the end of a block. */
    rounding: bytes,
  }),
  conversations: bytes,
  largest: z.array(StoredConversation).max(LARGEST_CONVERSATIONS),
  /** When the sum was last held against the rows; `null`: not yet. */
  countedAt: z.iso.datetime().nullable(),
});
export type Storage = z.infer<typeof Storage>;
