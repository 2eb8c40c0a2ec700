import { z } from 'zod';

/**
 * What a sandbox leaves behind when it is paused, in parts: `workspace` is the agent's files (its project and its
 * home), `conversations` agent-server's logs. `GET /api/archive/{part}` answers with a tar stream in one zstd frame;
 * `PUT` of the same puts it into a sandbox that no claim owns yet, replacing what is there.
 */
export const ARCHIVE_PARTS = ['workspace', 'conversations'] as const;
export const ArchivePart = z.enum(ARCHIVE_PARTS);
export type ArchivePart = z.infer<typeof ArchivePart>;

export const ARCHIVE_CONTENT_TYPE = 'application/zstd';
export const ARCHIVE_AUDIENCE = 'slipway-archive';
/** Longest lifetime of an archive token. Seconds; checked when the transfer begins. */
export const ARCHIVE_TOKEN_SECONDS = 60;
/**
 * Entries that could not be kept: unreadable files and directories, sockets, pipes and devices. On the answer of the
 * GET.
 */
export const ARCHIVE_SKIPPED_HEADER = 'x-slipway-skipped';

/**
 * Claims of the bearer token, an Ed25519-signed JWT (EdDSA, audience `slipway-archive`, with `exp`) of the activation
 * key: this sandbox, this part, this direction.
 */
export const ArchiveClaims = z.object({
  slot_id: z.string(),
  pod_uid: z.string(),
  op: z.enum(['read', 'write']),
  part: ArchivePart,
  /** Seconds since 1970. */
  exp: z.number(),
});
export type ArchiveClaims = z.infer<typeof ArchiveClaims>;
