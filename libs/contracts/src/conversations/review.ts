import { z } from 'zod';

/** What people write on the lines of a conversation's changes, and which files they have viewed. */

/** Most threads of one conversation, open and resolved. */
export const MAX_REVIEW_THREADS = 500;
/** Most comments of one conversation. */
export const MAX_REVIEW_COMMENTS = 2_000;
/** Longest comment, and longest suggestion. UTF-16 code units. */
export const MAX_COMMENT_LENGTH = 16_384;
/** Most lines that one thread is about. */
export const MAX_REVIEW_LINES = 500;
/** Longest excerpt that is kept with a thread. UTF-16 code units. */
export const MAX_EXCERPT_LENGTH = 20_000;
/** Most files that one user has viewed in one conversation. */
export const MAX_VIEWED_FILES = 20_000;

/** Postgres keeps no NUL. Other control characters are legal in file names, and shown as marks. */
const stored = z.string().regex(/^[^\0]*$/, 'has no NUL');
const path = stored.min(1).max(4096);
const lineHash = z.string().regex(/^[0-9a-f]{1,32}$/, 'a hash of lines');

/**
 * Lines that a thread is about, in a way that finds them again after the file was changed (`placeOf` of the domain).
 * Lines count from 1.
 */
export const ReviewAnchor = z
  .strictObject({
    path,
    /** `old`: lines as they were before the changes. */
    side: z.enum(['old', 'new']),
    line: z.int().min(1).max(10_000_000),
    endLine: z.int().min(1).max(10_000_000),
    /** Of the lines themselves. */
    hash: lineHash,
    /** Of the neighbour above and below; `null`: there is none, or it was not shown. */
    before: lineHash.nullable(),
    after: lineHash.nullable(),
    /** Places with the same lines and neighbours when the thread was made, and which of them this is, from 1. */
    copies: z.int().min(1).max(100_000),
    copy: z.int().min(1).max(100_000),
    /** The lines as they were; cut at `MAX_EXCERPT_LENGTH`. */
    excerpt: stored.max(MAX_EXCERPT_LENGTH),
    /** What the changes were compared with: a commit. `null`: not known. */
    base: z.string().max(64).nullable(),
    /** Another repository of the workspace than the conversation's own. */
    repository: path.nullable().default(null),
  })
  .refine(({ line, endLine }) => endLine >= line && endLine - line < MAX_REVIEW_LINES, {
    message: `is from one line to the same or a later one, at most ${MAX_REVIEW_LINES}`,
    path: ['endLine'],
  });
export type ReviewAnchor = z.output<typeof ReviewAnchor>;

const commentText = stored.trim().max(MAX_COMMENT_LENGTH);
const suggestion = stored.max(MAX_COMMENT_LENGTH).nullable();
const saysSomething = (body: { text: string; suggestion?: string | null | undefined }): boolean =>
  body.text !== '' || (body.suggestion ?? null) !== null;
const SAYS = { message: 'is needed where there is no suggestion', path: ['text'] };

export const CreateReviewThread = z
  .strictObject({
    anchor: ReviewAnchor,
    text: commentText,
    /** What the lines should be instead, without the last line's end. Needs a whole excerpt. */
    suggestion: suggestion.optional(),
  })
  .refine(saysSomething, SAYS);
export type CreateReviewThread = z.output<typeof CreateReviewThread>;
export const CreateReviewComment = z
  .strictObject({ text: commentText, suggestion: suggestion.optional() })
  .refine(saysSomething, SAYS);
export type CreateReviewComment = z.output<typeof CreateReviewComment>;
export const UpdateReviewThread = z.strictObject({ resolved: z.boolean() });
export type UpdateReviewThread = z.output<typeof UpdateReviewThread>;

export const ReviewComment = z.object({
  id: z.string(),
  text: z.string(),
  suggestion: z.string().nullable(),
  author: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  /** The message that took it to the agent; `null`: not sent yet. */
  messageId: z.string().nullable(),
});
export type ReviewComment = z.infer<typeof ReviewComment>;

/** What the agent said about one thread, read from the log. */
export const ReviewAnswer = z.object({
  /** Position in the log of the event that says it. */
  seq: z.int(),
  text: z.string(),
  /** That did it, as the agent names it. */
  commit: z.string().nullable(),
  at: z.iso.datetime(),
});
export type ReviewAnswer = z.infer<typeof ReviewAnswer>;

export const ReviewThread = z.object({
  id: z.string(),
  /** By which the agent answers; unique in the conversation. */
  number: z.int(),
  anchor: ReviewAnchor,
  comments: z.array(ReviewComment),
  answers: z.array(ReviewAnswer),
  createdAt: z.iso.datetime(),
  /** `null`: open. */
  resolvedAt: z.iso.datetime().nullable(),
  resolvedBy: z.string().nullable(),
});
export type ReviewThread = z.infer<typeof ReviewThread>;

/** A file that the caller has viewed, as it was then. */
export const ViewedFile = z.object({ path, hash: z.string().min(1).max(100) });
export type ViewedFile = z.infer<typeof ViewedFile>;
/** `hash` is that of the file's change; `null`: not viewed. */
export const SetViewedFile = z.strictObject({ path, hash: stored.min(1).max(100).nullable() });
export type SetViewedFile = z.output<typeof SetViewedFile>;

export const Review = z.object({
  /** Oldest first. */
  threads: z.array(ReviewThread),
  /** The caller's own. */
  viewed: z.array(ViewedFile),
});
export type Review = z.infer<typeof Review>;

export const SentReview = z.object({
  /** The message in the conversation's queue. */
  messageId: z.string(),
  /** Comments in it. */
  comments: z.int(),
  /** Comments of the caller that did not fit into one message, and can be sent next. */
  left: z.int(),
});
export type SentReview = z.infer<typeof SentReview>;
