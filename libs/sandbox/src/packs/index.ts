export { DirectoryPackStore } from './directory-pack-store.js';
export { openPackStore } from './open-pack-store.js';
export {
  MAX_PACK_BYTES,
  PACK_PREFIX,
  type PackAddress,
  type PackEntry,
  type PackRange,
  type PackStore,
  type StoredPack,
} from './pack-store.js';
export { openS3PackStore, type S3PackStoreOptions } from './s3-pack-store.js';
