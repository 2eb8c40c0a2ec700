import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * `slp_llm_<id>_<secret><checksum>`: a prefix that secret scanners can look for, an id that is no secret (26 characters, as in `key_<id>`),
 * 160 random bits, and CRC-32 of all before it. A mistyped or made-up key fails the checksum and costs no database query.
 */
const PREFIX = 'slp_llm_';
const FORMAT = /^slp_llm_([0-9a-hjkmnp-tv-z]{26})_([0-9a-hjkmnp-tv-z]{32})([0-9a-hjkmnp-tv-z]{7})$/;
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

/** The key's id, or `null` for what cannot be a key of ours. Says nothing of whether the key exists. */
export function keyIdOf(token: string): string | null {
  const match = FORMAT.exec(token);
  if (match === null || match[1] === undefined || checksum(token.slice(0, -7)) !== match[3]) return null;
  return `key_${match[1]}`;
}

export function hashKeyToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(crc32(text), 1);
  return base32(bytes, 8).slice(1);
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
