import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM. `context` names where a value belongs; it is not stored, and a value moved to another place does not
 * open.
 */
export function seal(key: KeyObject, text: string, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body]);
}

/** @throws Error when the key or the context is another, or the bytes were changed. */
export function open(key: KeyObject, sealed: Uint8Array, context: string): string {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed secret');
  const tagAt = 1 + NONCE_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, tagAt), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(tagAt, tagAt + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(tagAt + TAG_BYTES)), decipher.final()]).toString('utf8');
}
