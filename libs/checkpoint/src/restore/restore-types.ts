import type { NamedRoot } from '../capture/capture-types.js';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import type { ContentId } from '../objects/content-id.js';

export interface ApplyRequest {
  readonly roots: readonly NamedRoot[];
  /** State hash to reach. */
  readonly root: ContentId;
  /** Trees first, then chunks in any order: at least what `planRestore` names. Ids are recomputed here. */
  readonly objects: AsyncIterable<CheckpointObject>;
  /** Index of the last capture, replaced at the end by that of the restored state. */
  readonly indexFile: string;
  /**
   * `covered`: in place. Only what the index covers, as it was captured, is replaced or deleted; all other paths stay.
   * `blank`: a new sandbox. There is no index; what is in the way of a restored path is replaced, and the rest stays.
   */
  readonly over: 'covered' | 'blank';
  /** Bytes that the files take beyond what is there (`RestorePlan.files`): refused at once when the disk has less. */
  readonly needs: number;
  /** Own folder for trees while they are needed, not below a root. */
  readonly scratch: string;
  readonly signal: AbortSignal;
}

export type KeptReason = 'uncovered' | 'changed-since' | 'stale' | 'uncaptured';

export interface Applied {
  /** Whether the disk has the state hash; `false` when something that the checkpoint names had to stay as it was. */
  readonly exact: boolean;
  /** Paths that the checkpoint names otherwise, and that stayed byte for byte; the first 1,000. */
  readonly kept: { readonly count: number; readonly named: readonly { path: string; reason: KeptReason }[] };
  readonly written: number;
  readonly deleted: number;
  readonly bytes: number;
  /** Files of the root `meta`. */
  readonly meta: Readonly<Record<string, Uint8Array>>;
}

export interface RestorePlan {
  /** In the order that `applyTree` wants them, the root first. */
  readonly trees: readonly ContentId[];
  readonly chunks: ReadonlySet<ContentId>;
  /** Of those chunks. */
  readonly bytes: number;
  /** Bytes that the files will take on disk beyond what is there. */
  readonly files: number;
}
