import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { USER_CODE_ALPHABET, USER_CODE_LENGTH } from '@slipway/contracts/identity';

/** Secret of a device, never shown: 32 random bytes. */
export function makeDeviceCode(): string {
  return randomBytes(32).toString('base64url');
}

export function hashDeviceCode(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}

/** Eight consonants: 25 billion codes. */
export function makeUserCode(): string {
  return Array.from({ length: USER_CODE_LENGTH }, () =>
    USER_CODE_ALPHABET.charAt(randomInt(USER_CODE_ALPHABET.length)),
  ).join('');
}

/** Keyed: all codes could be tried on a plain hash within minutes. */
export function hashUserCode(code: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(`device user code ${code}`).digest();
}

/** As people read it: two groups of four. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;
}
