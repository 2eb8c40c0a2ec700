/** Canonical bytes of one folder's tree, at most. */
export const MAX_TREE_BYTES = 16 * 2 ** 20;
/** Bytes of one chunk, at most: the longest that the chunker cuts. */
export const MAX_CHUNK_BYTES = 4 * 2 ** 20;
/** A file up to this long is one chunk. Bytes. */
export const ONE_CHUNK_BYTES = 2 ** 20;
/** Folders below each other, at most, counted from the root tree. */
export const MAX_DEPTH = 256;
/** Entries that one checkpoint names, at most. */
export const MAX_ENTRIES = 5_000_000;
/** Bytes of a name, as Linux has it. */
export const MAX_NAME_BYTES = 255;
/** Bytes of a link's target and of a path, as Linux has it. */
export const MAX_PATH_BYTES = 4_096;
/** Bytes that the chunks of one file stand for, holes included, at most. */
export const MAX_FILE_BYTES = 2 ** 46;
