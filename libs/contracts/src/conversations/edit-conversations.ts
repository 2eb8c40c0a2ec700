import { z } from 'zod';

/** Longest title. UTF-16 code units. */
export const MAX_TITLE_LENGTH = 200;
/** Tags of one conversation. */
export const MAX_TAGS = 20;
/** Longest tag. UTF-16 code units. */
export const MAX_TAG_LENGTH = 50;
/** Conversations of one bulk edit. */
export const MAX_BULK = 100;
/** A deleted conversation can be restored for so long; then it is removed. Hours. */
export const DELETION_GRACE_HOURS = 48;

/** Control characters, and marks that turn the direction of text around what they stand in. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])/u;

const line = (length: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(length)
    .refine((value) => !UNSEEN.test(value), 'must not contain control characters or marks of text direction');

export const Tag = line(MAX_TAG_LENGTH);
/** In the order given, each once. */
const tags = z
  .array(Tag)
  .max(MAX_TAGS)
  .transform((given) => [...new Set(given)]);

/** Absent fields stay as they are. */
export const EditConversation = z
  .strictObject({
    title: line(MAX_TITLE_LENGTH).optional(),
    /** Kept at the top of the caller's own list. */
    pinned: z.boolean().optional(),
    /** For all users: out of the list, and otherwise as before. */
    archived: z.boolean().optional(),
    /** All of them, in place of those before. */
    tags: tags.optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'nothing is to be changed');
export type EditConversation = z.infer<typeof EditConversation>;

const ids = z
  .array(z.uuid())
  .min(1)
  .max(MAX_BULK)
  .transform((given) => [...new Set(given.map((id) => id.toLowerCase()))]);

export const BULK_ACTIONS = ['archive', 'unarchive', 'stop', 'delete', 'restore'] as const;
export const BulkEdit = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('tag'),
    ids,
    /** Added behind those that a conversation has. */
    add: tags.default([]),
    remove: tags.default([]),
  }),
  z.strictObject({ action: z.enum(BULK_ACTIONS), ids }),
]);
export type BulkEdit = z.infer<typeof BulkEdit>;

export const BulkEditResult = z.object({
  /** One for each id, in the order given. */
  results: z.array(
    z.object({
      id: z.uuid(),
      /** `done` also where it was so before. */
      outcome: z.enum(['done', 'failed']),
      /** Code of the failure; `null`: it is done. */
      code: z.string().nullable(),
      /** What has failed, in words. */
      detail: z.string().nullable(),
    }),
  ),
});
export type BulkEditResult = z.infer<typeof BulkEditResult>;

export const DeleteConversationQuery = z.object({
  /** At once and for good, also one that was deleted before. */
  permanently: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
});
export type DeleteConversationQuery = z.infer<typeof DeleteConversationQuery>;
