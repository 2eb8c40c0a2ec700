import type { EgressClaims } from '@slipway/contracts/sandboxes';
import type { Destination } from '../admission/destination.js';

/** Remembered hosts; those that were not met for the longest time go first. */
const MAX_HOSTS = 50_000;

/**
 * Listed hosts that an organization has closed in one way or another: a credential is used there, or a rule refuses
 * them. While app-server cannot be asked these do not pass, on any port; all other listed hosts do. Kept for the life
 * of the process.
 */
export class ClosedHosts {
  private readonly hosts = new Set<string>();

  constructor(private readonly most = MAX_HOSTS) {}

  add(claims: EgressClaims, destination: Destination): void {
    const key = keyOf(claims, destination);
    this.hosts.delete(key);
    this.hosts.add(key);
    if (this.hosts.size > this.most) this.hosts.delete(this.hosts.values().next().value as string);
  }

  has(claims: EgressClaims, destination: Destination): boolean {
    return this.hosts.has(keyOf(claims, destination));
  }
}

const keyOf = ({ org }: EgressClaims, { host }: Destination): string => `${org} ${host}`;
