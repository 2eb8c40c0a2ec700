import { hash } from 'node:crypto';

/** SHA-256 of plaintext, as 64 lower-case hexadecimal digits. */
export type ContentId = string;

/** Bytes of an id where it is stored. */
export const ID_BYTES = 32;

export function contentIdOf(bytes: Uint8Array): ContentId {
  return hash('sha256', bytes, 'hex');
}

/** The id as it is stored. */
export function idBytesOf(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}

export function isContentId(value: unknown): value is ContentId {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
