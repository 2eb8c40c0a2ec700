import { z } from 'zod';
import { PageQuery } from '../conversations/conversations.js';
import { ROLES, type Role } from '../organizations/permissions.js';

/** Principal of a program that belongs to no user: it has a role in one organization and stays when users leave. */

/** An account without sign-in must not be able to take over the organization. */
export const SERVICE_ACCOUNT_ROLES = ROLES.filter((role): role is Exclude<Role, 'owner'> => role !== 'owner');
const ServiceAccountRole = z.enum(SERVICE_ACCOUNT_ROLES);

/** Service accounts that an organization may have. */
export const MAX_SERVICE_ACCOUNTS = 200;

const Name = z.string().trim().min(1).max(100);

export const ServiceAccount = z.object({
  id: z.string(),
  name: z.string(),
  role: ServiceAccountRole,
  createdAt: z.iso.datetime(),
  createdBy: z.object({ id: z.string(), label: z.string() }),
  /** Keys of it that can be used now or later. */
  liveKeys: z.int().nonnegative(),
  lastUsedAt: z.iso.datetime().nullable(),
});
export type ServiceAccount = z.infer<typeof ServiceAccount>;

export const CreateServiceAccount = z.strictObject({
  name: Name,
  /** At most the caller's own role. */
  role: ServiceAccountRole,
});
export type CreateServiceAccount = z.infer<typeof CreateServiceAccount>;

export const ChangeServiceAccount = z.strictObject({ name: Name.optional(), role: ServiceAccountRole.optional() });
export type ChangeServiceAccount = z.infer<typeof ChangeServiceAccount>;

export const ListServiceAccountsQuery = PageQuery;
