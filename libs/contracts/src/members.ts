import { z } from 'zod';
import { Money } from './budgets.js';
import { PageQuery, pageOf } from './conversations.js';
import { ROLES } from './permissions.js';

/** How somebody came to be a member. */
export const MEMBER_SOURCES = ['founder', 'invitation', 'domain'] as const;

/** A person in one organization. */
export const Member = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  role: z.enum(ROLES),
  source: z.enum(MEMBER_SOURCES),
  joinedAt: z.iso.datetime(),
  /** Last seen on any address of Slipway; `null`: not since that is recorded. */
  lastActiveAt: z.iso.datetime().nullable(),
  /** An operator has shut the account: nothing that it has proved is worth anything. */
  deactivated: z.boolean(),
  /** What they have spent in the present cycle, and their own limit (`null`: none) where budgets are on. `null` for who may not read usage. */
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
  /** The role that the caller saw: when it is another by now, nothing is changed (`member.changed`). Absent: whatever it is. */
  expectedRole: z.enum(ROLES).optional(),
});
export type UpdateMember = z.infer<typeof UpdateMember>;

/** What goes with a member, or went. */
export const MemberRemoval = z.object({
  /** API keys of the person that are bound to this organization; they end at once. */
  keysRevoked: z.int().nonnegative(),
  /** Sandboxes of their conversations; each is paused with its workspace kept, within ten seconds. */
  sandboxesStopping: z.int().nonnegative(),
  /** Their conversations, all of which stay with the organization. */
  conversationsKept: z.int().nonnegative(),
});
export type MemberRemoval = z.infer<typeof MemberRemoval>;
