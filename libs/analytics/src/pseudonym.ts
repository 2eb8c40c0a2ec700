import { createHmac } from 'node:crypto';

/** Stands for a user or an organization outside of the installation: always the same, and without the secret nobody finds who it is. 32 hex digits. */
export function analyticsPseudonym(secret: string, kind: 'user' | 'organization', id: string): string {
  return createHmac('sha256', secret).update(`analytics ${kind} ${id}`).digest('hex').slice(0, 32);
}
