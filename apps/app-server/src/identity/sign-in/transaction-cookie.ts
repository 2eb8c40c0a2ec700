import type { SecretBox } from '@slipway/auth';
import { z } from 'zod';
import { hostCookie } from '../../http/host-cookie.js';

/**
 * Longest that a user may take with the sign-in service: a registration waits for an e-mail. Seconds; what Keycloak
 * itself allows.
 */
export const TRANSACTION_SECONDS = 1_800;

const Transaction = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirect: z.string(),
  expiresAtMs: z.number(),
});
export type Transaction = z.infer<typeof Transaction>;

/**
 * The cookie of one sign-in. Each has its own, so that two tabs do not end each other's; a neighbouring host cannot
 * plant one, and so sign a user in as another.
 */
export function transactionCookie(
  state: string,
  publicUrl: string,
): { readonly name: string; readonly attributes: string } {
  return hostCookie(`slipway_sign_in_${state.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 10)}`, publicUrl);
}

export function sealTransaction(box: SecretBox, transaction: Transaction): string {
  return box.encrypt(JSON.stringify(transaction), 'sign-in').toString('base64url');
}

/** The transaction, or `null` for one that is absent, over, or not sealed by this server. */
export function openTransaction(box: SecretBox, sealed: string | undefined, now: Date): Transaction | null {
  if (sealed === undefined) return null;
  try {
    const transaction = Transaction.parse(JSON.parse(box.decrypt(Buffer.from(sealed, 'base64url'), 'sign-in')));
    return transaction.expiresAtMs > now.getTime() ? transaction : null;
  } catch {
    return null;
  }
}
