import type { Readable } from 'node:stream';
import type { ArchivePart } from '@slipway/contracts/agent';

/**
 * Name of a workspace: that of the sandbox it was born in, so a DNS label. It is a part of keys and paths: anything
 * else is refused.
 */
export const WORKSPACE_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Where workspaces are while no sandbox has them.
 *
 * A workspace exists from its `mark` or first `put` until its `delete`. Contract, checked for each store by
 * `describeWorkspaceStore`:
 * - A part is there whole or not at all: a `put` that fails, is aborted or is killed leaves what was there before, and
 *   never a part of the new.
 *   (One that breaks off when the last byte was on its way may have won, whole.)
 * - Of several `put`s of one part at the same time one wins, whole. A `get` that has begun reads to its end what was
 *   there when it began.
 * - Every method stops at `signal`. What fails rejects with a `SlipwayError`: `sandbox.archive-unavailable` (the store:
 *   try again), `sandbox.archive-too-large`,
 *   `request.invalid` (a name that is none), the source's own error of a `put`, or the signal's reason.
 */
export interface WorkspaceStore {
  /** Reads `source` to its end and keeps it in place of what was there. @returns how much that was. */
  put(workspace: string, part: ArchivePart, source: Readable, signal: AbortSignal): Promise<{ readonly bytes: number }>;
  /**
   * `null` when the part was never put. The stream ends with an error when it cannot be read to its end: an end without
   * one is the whole.
   */
  get(workspace: string, part: ArchivePart, signal: AbortSignal): Promise<Readable | null>;
  /** Makes a blank workspace known. Nothing changes for one that exists. */
  mark(workspace: string, signal: AbortSignal): Promise<void>;
  exists(workspace: string, signal: AbortSignal): Promise<boolean>;
  /** Every workspace that exists, in any order. */
  list(signal: AbortSignal): Promise<readonly string[]>;
  /** Idempotent. A `put` under way when this is called may win. */
  delete(workspace: string, signal: AbortSignal): Promise<void>;
}
