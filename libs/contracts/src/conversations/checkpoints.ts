import { z } from 'zod';
import { CreateConversation, PageQuery, pageOf } from './conversations.js';

/** Longest name of a checkpoint. Characters. */
export const MAX_CHECKPOINT_NAME = 80;

export const CHECKPOINT_STORED_REASONS = [
  'start',
  'message',
  'step',
  'rest',
  'pause',
  'safety',
  'manual',
  'attempt',
  'prebuild',
  'fork',
] as const;

/** The files of a conversation as they were after an event of its log. It is there once it is durable. */
export const Checkpoint = z.object({
  id: z.uuid(),
  /** Place in the log. */
  seq: z.int().positive(),
  reason: z.enum(CHECKPOINT_STORED_REASONS),
  /** `null`: nobody has named it. One with a name is kept as long as the conversation. */
  name: z.string().nullable(),
  files: z.int().nonnegative(),
  /** Of all files. */
  bytes: z.int().nonnegative(),
  /** As stored, of what the checkpoint before did not have. */
  newBytes: z.int().nonnegative(),
  /** False when files were too many or too large for the time, and are in a later one. */
  complete: z.boolean(),
  /** Two checkpoints with the same hash have the same files, whatever their times. */
  contentHash: z.string(),
  takenAt: z.iso.datetime(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

export const ListCheckpointsQuery = PageQuery;
export type ListCheckpointsQuery = z.infer<typeof ListCheckpointsQuery>;
export const CheckpointPage = pageOf(Checkpoint);
export type CheckpointPage = z.infer<typeof CheckpointPage>;

export const EditCheckpoint = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(MAX_CHECKPOINT_NAME)
    .refine((value) => !/\p{Cc}|[\u2028\u2029]/u.test(value), 'must be one line')
    .nullable(),
});
export type EditCheckpoint = z.infer<typeof EditCheckpoint>;

/** `POST …/forks`: another conversation that knows what this one knew, with the files of then. */
export const ForkConversation = z.strictObject({
  /** A checkpoint, or a place in the log: the newest checkpoint at or before it. */
  at: z.union([z.strictObject({ checkpoint: z.uuid() }), z.strictObject({ seq: z.int().positive() })]),
  /** What its agent is to do now. */
  prompt: CreateConversation.shape.prompt,
  /** Absent: that of the conversation, with "(fork)". */
  title: CreateConversation.shape.title,
  /** Absent: that of the conversation. */
  model: CreateConversation.shape.model,
});
export type ForkConversation = z.infer<typeof ForkConversation>;
