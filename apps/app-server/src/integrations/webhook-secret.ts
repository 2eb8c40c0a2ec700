import type { SignatureScheme } from '@slipway/integrations';

/** What a made secret has at least: 256 bits. Bytes. */
const SECRET_BYTES = 32;

/**
 * A secret of the form that the scheme's provider takes.
 * @param random so many random bytes.
 */
export function makeWebhookSecret(scheme: SignatureScheme, random: (size: number) => Buffer): string {
  const bytes = random(SECRET_BYTES);
  if (scheme.kind === 'hmac-sha256' && scheme.key === 'whsec-base64') return `whsec_${bytes.toString('base64')}`;
  return scheme.kind === 'basic' ? `slipway:${bytes.toString('base64url')}` : bytes.toString('base64url');
}
