import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery } from '../delivery.js';
import type { SignatureRefusal, SignatureScheme, SignedTime } from './scheme.js';

type Hmac = Extract<SignatureScheme, { kind: 'hmac-sha256' }>;

/** More signatures in one header than any rotation has. */
const MOST_SIGNATURES = 8;
const SHA256_BYTES = 32;

/**
 * Whether a delivery is signed with one of `secrets` (two during a rotation). Constant in time for each secret, over
 * the raw bytes. A time in the body is not checked here: the body is read only after this holds (`signedTimeRefusal`).
 * Fails closed: without a secret, and with an empty one, nothing is accepted.
 * @returns null when it holds.
 */
export function verifySignature(
  scheme: SignatureScheme,
  secrets: readonly string[],
  delivery: Delivery,
  now: Date,
): SignatureRefusal | null {
  const usable = secrets.filter((secret) => secret.length > 0);
  // A socket is authenticated already; deliveries by HTTP are not.
  if (scheme.kind === 'socket' || usable.length === 0) return 'no-secret';
  const name = scheme.kind === 'basic' ? 'authorization' : scheme.header;
  const value = delivery.headers[name];
  if (value === undefined || value === '' || value.length === 0) return 'missing';
  if (typeof value !== 'string' && value.length > 1) return 'doubled';
  const text = typeof value === 'string' ? value : (value[0] as string);
  switch (scheme.kind) {
    case 'hmac-sha256':
      return hmacRefusal(scheme, { secrets: usable, delivery, header: text, now });
    case 'token':
      return usable.some((secret) => sameText(secret, text)) ? null : 'wrong';
    case 'basic': {
      const match = /^basic ([a-z0-9+/=]+)$/i.exec(text);
      if (match === null) return 'malformed';
      const given = Buffer.from(match[1] as string, 'base64').toString('utf8');
      return usable.some((secret) => sameText(secret, given)) ? null : 'wrong';
    }
    case 'jwt-hs256':
      return jwtRefusal(usable, text, now);
  }
}

/** The same for a time that the signed body carries; `null` too where the scheme has none there. */
export function signedTimeRefusal(scheme: SignatureScheme, body: unknown, now: Date): SignatureRefusal | null {
  if (scheme.kind !== 'hmac-sha256' || scheme.time === undefined || !('bodyField' in scheme.time.from)) return null;
  const value =
    typeof body === 'object' && body !== null && Object.hasOwn(body, scheme.time.from.bodyField)
      ? (body as Record<string, unknown>)[scheme.time.from.bodyField]
      : undefined;
  return typeof value === 'number' ? timeRefusal(scheme.time, value, now) : 'malformed';
}

function hmacRefusal(
  scheme: Hmac,
  {
    secrets,
    delivery,
    header,
    now,
  }: { readonly secrets: readonly string[]; readonly delivery: Delivery; readonly header: string; readonly now: Date },
): SignatureRefusal | null {
  const given = signaturesOf(scheme, header);
  if (given.length === 0) return 'malformed';
  const parts: Buffer[] = [];
  for (const part of scheme.signed) {
    if (part === 'body') parts.push(delivery.raw);
    else if ('text' in part) parts.push(Buffer.from(part.text));
    else {
      const value = delivery.headers[part.header];
      if (value === undefined || value === '') return 'missing';
      if (typeof value !== 'string') return 'doubled';
      parts.push(Buffer.from(value, 'latin1'));
    }
  }
  const holds = secrets.some((secret) => {
    const key = keyOf(scheme, secret);
    if (key === null) return false;
    const mac = createHmac('sha256', key);
    for (const part of parts) mac.update(part);
    const expected = mac.digest();
    return given.some((signature) => timingSafeEqual(signature, expected));
  });
  if (!holds) return 'wrong';
  if (scheme.time === undefined || !('header' in scheme.time.from)) return null;
  const at = delivery.headers[scheme.time.from.header];
  if (typeof at !== 'string' || !/^\d{1,16}$/.test(at)) return 'malformed';
  return timeRefusal(scheme.time, Number(at), now);
}

/** Each as bytes; those of another length or with other letters are none. */
function signaturesOf(scheme: Hmac, header: string): Buffer[] {
  const prefix = scheme.prefix ?? '';
  const shape = scheme.encoding === 'hex' ? /^[0-9a-f]{64}$/i : /^[A-Za-z0-9+/]{43}=$/;
  return (scheme.several === true ? header.split(' ').slice(0, MOST_SIGNATURES) : [header])
    .filter((text) => text.startsWith(prefix) && shape.test(text.slice(prefix.length)))
    .map((text) => Buffer.from(text.slice(prefix.length), scheme.encoding))
    .filter((bytes) => bytes.length === SHA256_BYTES);
}

/** `null`: the secret is none of this scheme. */
function keyOf(scheme: Hmac, secret: string): Buffer | null {
  if (scheme.key === 'utf8') return Buffer.from(secret, 'utf8');
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  const key = Buffer.from(text, 'base64');
  return key.length === 0 ? null : key;
}

/** `alg` must be HS256 whatever the token says it is; `exp`, where there is one, must be ahead. */
function jwtRefusal(secrets: readonly string[], header: string, now: Date): SignatureRefusal | null {
  const match = /^(?:bearer|jwt) ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(header);
  if (match === null) return 'malformed';
  const [, head = '', claims = '', signature = ''] = match;
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== SHA256_BYTES || jsonOf(head)?.['alg'] !== 'HS256') return 'malformed';
  const holds = secrets.some((secret) =>
    timingSafeEqual(createHmac('sha256', secret).update(`${head}.${claims}`).digest(), given),
  );
  if (!holds) return 'wrong';
  const exp = jsonOf(claims)?.['exp'];
  return typeof exp === 'number' && exp * 1000 <= now.getTime() ? 'too-old' : null;
}

function jsonOf(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function timeRefusal(time: SignedTime, value: number, now: Date): SignatureRefusal | null {
  const seconds = time.unit === 's' ? value : value / 1000;
  const age = now.getTime() / 1000 - seconds;
  if (age > time.toleranceS) return 'too-old';
  return -age > time.toleranceS ? 'too-new' : null;
}

/** Of any two texts, in a time that says nothing of where they differ. */
function sameText(one: string, other: string): boolean {
  return timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest());
}
