import { createHash, timingSafeEqual } from 'node:crypto';

/** A check that takes the same time for every wrong key, whatever its length. */
export function masterKeyCheck(masterKey: string): (given: string | null) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(masterKey);
  return (given) => given !== null && timingSafeEqual(expected, digest(given));
}

/** The token of an `Authorization: Bearer …` header, or `null`. */
export function bearerToken(header: string | undefined): string | null {
  if (header === undefined) return null;
  const match = /^Bearer +(\S+) *$/i.exec(header);
  return match?.[1] ?? null;
}

/** The key of who calls: OpenAI's way to send it, or Anthropic's. */
export function callerToken(headers: {
  readonly authorization?: string | undefined;
  readonly 'x-api-key'?: string | string[] | undefined;
}): string | null {
  const own = headers['x-api-key'];
  return bearerToken(headers.authorization) ?? (typeof own === 'string' && own !== '' ? own : null);
}
