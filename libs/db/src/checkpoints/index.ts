export { claimPacks, doomPacks, expireCheckpoints, finishPacks, PACK_GRACE_HOURS } from './collect-packs.js';
export {
  type CheckpointAbout,
  type CheckpointReason,
  type Committed,
  commitCheckpoint,
  dropCheckpoint,
  inheritCheckpoint,
  type NewCheckpoint,
  type NewPack,
  type SwappedPacks,
  swapPacks,
} from './commit-checkpoint.js';
export { type HeldPack, newestCheckpoint, packsOf, type StoredCheckpoint } from './read-checkpoints.js';
