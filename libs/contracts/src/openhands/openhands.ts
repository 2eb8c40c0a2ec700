import { z } from 'zod';
import { MAX_INVITED_AT_ONCE } from '../organizations/invitations.js';
import { OrgName } from '../organizations/orgs.js';
import { PERMISSIONS, ROLES } from '../organizations/permissions.js';

/**
 * OpenHands' names for organizations, members, invitations and keys, for programs that were written for it. What
 * Slipway does not have is not there, or is said beside the field.
 */

const page = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next_page_id: z.string().nullable() });
/** `page_id`: `next_page_id` of the page before. */
const PageById = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(100),
  page_id: z.string().max(500).optional(),
});

export const Organization = z.object({
  id: z.string(),
  name: z.string(),
  is_personal: z.boolean(),
  role: z.enum(ROLES),
  permissions: z.array(z.enum(PERMISSIONS)),
});
export type Organization = z.infer<typeof Organization>;
export const OrganizationPage = page(Organization).extend({
  /** Where requests go whose address and header `X-Org-Id` name none: the personal one, or that of the API key. */
  current_org_id: z.string().nullable(),
});
export type OrganizationPage = z.infer<typeof OrganizationPage>;

export const CreateOrganization = z.strictObject({
  name: OrgName,
  /** Taken, and not kept: an organization's contacts are its owners. */
  contact_name: z.string().max(200).optional(),
  contact_email: z.string().max(400).optional(),
});
export type CreateOrganization = z.infer<typeof CreateOrganization>;
export const UpdateOrganization = z.strictObject({ name: OrgName });
export type UpdateOrganization = z.infer<typeof UpdateOrganization>;

export const OrganizationMe = z.object({
  org_id: z.string(),
  user_id: z.string(),
  email: z.string().nullable(),
  role: z.enum(ROLES),
  permissions: z.array(z.enum(PERMISSIONS)),
  status: z.literal('active'),
});
export type OrganizationMe = z.infer<typeof OrganizationMe>;

export const OrganizationMember = z.object({
  user_id: z.string(),
  email: z.string().nullable(),
  name: z.string(),
  role: z.enum(ROLES),
  /** The lower, the more a role may. */
  role_rank: z.int(),
  status: z.enum(['active', 'inactive']),
});
export type OrganizationMember = z.infer<typeof OrganizationMember>;
export const OrganizationMemberPage = page(OrganizationMember);
export type OrganizationMemberPage = z.infer<typeof OrganizationMemberPage>;
export const ListOrganizationMembersQuery = PageById.extend({
  /** Beginnings of words of the name and of parts of the address. */
  email: z
    .string()
    .trim()
    .max(100)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .optional(),
});
export type ListOrganizationMembersQuery = z.infer<typeof ListOrganizationMembersQuery>;
export const CountOrganizationMembersQuery = ListOrganizationMembersQuery.pick({ email: true });
export type CountOrganizationMembersQuery = z.infer<typeof CountOrganizationMembersQuery>;
export const OrganizationMemberCount = z
  .int()
  .nonnegative()
  .meta({ examples: [12] });
export const UpdateOrganizationMember = z.strictObject({ role: z.enum(ROLES) });
export type UpdateOrganizationMember = z.infer<typeof UpdateOrganizationMember>;

export const OrganizationInvitation = z.object({
  id: z.uuid(),
  email: z.string(),
  role: z.enum(ROLES),
  status: z.enum(['pending', 'accepted', 'revoked', 'expired']),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type OrganizationInvitation = z.infer<typeof OrganizationInvitation>;
export const OrganizationInvitationPage = page(OrganizationInvitation);
export type OrganizationInvitationPage = z.infer<typeof OrganizationInvitationPage>;
export const ListOrganizationInvitationsQuery = PageById;
export type ListOrganizationInvitationsQuery = z.infer<typeof ListOrganizationInvitationsQuery>;
export const InviteToOrganization = z.strictObject({
  emails: z.array(z.string().max(400)).min(1).max(MAX_INVITED_AT_ONCE),
  role: z.enum(ROLES).default('member'),
});
export type InviteToOrganization = z.infer<typeof InviteToOrganization>;
export const OrganizationInvited = z.object({
  /** `link`: for a user to pass on, where this installation sends no mail. */
  successful: z.array(OrganizationInvitation.extend({ link: z.string().nullable() })),
  failed: z.array(z.object({ email: z.string(), error: z.string() })),
});
export type OrganizationInvited = z.infer<typeof OrganizationInvited>;
export const AcceptOrganizationInvitation = z.strictObject({ token: z.string().min(1).max(200) });
export type AcceptOrganizationInvitation = z.infer<typeof AcceptOrganizationInvitation>;
export const OrganizationJoined = z.object({
  success: z.literal(true),
  org_id: z.string(),
  org_name: z.string(),
  role: z.enum(ROLES),
});
export type OrganizationJoined = z.infer<typeof OrganizationJoined>;

export const Done = z.object({ message: z.string() });
export type Done = z.infer<typeof Done>;

export const ProgramKey = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  not_before: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime(),
});
export type ProgramKey = z.infer<typeof ProgramKey>;
/** Those that are in use, or wait for their time; at most a hundred. */
export const ProgramKeyList = z.array(ProgramKey);
export type ProgramKeyList = z.infer<typeof ProgramKeyList>;
export const CreateProgramKey = z.strictObject({
  name: z.string().trim().min(1).max(100),
  not_before: z.iso.datetime({ offset: true }).nullish(),
  /** In 90 days unless given. */
  expires_at: z.iso.datetime({ offset: true }).nullish(),
  /** The organization that the request is about; another one is named by the header `X-Org-Id`. */
  org_id: z.string().max(100).nullish(),
});
export type CreateProgramKey = z.infer<typeof CreateProgramKey>;
/** The one answer that has the key itself. */
export const CreatedProgramKey = ProgramKey.extend({ key: z.string() });
export type CreatedProgramKey = z.infer<typeof CreatedProgramKey>;
