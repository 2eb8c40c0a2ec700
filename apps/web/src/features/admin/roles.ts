import { ROLES, type Role } from '@slipway/contracts';

export const ROLE_LABELS: Record<Role, string> = { owner: 'Owner', admin: 'Admin', member: 'Member', viewer: 'Viewer' };

/** One sentence each, for who has to choose. */
export const ROLE_HINTS: Record<Role, string> = {
  owner: 'Everything, and alone may hand the organization on or delete it.',
  admin: 'Everything but handing the organization on and deleting it.',
  member: 'Gives tasks to agents, and works with what they make.',
  viewer: 'Looks on: conversations and who is here.',
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
export function roleOptions(roles: readonly Role[]): ReadonlyArray<{ value: Role; label: string }> {
  return roles.map((role) => ({ value: role, label: ROLE_LABELS[role] }));
}
