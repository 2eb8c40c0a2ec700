import { z } from 'zod';

/** An event over this is stored with its long strings as blobs. Bytes of JSON. */
export const MAX_EVENT_BYTES = 32 * 1024;

/** Stands in an event where a long string was: the beginning of the text, then a line that names the blob. */
export const BLOB_MARKER = /\n\[blob sha256:([0-9a-f]{64}) (\d+) bytes\]$/;

/** What `BLOB_MARKER` finds. */
export const BlobRef = z.object({ sha256: z.string(), bytes: z.int(), preview: z.string() });
export type BlobRef = z.infer<typeof BlobRef>;

/** The reference that a stored string carries, or `null` when the string is whole. */
export function blobRefOf(text: string): BlobRef | null {
  const match = BLOB_MARKER.exec(text);
  return match ? { sha256: match[1] as string, bytes: Number(match[2]), preview: text.slice(0, match.index) } : null;
}
