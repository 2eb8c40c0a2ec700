import { z } from 'zod';
import { PageQuery, pageOf } from '../conversations/conversations.js';
import { Money } from '../spending/budgets.js';
import { ROLES } from './permissions.js';

/** How a member joined. */
export const MEMBER_SOURCES = ['founder', 'invitation', 'domain'] as const;

/** Membership of a user in one organization. */
export const Member = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  role: z.enum(ROLES),
  source: z.enum(MEMBER_SOURCES),
  joinedAt: z.iso.datetime(),
  /** Last seen on any address of Slipway; `null`: not since that is recorded. */
  lastActiveAt: z.iso.datetime().nullable(),
  /** An operator has disabled the account: its sessions and keys are refused. */
  deactivated: z.boolean(),
  /**
   * What they have spent in the present cycle, and their own limit (`null`: none) where budgets are on. `null` for who
   * may not read usage.
   */
  spending: z.object({ spentUsd: z.string(), limitUsd: Money.nullable() }).nullable(),
});
export type Member = z.infer<typeof Member>;

/** Last joined first. */
export const ListMembersQuery = PageQuery.extend({
  role: z.enum(ROLES).optional(),
  /** Beginnings of words of the name and of parts of the e-mail address, all of which must be there. */
  search: z
    .string()
    .trim()
    .max(100)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .optional(),
});
export type ListMembersQuery = z.infer<typeof ListMembersQuery>;
export const MemberPage = pageOf(Member);
export type MemberPage = z.infer<typeof MemberPage>;

export const UpdateMember = z.strictObject({
  role: z.enum(ROLES),
  /**
   * The role that the caller saw: when it is another by now, nothing is changed (`member.changed`). Absent: whatever it
   * is.
   */
  expectedRole: z.enum(ROLES).optional(),
});
export type UpdateMember = z.infer<typeof UpdateMember>;

/** Credentials that a removal lists by name; it counts the others. */
export const MAX_KNOWN_CREDENTIALS = 100;

/** A credential of the organization whose value a member may still know after they have left. */
export const KnownCredential = z.object({
  kind: z.enum(['service-account-key', 'secret', 'credential', 'model-key']),
  id: z.string(),
  name: z.string(),
  /** They made or set it, or a sandbox of a conversation of theirs received it. */
  how: z.enum(['made', 'set', 'received']),
  lastUsedAt: z.iso.datetime().nullable(),
});
export type KnownCredential = z.infer<typeof KnownCredential>;

export const RemoveMemberQuery = z.strictObject({
  /**
   * `true`: the keys of service accounts that they made are revoked with them. Programs that use one stop working at
   * once.
   */
  revokeKnownKeys: z.enum(['true', 'false']).default('false'),
});
export type RemoveMemberQuery = z.infer<typeof RemoveMemberQuery>;

/** What goes with a member, or went. */
export const MemberRemoval = z.object({
  /** API keys of the user that are bound to this organization; they end at once. */
  keysRevoked: z.int().nonnegative(),
  /** Sandboxes of their conversations; each is paused with its workspace kept, within ten seconds. */
  sandboxesStopping: z.int().nonnegative(),
  /** Their conversations, all of which stay with the organization. */
  conversationsKept: z.int().nonnegative(),
  /** Open invitations of theirs; they are revoked. */
  invitationsRevoked: z.int().nonnegative(),
  /** What they may still know. Rotate it: what was not revoked with them goes on working. */
  knownCredentials: z.array(KnownCredential).max(MAX_KNOWN_CREDENTIALS),
  /** Of all that they may know, also what is not listed. */
  knownCredentialsTotal: z.int().nonnegative(),
});
export type MemberRemoval = z.infer<typeof MemberRemoval>;
