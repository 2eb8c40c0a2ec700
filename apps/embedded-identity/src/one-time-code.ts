import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** How long a code is shown. Milliseconds; what every authenticator app takes as given. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** Codes of the steps before and after count too, for clocks that are not right. */
const SKEW_STEPS = 1;
/** As RFC 4226 recommends. Bytes. */
const SECRET_BYTES = 20;

/** A secret for an authenticator app, as base32. */
export function newSecret(): string {
  return base32(randomBytes(SECRET_BYTES));
}

/**
 * The step whose code this is (RFC 6238: SHA-1, 30 s, 6 digits), or `null`. Steps count from 1970. @param now
 * milliseconds since 1970.
 */
export function stepOf(code: string, secret: string, now: number): number | null {
  const present = Math.floor(now / STEP_MS);
  const given = Buffer.from(code.padEnd(DIGITS).slice(0, DIGITS));
  let found: number | null = null;
  for (let step = present - SKEW_STEPS; step <= present + SKEW_STEPS; step += 1)
    if (code.length === DIGITS && given.length === DIGITS && timingSafeEqual(given, Buffer.from(codeAt(step, secret))))
      found = step;
  return found;
}

/**
 * What the QR code says to an authenticator app. The other parameters are their defaults, and a shorter text is easier
 * to scan.
 */
export function keyUri(username: string, secret: string): string {
  return `otpauth://totp/Slipway:${encodeURIComponent(username)}?secret=${secret}&issuer=Slipway`;
}

/** Upper-case letters and the digits 2 to 7; five bits each, without padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => LETTERS[Number.parseInt(five, 2)]).join('');
}

function codeAt(step: number, secret: string): string {
  const bits = [...secret].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', key).update(counter).digest();
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}
