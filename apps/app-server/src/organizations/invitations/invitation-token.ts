import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The last part of an invitation's link, with what is kept of it. 256 random bits: there is nothing to guess. */
export function makeInvitationToken(): { token: string; hash: Buffer } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** `null` for what cannot be one. */
export function hashOfInvitationToken(token: string): Buffer | null {
  return TOKEN.test(token) ? hashOf(token) : null;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
