import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { ActivationClaims } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';

const ACTIVATION_AUDIENCE = 'slipway-activation';
/** Oldest token that is accepted, and how far its clock may be ahead of ours. Seconds. */
const MAX_AGE_S = 30;
const MAX_SKEW_S = 5;

/** @param spki Ed25519 public key, SPKI DER, base64. @throws SlipwayError `config.invalid`. */
export function readPublicKey(spki: string): KeyObject {
  try {
    const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    throw new SlipwayError('config.invalid', 'ACTIVATION_PUBLIC_KEY is not a public key in SPKI DER, base64.', { cause: error });
  }
  throw new SlipwayError('config.invalid', 'ACTIVATION_PUBLIC_KEY is not an Ed25519 key.');
}

/**
 * The claims of a token that was signed for this sandbox and this body, just now.
 * Fails closed: a token with anything missing, foreign or old is refused, `auth.missing` for the proof and `permission.denied` for the wrong sandbox.
 */
export function verifyActivation(token: string, body: Buffer, expected: { key: KeyObject; slotId: string; podUid: string; nowMs: number }): ActivationClaims {
  const refuse = (why: string): SlipwayError => new SlipwayError('auth.missing', `The activation token is not valid: ${why}.`);
  const [header, payload, signature, ...rest] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) throw refuse('it is not a JWT');
  if ((decode(header) as { alg?: unknown } | null)?.alg !== 'EdDSA') throw refuse('its algorithm is not EdDSA');
  if (!verify(null, Buffer.from(`${header}.${payload}`), expected.key, Buffer.from(signature, 'base64url'))) throw refuse('its signature does not match');
  const body256 = createHash('sha256').update(body).digest('base64url');
  const raw = decode(payload) as { aud?: unknown; iat?: unknown; exp?: unknown } | null;
  const claims = ActivationClaims.safeParse(raw);
  if (!claims.success || raw === null) throw refuse('claims are missing');
  if (raw.aud !== ACTIVATION_AUDIENCE && !(Array.isArray(raw.aud) && raw.aud.includes(ACTIVATION_AUDIENCE))) throw refuse('it is for another audience');
  const now = expected.nowMs / 1000;
  if (typeof raw.iat !== 'number' || now - raw.iat > MAX_AGE_S || raw.iat - now > MAX_SKEW_S) throw refuse('it is too old, or from the future');
  if (raw.exp !== undefined && (typeof raw.exp !== 'number' || now > raw.exp)) throw refuse('it has expired');
  if (claims.data.body_sha256 !== body256) throw refuse('it was signed for another body');
  if (claims.data.slot_id !== expected.slotId || claims.data.pod_uid !== expected.podUid)
    throw new SlipwayError('permission.denied', 'The activation is for another sandbox.');
  return claims.data;
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
