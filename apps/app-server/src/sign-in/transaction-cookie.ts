import type { SecretBox } from '@slipway/auth';
import { z } from 'zod';

/** Longest that a person may take with the sign-in service: a registration waits for an e-mail. Seconds; what Keycloak itself allows. */
export const TRANSACTION_SECONDS = 1_800;

const Transaction = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), redirect: z.string(), expiresAtMs: z.number() });
export type Transaction = z.infer<typeof Transaction>;

/**
 * The cookie of one sign-in (each has its own, so that two tabs do not end each other's). Over https its name has the prefix that makes browsers take it from this
 * host only: a page of a neighbouring host cannot plant the one of its own sign-in, and so sign somebody in as somebody else.
 */
export function transactionCookie(state: string, publicUrl: string): { readonly name: string; readonly attributes: string } {
  const own = `slipway_sign_in_${state.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 10)}`;
  return new URL(publicUrl).protocol === 'https:' ? { name: `__Host-${own}`, attributes: 'Path=/' } : { name: own, attributes: 'Path=/oauth' };
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
