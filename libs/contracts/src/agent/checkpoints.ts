import { z } from 'zod';

/** Why a sandbox captures its files by itself. `rest`: the agent has stopped, for whatever reason. */
export const CHECKPOINT_REASONS = ['start', 'message', 'step', 'rest'] as const;
export const CheckpointReason = z.enum(CHECKPOINT_REASONS);
export type CheckpointReason = z.infer<typeof CheckpointReason>;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Paths that are named of each kind. `count` has them all. */
export const NAMED_PATHS = 20;

/** Paths of a capture, root name (`project`, `home`) included; longer ones are cut at 300 characters. */
const Paths = z.object({
  count: z.int().nonnegative(),
  named: z.array(z.object({ path: z.string().max(300), reason: z.string().max(40) })).max(NAMED_PATHS),
});
export type CheckpointPaths = z.infer<typeof Paths>;

/** What a capture found, whoever asked for it. */
const Found = z.object({
  /** State hash: of names, modes, times and contents. */
  root: Sha256,
  /** The same without times. */
  contentHash: Sha256,
  files: z.int().nonnegative(),
  /** Of all files. */
  bytes: z.int().nonnegative(),
  /** Of contents and folders that the checkpoint before does not hold. */
  newBytes: z.int().nonnegative(),
  /** False while `deferred` has any. */
  complete: z.boolean(),
  /** To be captured yet. */
  deferred: Paths,
  /** Never captured: caches, sockets, what cannot be read. */
  skipped: Paths,
  /** Written to while they were read. */
  torn: Paths,
});

/** Ends the stream of a capture of action-server: its objects are those that `follows` does not have, `null`: all. */
export const CaptureTrailer = Found.extend({ follows: Sha256.nullable() });
export type CaptureTrailer = z.infer<typeof CaptureTrailer>;

/**
 * A checkpoint as its sandbox captured it: the value of a state update with key `checkpoint`. It can be gone back to
 * when it is durable, which `GET …/checkpoints` says; a sandbox writes its own log.
 */
export const CapturedCheckpoint = Found.extend({
  id: z.uuid(),
  reason: CheckpointReason,
  /** Id of the last event of the log when the files were captured. */
  after: z.uuid(),
  takenAt: z.iso.datetime(),
});
export type CapturedCheckpoint = z.infer<typeof CapturedCheckpoint>;

/** A stream of objects, and a trailer (`CheckpointTrailer`): the body of every transfer of checkpoints. */
export const CHECKPOINT_CONTENT_TYPE = 'application/vnd.slipway.checkpoint';
export const CHECKPOINT_AUDIENCE = 'slipway-checkpoint';
/** Longest lifetime of a token for a transfer. Seconds; checked when it begins. */
export const CHECKPOINT_TOKEN_SECONDS = 60;

/**
 * Claims of the bearer token of `GET` and `PUT /api/checkpoints/{conversation}`: an Ed25519-signed JWT of the
 * activation key, for this sandbox, this conversation, this direction.
 */
export const CheckpointClaims = z.object({
  slot_id: z.string(),
  pod_uid: z.string(),
  conversation: z.uuid(),
  op: z.enum(['read', 'write']),
  /** Seconds since 1970. */
  exp: z.number(),
});
export type CheckpointClaims = z.infer<typeof CheckpointClaims>;

/**
 * Ends the stream of a `GET`: the checkpoints whose new objects it carries, oldest first, and the durable one that
 * they follow. Without `base` the objects are all that they need.
 */
export const CheckpointTrailer = z.object({
  base: z.uuid().nullable(),
  captured: z.array(CapturedCheckpoint).max(1_000),
});
export type CheckpointTrailer = z.infer<typeof CheckpointTrailer>;

/** Query of a `PUT`: what the workspace shall be. `blank`: nothing of the conversation is there yet. */
export const RestoreQuery = z.object({
  id: z.uuid(),
  root: Sha256,
  over: z.enum(['blank', 'covered']),
  /** Bytes that the files take beyond what is there. */
  needs: z.coerce.number().int().nonnegative(),
});
export type RestoreQuery = z.infer<typeof RestoreQuery>;

/** Answer of a `PUT`. `exact`: the disk has the state hash; else `kept` names what had to stay as it was. */
export const RestoredCheckpoint = z.object({
  exact: z.boolean(),
  written: z.int().nonnegative(),
  deleted: z.int().nonnegative(),
  kept: Paths,
});
export type RestoredCheckpoint = z.infer<typeof RestoredCheckpoint>;
