import { z } from 'zod';

/** Largest file that is attached. Bytes; an operator may set less. */
export const MAX_ATTACHMENT_BYTES = 20 * 1024 * 1024;
/** Files of one message. */
export const MAX_MESSAGE_ATTACHMENTS = 10;
/** Files of one conversation, sent or not, and what they may have together. Bytes. */
export const MAX_CONVERSATION_ATTACHMENTS = 200;
export const MAX_CONVERSATION_ATTACHMENT_BYTES = 500 * 1024 * 1024;
/** Files of one user that wait for a conversation, and what they may have together. Bytes. */
export const MAX_PENDING_ATTACHMENTS = 20;
export const MAX_PENDING_ATTACHMENT_BYTES = 200 * 1024 * 1024;
/** What is not sent within this time is deleted. Hours. */
export const UNSENT_ATTACHMENT_HOURS = 24;

/** Pictures that browsers show and models see. */
export const PICTURE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** Largest picture that a model is shown; of a larger one it knows the path. Bytes: providers take 5 MB in base64. */
export const MAX_SEEN_PICTURE_BYTES = 3_750_000;

export const Attachment = z.object({
  id: z.uuid(),
  /** Cleaned: no path, no control characters, no marks of direction. */
  name: z.string(),
  /** By its content; `text/plain` for any text, `application/octet-stream` for what is not known. */
  mediaType: z.string(),
  sizeBytes: z.int().positive(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  /** The message that it was sent with; `null`: not sent yet. */
  messageId: z.uuid().nullable(),
});
export type Attachment = z.infer<typeof Attachment>;
export const AttachmentList = z.object({ data: z.array(Attachment) });
export type AttachmentList = z.infer<typeof AttachmentList>;

export const UploadAttachmentQuery = z.object({
  /** Name of the file, as the user knows it. */
  name: z.string().min(1).max(1_000),
});
export type UploadAttachmentQuery = z.infer<typeof UploadAttachmentQuery>;
