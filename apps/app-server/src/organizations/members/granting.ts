import { type Permission, type Principal, ROLE_PERMISSIONS, type Role } from '@slipway/contracts/organizations';
import type { PoolClient } from '@slipway/db/sql';
import { notFound, SlipwayError } from '@slipway/errors';
import { roleOf } from './membership.queries.js';

/**
 * What the caller may at this moment: what they came with, cut by the role that their row has now. A role that was
 * taken away a moment ago, in another tab or by another admin, grants nothing any more. Read after `lockOrg`, it stays
 * true to the end of the transaction.
 * @throws SlipwayError `resource.not-found` when they are no member any more.
 */
export async function presentPermissions(
  client: PoolClient,
  { orgId, actor, permissions }: Principal,
): Promise<ReadonlySet<Permission>> {
  if (actor.kind !== 'user') return permissions;
  const role = await roleOf(client, orgId, actor.id);
  if (role === null) throw notFound();
  return new Set(ROLE_PERMISSIONS[role].filter((permission) => permissions.has(permission)));
}

/**
 * Whether a holder of `permissions` may give a role, or take it away: only one that allows nothing that they may not do
 * themselves. So no user can raise their own role, only an owner makes or unmakes an owner, and an API key passes on no
 * more than its scopes.
 */
export function mayGrant(permissions: ReadonlySet<Permission>, role: Role): boolean {
  return ROLE_PERMISSIONS[role].every((permission) => permissions.has(permission));
}

/** @throws SlipwayError `permission.denied` */
export function assertMayGrant(permissions: ReadonlySet<Permission>, role: Role, needed: Permission): void {
  if (!permissions.has(needed)) throw new SlipwayError('permission.denied', `This needs the permission ${needed}.`);
  if (!mayGrant(permissions, role))
    throw new SlipwayError('permission.denied', `The role ${role} allows more than you may do yourself.`);
}
