import { z } from 'zod';
import { CapturedCheckpoint } from '../agent/checkpoints.js';

const PackId = z.string().regex(/^[0-9a-f]{32}$/);
/** 32 bytes, base64. The key of one pack and of nothing else. */
const PackKey = z.base64().length(44);

/** A pack that can be read: what worker hands to runtime-api for one transfer, which keeps no key. */
export const ReadablePack = z.object({ id: PackId, bytes: z.int().positive(), key: PackKey });
export type ReadablePack = z.infer<typeof ReadablePack>;

/** Most packs of one checkpoint. */
const MAX_PACKS = 1_000;

/**
 * `POST /checkpoints/take` of runtime-api: what the sandbox has captured since a durable checkpoint goes into packs.
 */
export const TakeCheckpoints = z.object({
  sessionId: z.string().min(1).max(200),
  conversation: z.uuid(),
  /** The newest durable checkpoint, and its packs. `null`: there is none. */
  have: z.object({ id: z.uuid(), packs: z.array(ReadablePack).max(MAX_PACKS) }).nullable(),
});
export type TakeCheckpoints = z.infer<typeof TakeCheckpoints>;

/**
 * What was captured, oldest first, and the packs that hold what is new in all of them: every checkpoint needs them and
 * those of `base`. Nothing captured: no packs.
 */
export const TakenCheckpoints = z.object({
  base: z.uuid().nullable(),
  captured: z.array(CapturedCheckpoint),
  packs: z.array(ReadablePack),
});
export type TakenCheckpoints = z.infer<typeof TakenCheckpoints>;

/**
 * `POST /checkpoints/restore`: the files of the sandbox become a checkpoint. Answered with `RestoredCheckpoint`. Safe
 * to repeat.
 */
export const RestoreCheckpoint = z.object({
  sessionId: z.string().min(1).max(200),
  conversation: z.uuid(),
  checkpoint: z.object({ id: z.uuid(), root: z.string().regex(/^[0-9a-f]{64}$/) }),
  /** State hash of the files that are there, whose objects are not sent; `null`: the sandbox is blank. */
  current: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  /** Of the checkpoint, and of what is there. */
  packs: z.array(ReadablePack).max(MAX_PACKS),
});
export type RestoreCheckpoint = z.infer<typeof RestoreCheckpoint>;
