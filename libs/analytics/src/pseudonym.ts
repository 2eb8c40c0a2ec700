import { createHmac } from 'node:crypto';

/**
 * Pseudonym of a user or an organization outside of the installation: stable, and not reversible without the secret. 32
 * hex digits.
 */
export function analyticsPseudonym(secret: string, kind: 'user' | 'organization', id: string): string {
  return createHmac('sha256', secret).update(`analytics ${kind} ${id}`).digest('hex').slice(0, 32);
}
