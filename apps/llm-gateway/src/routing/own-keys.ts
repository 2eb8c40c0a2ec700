import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { OwnProviders } from '@slipway/contracts/models';

const NONCE = 12;
const TAG = 16;

/**
 * A user's or an organization's own provider keys, for the row of a virtual key.
 *
 * Sealed with AES-256-GCM under a key that is derived from the virtual key's token. Of the token only its SHA-256 is
 * stored, so stored values (rows, backups, even with every secret of the gateway) can only be decrypted by a call with
 * the token; and they are useless once the virtual key has ended. There is nothing to rotate: a new virtual key brings
 * its own.
 */
export function sealOwnProviders(token: string, providers: OwnProviders, nonce: Buffer = randomBytes(NONCE)): Buffer {
  const cipher = createCipheriv('aes-256-gcm', keyOf(token), nonce);
  const sealed = [cipher.update(JSON.stringify(providers), 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
}

/** @throws Error when the token is another or the bytes were changed. */
export function openOwnProviders(token: string, sealed: Uint8Array): OwnProviders {
  const decipher = createDecipheriv('aes-256-gcm', keyOf(token), sealed.subarray(0, NONCE));
  decipher.setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
  return OwnProviders.parse(JSON.parse(text));
}

function keyOf(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', 'slipway own providers', 32));
}
