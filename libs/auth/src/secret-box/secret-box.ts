import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { open, seal } from './sealing.js';

interface MasterKey {
  readonly id: string;
  /** An object of the crypto library: bytes would be imported again at each call. */
  readonly key: KeyObject;
}

/**
 * Encrypts stored secrets under the master key: AES-256-GCM under a key derived from `ENCRYPTION_KEY`. `context` names
 * where a value belongs (`session:<id>`, `sandbox-key:<conversation id>`); it is not stored, and a value moved
 * elsewhere does not decrypt.
 */
export class SecretBox {
  private readonly current: MasterKey;
  private readonly previous: MasterKey | null;

  /**
   * @param secret at least 32 characters.
   * @param previous opens what it has sealed, and seals nothing: `ENCRYPTION_KEY_PREVIOUS`, while the master key
   * changes.
   */
  constructor(secret: string, previous?: string | undefined) {
    this.current = masterKey(secret);
    this.previous = previous === undefined ? null : masterKey(previous);
  }

  /** Name of the encrypting key, derived one-way: it may be stored beside the ciphertext. */
  get id(): string {
    return this.current.id;
  }

  encrypt(text: string, context: string): Buffer {
    return seal(this.current.key, text, context);
  }

  /** @throws Error when the key or the context is another, or the bytes were changed. */
  decrypt(sealed: Uint8Array, context: string): string {
    return this.openWith(sealed, context).text;
  }

  /** The same value under the present key; `null` when that is what it is under. @throws as `decrypt`. */
  renew(sealed: Uint8Array, context: string): Buffer | null {
    const { text, key } = this.openWith(sealed, context);
    return key === this.current ? null : this.encrypt(text, context);
  }

  private openWith(sealed: Uint8Array, context: string): { text: string; key: MasterKey } {
    try {
      return { text: open(this.current.key, sealed, context), key: this.current };
    } catch (error) {
      if (this.previous === null) throw error;
      return { text: open(this.previous.key, sealed, context), key: this.previous };
    }
  }
}

function masterKey(secret: string): MasterKey {
  if (secret.length < 32) throw new Error('the encryption key has fewer than 32 characters');
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  return {
    key: createSecretKey(derive('slipway secret box')),
    id: createHash('sha256').update(derive('slipway master key id')).digest('hex').slice(0, 16),
  };
}
