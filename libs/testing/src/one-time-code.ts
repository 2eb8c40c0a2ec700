import { createHmac } from 'node:crypto';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * The six digits that an authenticator app shows (RFC 6238: SHA-1, 30 s). @param secret base32, spaces between. @param
 * steps later than now.
 */
export function oneTimeCode(secret: string, steps = 0): string {
  const bits = [...secret.replace(/\s/g, '').toUpperCase()]
    .map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const digest = createHmac('sha1', key).update(counter).digest();
  const code = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fff_ffff;
  return String(code % 1_000_000).padStart(6, '0');
}
