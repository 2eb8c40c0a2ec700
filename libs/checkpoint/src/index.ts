export { capture } from './capture/capture.js';
export {
  type CaptureBudgets,
  type Captured,
  type CaptureRequest,
  type DeferredReason,
  type LeftOutReason,
  type Listed,
  type Named,
  type NamedRoot,
  UNBOUNDED,
  WAITED,
} from './capture/capture-types.js';
export { type DiffTrees, diffTrees } from './diff/diff-trees.js';
export type { Difference } from './diff/diff-types.js';
export type { CheckpointObject, ObjectKind, ObjectSink, TreeLoader } from './objects/checkpoint-object.js';
export { type ContentId, contentIdOf, isContentId } from './objects/content-id.js';
export { openPack } from './pack/open-pack.js';
export type {
  OpenPack,
  PackedObject,
  PackIdentity,
  PackReader,
  WritePacks,
  WrittenPack,
} from './pack/pack-types.js';
export { writePacks } from './pack/write-packs.js';
export { DEFAULT_RULES, type PolicyRules } from './policy/policy.js';
export { applyTree, indexRoot } from './restore/apply-tree.js';
export { type PlanRestore, planRestore } from './restore/plan-restore.js';
export type { Applied, ApplyRequest, KeptReason, RestorePlan } from './restore/restore-types.js';
export { type ObjectStream, readObjectStream, writeObjectStream } from './stream/object-stream.js';
export { decodeTree } from './tree/decode-tree.js';
export { encodeTree } from './tree/encode-tree.js';
export {
  type Chunk,
  type FileEntry,
  type FolderEntry,
  type LinkEntry,
  type RootName,
  type Tree,
  type TreeEntry,
  textOf,
  type UncapturedEntry,
} from './tree/tree-entry.js';
export { type WalkedTree, type WalkTrees, walkTrees } from './tree/walk-trees.js';
