import { ROLES, type Role } from '@slipway/contracts/organizations';
import type { MessageKey, Translate } from '../../messages/translate.ts';

export const ROLE_LABELS: Record<Role, MessageKey> = {
  owner: 'common.owner',
  admin: 'admin.admin',
  member: 'admin.member',
  viewer: 'admin.viewer',
};

/** One sentence each, for who has to choose. */
export const ROLE_HINTS: Record<Role, MessageKey> = {
  owner: 'admin.fullAccessOnlyOwnersCan',
  admin: 'admin.fullAccessExceptTransferringOr',
  member: 'admin.canGiveTasksToAgents',
  viewer: 'admin.readOnlyConversationsAndThe',
};

/** From the least to the most that a role may. */
const RANK: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

export function isAbove(role: Role, other: Role): boolean {
  return RANK[role] > RANK[other];
}

/** What somebody of this role may give to others, the most first: nothing above their own. */
export function rolesToGive(own: Role): readonly Role[] {
  return [...ROLES].filter((role) => !isAbove(role, own)).sort((a, b) => RANK[b] - RANK[a]);
}

/** Options of a select. */
export function roleOptions(t: Translate, roles: readonly Role[]): ReadonlyArray<{ value: Role; label: string }> {
  return roles.map((role) => ({ value: role, label: t(ROLE_LABELS[role]) }));
}
