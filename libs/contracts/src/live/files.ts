import { z } from 'zod';

/**
 * The live channel `files`: a user's tree and open files. Paths are relative to the workspace, without a slash at
 * either end; the empty one is the workspace itself. What a user opened is watched, and sent again when it changes,
 * until it is closed.
 */

/** Largest text that is shown and edited. Bytes. */
export const MAX_LIVE_TEXT_BYTES = 2 * 1024 * 1024;
/** Largest picture that is shown. Bytes. */
export const MAX_LIVE_PICTURE_BYTES = 4 * 1024 * 1024;
/** Most entries of one page of a directory. */
export const MAX_TREE_PAGE = 500;
/** Most directories, and most files, that one connection may have open. */
export const MAX_OPEN_DIRECTORIES = 500;
export const MAX_OPEN_FILES = 50;
/** Most names that one search answers. */
export const MAX_FOUND_FILES = 100;

const WorkspacePath = z.string().max(4096);
const TextEncoding = z.enum(['utf8', 'latin1', 'utf16le', 'utf16be']);

/** A part of a directory. What is below stays unread until it is opened. */
export const TreeEntry = z.object({
  name: z.string(),
  /** Of a link: what it leads to. `other`: a pipe, a socket, a device, or a link to nothing. */
  kind: z.enum(['directory', 'file', 'other']),
  link: z.boolean(),
  /** By git's rules. False where there is no repository. */
  ignored: z.boolean(),
});
export type TreeEntry = z.infer<typeof TreeEntry>;

/** What there is at the path of an open file. */
export const FileState = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('text'),
    text: z.string(),
    /** Of the content and its encoding alone: the same content has the same version. */
    version: z.string(),
    encoding: TextEncoding,
    /**
     * `textChecksum` of the text as it was sent: on the way a secret may have been hidden in it, and what is hidden
     * must not be saved.
     */
    checksum: z.string(),
    sizeBytes: z.int(),
    /** The file may not be written. */
    readOnly: z.boolean(),
  }),
  z.object({
    kind: z.literal('picture'),
    mediaType: z.string(),
    base64: z.string(),
    version: z.string(),
    sizeBytes: z.int(),
  }),
  z.object({ kind: z.literal('binary'), sizeBytes: z.int() }),
  z.object({ kind: z.literal('too-large'), sizeBytes: z.int(), limitBytes: z.int() }),
  z.object({ kind: z.literal('directory') }),
  z.object({ kind: z.literal('gone') }),
  z.object({ kind: z.literal('refused'), code: z.string(), detail: z.string() }),
]);
export type FileState = z.infer<typeof FileState>;

const asked = { id: z.int().nonnegative(), path: WorkspacePath };

/** User → sandbox. Each but `let-go` is answered by one message with its `id`. */
export const FilesLiveRequest = z.discriminatedUnion('type', [
  /** Answered by `listed`. Watches the directory. */
  z.object({
    type: z.literal('list'),
    ...asked,
    offset: z.int().nonnegative().default(0),
    limit: z.int().min(1).max(MAX_TREE_PAGE).default(MAX_TREE_PAGE),
  }),
  /** Answered by `file`. Watches the file. */
  z.object({ type: z.literal('open'), ...asked }),
  z.object({ type: z.literal('let-go'), path: WorkspacePath, of: z.enum(['directory', 'file']) }),
  /**
   * Answered by `written`, or by `conflict` when what is there is neither `base` nor already this text. `base` null:
   * nothing is there.
   */
  z.object({
    type: z.literal('write'),
    ...asked,
    text: z.string(),
    encoding: TextEncoding.default('utf8'),
    base: z.string().nullable(),
  }),
  /** Answered by `done`. Never replaces anything; makes the directories above it. */
  z.object({ type: z.literal('create'), ...asked, kind: z.enum(['file', 'directory']) }),
  /** Answered by `done`. Never replaces anything. */
  z.object({ type: z.literal('rename'), ...asked, to: WorkspacePath }),
  /** Answered by `done`. A directory goes with all that is in it, a link alone. */
  z.object({ type: z.literal('delete'), ...asked }),
  /** Answered by `found`: files whose path holds the letters of `query` in this order; ignored ones are skipped. */
  z.object({ type: z.literal('find'), id: z.int().nonnegative(), query: z.string().max(200) }),
]);
export type FilesLiveRequest = z.infer<typeof FilesLiveRequest>;

/** Sandbox → user. */
export const FilesLiveMessage = z.discriminatedUnion('type', [
  /** Directories first, then by name. Pages of one `generation` belong together. */
  z.object({
    type: z.literal('listed'),
    ...asked,
    generation: z.int(),
    total: z.int(),
    offset: z.int(),
    entries: z.array(TreeEntry),
  }),
  /**
   * Not asked for: the names in it, or what git ignores, are others now. `gone`: it is no directory any more; it is
   * watched all the same.
   */
  z.object({ type: z.literal('directory-changed'), path: WorkspacePath, generation: z.int(), gone: z.boolean() }),
  /** `id` null: not asked for, the file is another now. */
  z.object({ type: z.literal('file'), id: z.int().nullable(), path: WorkspacePath, file: FileState }),
  z.object({ type: z.literal('written'), ...asked, version: z.string() }),
  /** Nothing was written; `file` is what is there. */
  z.object({ type: z.literal('conflict'), ...asked, file: FileState }),
  z.object({ type: z.literal('done'), ...asked }),
  z.object({ type: z.literal('found'), id: z.int(), paths: z.array(z.string()), complete: z.boolean() }),
  z.object({ type: z.literal('failed'), id: z.int(), code: z.string(), detail: z.string() }),
]);
export type FilesLiveMessage = z.infer<typeof FilesLiveMessage>;

/**
 * Distinguishes texts, not collision-resistant: FNV-1a and a polynomial, 32 bits each, and the length. The same in
 * every JavaScript runtime.
 */
export function textChecksum(text: string): string {
  let fnv = 0x811c9dc5;
  let sum = 7;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    fnv = Math.imul(fnv ^ unit, 0x01000193);
    sum = (Math.imul(sum, 31) + unit) | 0;
  }
  return [fnv >>> 0, sum >>> 0, text.length].map((part) => part.toString(36)).join('-');
}
