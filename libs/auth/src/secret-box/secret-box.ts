import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Secrets at rest: AES-256-GCM under a key derived from `ENCRYPTION_KEY`.
 * `context` names where a value belongs (`session:<id>`, `sandbox-key:<conversation id>`); it is not stored, and a value moved to another place does not open.
 */
export class SecretBox {
  /** An object of the crypto library: bytes would be imported again at each call. */
  private readonly key: KeyObject;

  /** @param secret at least 32 characters. */
  constructor(secret: string) {
    if (secret.length < 32) throw new Error('the encryption key has fewer than 32 characters');
    this.key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'slipway secret box', 32)));
  }

  encrypt(text: string, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body]);
  }

  /** @throws Error when the key or the context is another, or the bytes were changed. */
  decrypt(sealed: Uint8Array, context: string): string {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed secret');
    const tagAt = 1 + NONCE_BYTES;
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(1, tagAt), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(tagAt, tagAt + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(tagAt + TAG_BYTES)), decipher.final()]).toString('utf8');
  }
}
