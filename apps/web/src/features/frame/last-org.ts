import type { Me, Org } from '@slipway/contracts/organizations';

/**
 * Where this browser keeps the id of the organization that was looked at last: the frame of pages that are of no
 * organization.
 */
export const LAST_ORG = 'slipway.last-org';

/** That organization while the user still belongs to it, else the first; `undefined` for who belongs to none. */
export function lastOrg(me: Pick<Me, 'orgs'>, id: string): Org | undefined {
  return me.orgs.find((org) => org.id === id) ?? me.orgs[0];
}
