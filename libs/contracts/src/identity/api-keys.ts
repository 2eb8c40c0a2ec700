import { z } from 'zod';
import { PageQuery } from '../conversations/conversations.js';
import { PERMISSIONS } from '../organizations/permissions.js';

/**
 * Keys with which programs call the API. Each belongs to one organization and to one owner, and can never do more than
 * its owner can at that moment.
 */

export const API_KEY_OWNERS = ['user', 'service-account'] as const;
/** A key is used up for good when it is `expired` or `revoked`; `pending` waits for its `notBefore`. */
export const API_KEY_STATES = ['active', 'pending', 'expired', 'revoked'] as const;

/** Keys that an owner may have at once, beside those that are used up. */
export const MAX_LIVE_API_KEYS = 100;
/** Days. */
export const DEFAULT_API_KEY_DAYS = 90;
/** Longest lifetime of a key. Days. */
export const MAX_API_KEY_DAYS = 366;
/** Longest that a key which was rotated still works. Seconds; 7 days. */
export const MAX_OVERLAP_SECONDS = 604_800;
/** Seconds; a day. */
export const DEFAULT_OVERLAP_SECONDS = 86_400;

const Name = z.string().trim().min(1).max(100);
const Scopes = z
  .array(z.enum(PERMISSIONS))
  .min(1)
  .max(PERMISSIONS.length)
  .refine((scopes) => new Set(scopes).size === scopes.length, 'names a permission twice');

export const ApiKey = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(API_KEY_STATES),
  owner: z.object({ kind: z.enum(API_KEY_OWNERS), id: z.string(), label: z.string() }),
  /** What every token of this key begins with, as scanners of leaked secrets report it. */
  prefix: z.string(),
  /** The last four characters of the token. */
  last4: z.string(),
  scopes: z.array(z.enum(PERMISSIONS)),
  /** The part of `scopes` that the owner holds at this moment: what the key can do. */
  permissions: z.array(z.enum(PERMISSIONS)),
  notBefore: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  /** `active` is false once the maker is no longer a member, deactivated or deleted: they may still know the token. */
  createdBy: z.object({ id: z.string(), label: z.string(), active: z.boolean() }),
  /** The key that this one was made with. It ends no later than that one, and is revoked with it. */
  madeByKey: z.string().nullable(),
  /**
   * Live keys that were made with this one, directly or through others, its successor too if it rotated itself.
   * Revoking it ends them, also when it has ended itself.
   */
  descendants: z.int().nonnegative(),
  /** The last request, at most some seconds late. `null` before the first one. */
  lastUsed: z.object({ at: z.iso.datetime(), address: z.string().nullable(), route: z.string() }).nullable(),
  revokedAt: z.iso.datetime().nullable(),
  /** The key that a rotation made in the place of this one. */
  replacedBy: z.string().nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** A key in the one answer that has its token: only a hash is stored, so it cannot be shown again. */
export const CreatedApiKey = ApiKey.extend({
  /** Send it as `Authorization: Bearer`. */
  token: z.string(),
});
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

export const CreateApiKey = z.strictObject({
  name: Name,
  /** Permissions of the maker's, those of the owner's too when it is a service account. */
  scopes: Scopes,
  /** The key is the service account's instead of the caller's; needs `service-account:write`. */
  serviceAccountId: z.string().max(64).optional(),
  /** It is refused until then. */
  notBefore: z.iso.datetime().optional(),
  /** In 90 days unless given; at most 366 days from now. With a key: the key's own end at the latest. */
  expiresAt: z.iso.datetime().optional(),
});
export type CreateApiKey = z.infer<typeof CreateApiKey>;

export const ChangeApiKey = z.strictObject({ name: Name });
export type ChangeApiKey = z.infer<typeof ChangeApiKey>;

export const RotateApiKey = z.strictObject({
  /** How long the old token works beside the new one. 0: it ends at once. */
  overlapSeconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(DEFAULT_OVERLAP_SECONDS),
});
export type RotateApiKey = z.infer<typeof RotateApiKey>;

export const ListApiKeysQuery = PageQuery.extend({
  /** `true`: those of all users, which needs `api-key:manage`. Otherwise the caller's own. */
  all: z.enum(['true', 'false']).default('false'),
  /** Those of one service account; needs `service-account:read`. */
  serviceAccountId: z.string().max(64).optional(),
  state: z.enum(API_KEY_STATES).optional(),
});
export type ListApiKeysQuery = z.infer<typeof ListApiKeysQuery>;

/** How the caller of `GET /api/v1/me` authenticated. */
export const Authentication = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session') }),
  z.object({
    kind: z.literal('api-key'),
    keyId: z.string(),
    /** The only organization that the key can reach. */
    orgId: z.string(),
    owner: z.enum(API_KEY_OWNERS),
    expiresAt: z.iso.datetime(),
  }),
]);
export type Authentication = z.infer<typeof Authentication>;
