import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * `slp_llm_<id>_<secret><checksum>`: a prefix that secret scanners can find, an id that is no secret (26 characters, as
 * in `key_<id>`), 160 random bits, and CRC-32 of all before it. A mistyped or made-up key fails the checksum and costs
 * no database query.
 */
const PREFIX = 'slp_llm_';
const FORMAT = /^slp_llm_([0-9a-hjkmnp-tv-z]{26})_([0-9a-hjkmnp-tv-z]{32})([0-9a-hjkmnp-tv-z]{7})$/;
const LENGTH = PREFIX.length + 26 + 1 + 32 + 7;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export interface MadeKey {
  readonly token: string;
  readonly hash: Buffer;
}

/** @param keyId `key_<26 characters>`. @param random 20 bytes. */
export function makeKeyToken(keyId: string, random: Uint8Array = randomBytes(20)): MadeKey {
  const secret = base32(random, 32);
  const body = `${PREFIX}${keyId.slice('key_'.length)}_${secret}`;
  const token = `${body}${checksum(body)}`;
  if (!FORMAT.test(token)) throw new Error('the key id has not the form key_<26 characters>');
  return { token, hash: hashKeyToken(token) };
}

/**
 * The key's id, or `null` for what cannot be a key of ours. Says nothing of whether the key exists. Each call of each
 * caller asks: what costs least comes first.
 */
export function keyIdOf(token: string): string | null {
  if (
    token.length !== LENGTH ||
    !token.startsWith(PREFIX) ||
    !token.endsWith(checksum(token.slice(0, -7))) ||
    !FORMAT.test(token)
  )
    return null;
  return `key_${token.slice(PREFIX.length, PREFIX.length + 26)}`;
}

export function hashKeyToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < 7; index += 1) {
    digits = ALPHABET.charAt(rest & 31) + digits;
    rest >>>= 5;
  }
  return digits;
}

/** The lowest 5 × `length` bits of a big-endian number. */
function base32(bytes: Uint8Array, length: number): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = ALPHABET[Number(number % 32n)] + text;
    number /= 32n;
  }
  return text;
}
