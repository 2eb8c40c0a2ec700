import { z } from 'zod';
import { PageQuery, pageOf } from '../conversations/conversations.js';
import { ROLES } from './permissions.js';

/**
 * Shortest and longest that a rule may say. Minutes. Below a quarter of an hour people would be sent away from what
 * they are reading.
 */
export const MIN_IDLE_MINUTES = 15;
export const MIN_SESSION_MINUTES = 60;
export const MAX_SESSION_MINUTES = 30 * 1_440;

/**
 * What an organization asks of the sign-ins by which its members come, whatever other organizations ask. API keys and
 * service accounts are not signed in, and not asked.
 */
export const SecurityRuleValues = z.strictObject({
  /**
   * How long ago a member may have authenticated at the sign-in service. Minutes; `null`: as long as any session lasts.
   */
  sessionMaxMinutes: z.int().min(MIN_SESSION_MINUTES).max(MAX_SESSION_MINUTES).nullable(),
  /** Longest time without a request, to the minute. `null`: no rule. */
  sessionIdleMinutes: z.int().min(MIN_IDLE_MINUTES).max(MAX_SESSION_MINUTES).nullable(),
  /** Only who signed in with a second factor, by what the sign-in service says (`acr`, `amr`). */
  secondFactor: z.boolean(),
});
export type SecurityRuleValues = z.infer<typeof SecurityRuleValues>;

/** `GET …/security`. `version` counts changes and is the ETag too. */
export const SecurityRules = SecurityRuleValues.extend({ version: z.int().positive() });
export type SecurityRules = z.infer<typeof SecurityRules>;

/** `PATCH …/security`: what is left out stays. */
export const UpdateSecurityRules = SecurityRuleValues.partial();
export type UpdateSecurityRules = z.infer<typeof UpdateSecurityRules>;

/** A browser that is signed in as a member. One session serves all organizations of its user. */
export const MemberSession = z.object({
  id: z.string(),
  userId: z.string(),
  userName: z.string(),
  email: z.string().nullable(),
  role: z.enum(ROLES),
  /** The one that asks. */
  current: z.boolean(),
  /** In words: `Firefox on Linux`. */
  device: z.string(),
  /** Where it was last seen from; `null`: not known. */
  address: z.string().nullable(),
  createdAt: z.iso.datetime(),
  /** At most a minute old while it is used. */
  lastSeenAt: z.iso.datetime(),
  /** It was begun with a second factor. */
  secondFactor: z.boolean(),
  /** The rules of the organization refuse it; the user has to sign in again. */
  refused: z.boolean(),
});
export type MemberSession = z.infer<typeof MemberSession>;

/** Last begun first. */
export const ListMemberSessionsQuery = PageQuery.extend({
  /** Of this user alone. */
  user: z
    .string()
    .regex(/^\w{1,100}$/)
    .optional(),
});
export type ListMemberSessionsQuery = z.infer<typeof ListMemberSessionsQuery>;
export const MemberSessionPage = pageOf(MemberSession);
export type MemberSessionPage = z.infer<typeof MemberSessionPage>;
