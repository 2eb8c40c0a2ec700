import { z } from 'zod';
import { Conversation } from '../conversations/conversations.js';
import { Desk } from '../conversations/desk.js';
import { Me } from '../organizations/orgs.js';

/**
 * The header in which app-server gives a page, as it asks for it, what it begins with: `PagePreview` as JSON, deflated,
 * in base64url.
 */
export const PREVIEW_HEADER = 'x-slipway-preview';
/** Longest value of `PREVIEW_HEADER`: with the rest of a request it fits into what Node takes as headers. */
export const MAX_PREVIEW_LENGTH = 7_000;
/** Most that it may unpack to. Bytes. */
export const MAX_PREVIEW_BYTES = 128 * 1024;

/** One line of the end of a timeline, as short as a page needs it before its scripts are there. */
export const PreviewRow = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    author: z.enum(['user', 'agent', 'finish', 'slipway']),
    /** Of the user who wrote it, where it is vouched for. */
    sender: z.string().nullable(),
    text: z.string(),
    /** The text goes on. */
    cut: z.boolean(),
  }),
  /** A call of a tool: what the agent says that it does, or the command. */
  z.object({ kind: z.literal('step'), text: z.string() }),
]);
export type PreviewRow = z.infer<typeof PreviewRow>;

/** A conversation, and its end as text, oldest row first; its review needs no text. */
export const ConversationPreview = z.object({ snapshot: Conversation, rows: z.array(PreviewRow) });
export type ConversationPreview = z.infer<typeof ConversationPreview>;

/** What a page begins with; `null`: not known, not of this page, or it does not fit. */
export const PagePreview = z.object({
  /** Who reads it. */
  me: Me.nullable(),
  /** Of the Desk's own page. */
  desk: Desk.nullable(),
  /** Of a conversation's page, and of its review. */
  conversation: ConversationPreview.nullable(),
});
export type PagePreview = z.infer<typeof PagePreview>;
