import type { ContentId } from './content-id.js';

/** `tree`: canonical bytes of one folder. `chunk`: a part of a file, or all of it. */
export type ObjectKind = 'tree' | 'chunk';

/** What is stored under the hash of its bytes. */
export interface CheckpointObject {
  readonly kind: ObjectKind;
  readonly id: ContentId;
  readonly bytes: Uint8Array;
}

/**
 * Takes what a capture makes.
 *
 * Contract: `put` keeps no reference to `bytes` after it returned or its promise settled, since the buffer is used
 * again; the capture waits for a promise (back-pressure) and rejects when it rejects. Children come before the tree
 * that names them.
 */
export interface ObjectSink {
  put(object: CheckpointObject): void | Promise<void>;
}

/** Trees by id, for readers of whole checkpoints. Rejects with `checkpoint.broken` for one that is missing. */
export type TreeLoader = (id: ContentId) => Promise<Uint8Array>;
