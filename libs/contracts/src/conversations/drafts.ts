import { z } from 'zod';

/** Of a draft's text in UTF-8. */
export const MAX_DRAFT_BYTES = 64 * 1024;

/** What a draft is for: a conversation's next message by the conversation's id, or the organization's next task. */
export const NEW_TASK = 'new-task';
export const DraftSubject = z.union([z.literal(NEW_TASK), z.uuid()]);

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** What a user has written and not sent. An empty text with version 0: nothing. */
export const MessageDraft = z.object({
  text: z.string(),
  /** Grows with every change, on whichever device it was made. */
  version: z.int().nonnegative(),
  updatedAt: z.iso.datetime().nullable(),
});
export type MessageDraft = z.infer<typeof MessageDraft>;

export const KeepDraft = z.strictObject({
  text: z
    .string()
    .refine((value) => !value.includes('\u0000'), 'must not contain the character NUL')
    .refine((value) => bytesOf(value) <= MAX_DRAFT_BYTES, `must be at most ${MAX_DRAFT_BYTES / 1024} KB`),
  /** The version on which the text is based; 0 without one. */
  version: z.int().nonnegative(),
});
export type KeepDraft = z.infer<typeof KeepDraft>;

export const KeptDraft = MessageDraft.extend({
  /** Text of another device that this one did not know and has replaced. */
  replaced: z.string().nullable(),
});
export type KeptDraft = z.infer<typeof KeptDraft>;

export const DropDraftQuery = z.object({
  /** Only this version: what was written on another device since stays. */
  version: z.coerce.number().int().nonnegative().optional(),
});
export type DropDraftQuery = z.infer<typeof DropDraftQuery>;
