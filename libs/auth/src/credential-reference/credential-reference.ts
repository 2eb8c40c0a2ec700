import { createHmac } from 'node:crypto';

/** Bytes of the key that references to a credential are made with. */
export const REFERENCE_KEY_BYTES = 16;
const DIGEST_LENGTH = 16;

export interface ReferenceTo {
  readonly name: string;
  /** What it begins with, for programs that check it. */
  readonly shape: string;
  /** Of the credential. */
  readonly key: Uint8Array;
  readonly conversation: string;
}

/**
 * What a conversation has in place of a credential's value. No secret: credential-broker puts the value in its place at
 * the credential's places alone, and only for this conversation. The same for the same conversation, at each start.
 */
export function credentialReference({ name, shape, key, conversation }: ReferenceTo): string {
  const digest = createHmac('sha256', key).update(conversation).digest('base64url').slice(0, DIGEST_LENGTH);
  return `${shape}slp_ref_${name}_${digest}`;
}
