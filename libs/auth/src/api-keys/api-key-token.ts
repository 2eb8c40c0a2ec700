import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * `slp_<env>_<id>_<secret><checksum>`: found by scanners of leaked secrets by its form, checked without a database by
 * its checksum, looked up by its id. id: the 26 characters of the key's id behind `key_`. secret: 32 random bytes in
 * base62, 43 characters. checksum: CRC-32 of everything before it in base62, 6 characters.
 */
const FORM = /^slp_(?!sbx_)[a-z]{2,8}_([0-9a-hjkmnp-tv-z]{26})_([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const ID_PREFIX = 'key_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Installation of a key, as its token says: separates a developer's own keys from production keys. */
export type ApiKeyEnvironment = 'live' | 'dev';

export interface NewApiKey {
  readonly token: string;
  /** What is stored of the secret. */
  readonly hash: Buffer;
  /** The token's beginning, before the secret. */
  readonly prefix: string;
  readonly last4: string;
}

/** @param id of `Ids`, with the prefix `key`. */
export function makeApiKey(
  environment: ApiKeyEnvironment,
  id: string,
  secret: Buffer = randomBytes(SECRET_BYTES),
): NewApiKey {
  const text = base62(BigInt(`0x${secret.toString('hex')}`), SECRET_LENGTH);
  const prefix = `slp_${environment}_${id.slice(ID_PREFIX.length)}_`;
  const body = `${prefix}${text}`;
  const token = `${body}${checksum(body)}`;
  return { token, hash: hashApiKey(text), prefix, last4: token.slice(-4) };
}

/**
 * The id that a token names and the hash of its secret, or `null` for what cannot be a token of ours: cut off, mistyped
 * or made up.
 */
export function parseApiKey(token: string): { readonly id: string; readonly hash: Buffer } | null {
  const [, id, secret] = FORM.exec(token) ?? [];
  if (id === undefined || secret === undefined) return null;
  if (checksum(token.slice(0, -CHECKSUM_LENGTH)) !== token.slice(-CHECKSUM_LENGTH)) return null;
  return { id: `${ID_PREFIX}${id}`, hash: hashApiKey(secret) };
}

/** SHA-256 of the secret's text. A slow hash would protect nothing: there are 256 bits to guess. */
export function hashApiKey(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = BASE62.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
