import { z } from 'zod';
import { pageOf } from '../conversations/conversations.js';
import { Gate, Terms } from '../identity/account.js';
import { Authentication } from '../identity/api-keys.js';
import { MyAnalytics } from '../operate/analytics-events.js';
import { FlagValuesSchema } from '../operate/flags.js';
import { PERMISSIONS, ROLES } from './permissions.js';

/** First segments of addresses that are the product's own, so that no organization can be called so. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'alive',
  'api',
  'changelog',
  'device',
  'docs',
  'health',
  'ingest',
  'invite',
  'login',
  'metrics',
  'oauth',
  'onboarding',
  'operator',
  'orgs',
  'ready',
  'settings',
  'share',
  'status',
]);

export const Org = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  kind: z.enum(['personal', 'company']),
  role: z.enum(ROLES),
  permissions: z.array(z.enum(PERMISSIONS)),
  /** When it will be deleted, because an owner has asked for it; until then it can be taken back. */
  deletesAt: z.iso.datetime().nullable().default(null),
  /** What its rules still ask of this sign-in: until then everything about it answers 403. `null`: nothing. */
  needs: z.enum(['sign-in', 'second-factor']).nullable().default(null),
});
export type Org = z.infer<typeof Org>;

/**
 * The signed-in user and their organizations. `orgs[0]` is the personal one. The defaults stand for an app-server that
 * does not know the field yet.
 */
export const Me = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  auth: Authentication.default({ kind: 'session' }),
  emailVerified: z.boolean().default(true),
  orgs: z.array(Org),
  /** What is to be done before anything else answers; empty: nothing. */
  gates: z.array(Gate).default([]),
  /** `null`: this installation has none. */
  terms: Terms.nullable().default(null),
  analytics: MyAnalytics.default({ host: null }),
  /** Values of flags, by the id of an organization. Of one that is not here the defaults hold. */
  flags: z.record(z.string(), FlagValuesSchema).default({}),
});
export type Me = z.infer<typeof Me>;

/** First segment of an organization's addresses: lower case, digits and single dashes, 2 to 40 characters. */
export const OrgSlug = z
  .string()
  .min(2)
  .max(40)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'has lower-case letters, digits and single dashes only')
  .refine((slug) => !RESERVED_SLUGS.has(slug), 'is an address of the product itself');
/** What people read. Unicode, without control characters. */
export const OrgName = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters');

export const CreateOrg = z.strictObject({
  name: OrgName,
  /** Absent: made of the name, and with a number behind it when that is taken. */
  slug: OrgSlug.optional(),
});
export type CreateOrg = z.infer<typeof CreateOrg>;

/**
 * Absent keeps. With another `slug` every address of the organization changes at once; the old one leads nowhere and is
 * free for others.
 */
export const UpdateOrg = z.strictObject({ name: OrgName.optional(), slug: OrgSlug.optional() });
export type UpdateOrg = z.infer<typeof UpdateOrg>;

/** To a member, who becomes an owner; the one who asks becomes an admin. */
export const TransferOrg = z.strictObject({ userId: z.string().min(1).max(100) });
export type TransferOrg = z.infer<typeof TransferOrg>;

/** `confirm`: the organization's name as it is now, typed by a user. */
export const DeleteOrg = z.strictObject({ confirm: z.string().max(80) });
export type DeleteOrg = z.infer<typeof DeleteOrg>;

/** The personal one first, then by name. A user has few: there is always one page. */
export const OrgList = pageOf(Org);
export type OrgList = z.infer<typeof OrgList>;

export const ModelInfo = z.object({
  id: z.string(),
  label: z.string(),
  /** True for the built-in scripted model: the screen must say so. */
  demo: z.boolean(),
  default: z.boolean(),
  /** True for a profile of the organization's own, whose id is `profile/<name>`; absent for a model of the gateway. */
  profile: z.boolean().optional(),
});
export const ModelList = z.object({ data: z.array(ModelInfo) });
export type ModelList = z.infer<typeof ModelList>;
