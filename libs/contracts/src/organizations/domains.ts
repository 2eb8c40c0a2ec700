import { z } from 'zod';
import { pageOf } from '../conversations/conversations.js';

/** A registered name or one below it, in ASCII (`xn--…` for others), lower case, without a dot at its end. */
export const DomainName = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(
    /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/,
    'is not a domain name such as example.com',
  );

/** Roles that can be given for an address alone. */
export const AUTO_JOIN_ROLES = ['viewer', 'member'] as const;

export const OrgDomain = z.object({
  domain: z.string(),
  /** `verified` needs the record to stay: it is checked once a day. */
  state: z.enum(['pending', 'verified']),
  /** What to put into the domain's DNS. */
  record: z.object({ type: z.literal('TXT'), name: z.string(), value: z.string() }),
  /**
   * Role of users who sign in with a confirmed address of the domain; `null`: no user joins by it. Only of a verified
   * one.
   */
  autoJoinRole: z.enum(AUTO_JOIN_ROLES).nullable(),
  createdAt: z.iso.datetime(),
  verifiedAt: z.iso.datetime().nullable(),
  checkedAt: z.iso.datetime().nullable(),
  /**
   * Since then the record of a verified domain has been missing: no user joins by it, and after seven days it is
   * `pending` again.
   */
  recordMissingSince: z.iso.datetime().nullable(),
});
export type OrgDomain = z.infer<typeof OrgDomain>;

/** By name; an organization has at most 50: there is always one page. */
export const OrgDomainList = pageOf(OrgDomain);
export type OrgDomainList = z.infer<typeof OrgDomainList>;
export const MAX_DOMAINS = 50;

export const ClaimDomain = z.strictObject({ domain: DomainName });
export type ClaimDomain = z.infer<typeof ClaimDomain>;
export const UpdateDomain = z.strictObject({ autoJoinRole: z.enum(AUTO_JOIN_ROLES).nullable() });
export type UpdateDomain = z.infer<typeof UpdateDomain>;
