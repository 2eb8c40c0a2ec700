import type { ApiKey } from '@slipway/contracts/identity';
import type {
  Organization,
  OrganizationInvitation,
  OrganizationMember,
  ProgramKey,
} from '@slipway/contracts/openhands';
import type { Invitation, Member, Org, Role } from '@slipway/contracts/organizations';

const RANKS: Readonly<Record<Role, number>> = { owner: 10, admin: 20, member: 1_000, viewer: 2_000 };

export function organizationOf({ id, name, kind, role, permissions }: Org): Organization {
  return { id, name, is_personal: kind === 'personal', role, permissions };
}

export function organizationMemberOf({ userId, email, name, role, deactivated }: Member): OrganizationMember {
  return { user_id: userId, email, name, role, role_rank: RANKS[role], status: deactivated ? 'inactive' : 'active' };
}

export function organizationInvitationOf({
  id,
  email,
  role,
  state,
  createdAt,
  expiresAt,
}: Invitation): OrganizationInvitation {
  return {
    id,
    email,
    role,
    status: state === 'open' ? 'pending' : state,
    created_at: createdAt,
    expires_at: expiresAt,
  };
}

export function programKeyOf({ id, name, createdAt, lastUsed, notBefore, expiresAt }: ApiKey): ProgramKey {
  return {
    id,
    name,
    created_at: createdAt,
    last_used_at: lastUsed?.at ?? null,
    not_before: notBefore,
    expires_at: expiresAt,
  };
}
