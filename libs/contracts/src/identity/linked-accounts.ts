import { z } from 'zod';

/** A user's account at a provider, verified by the user's own sign-in there. */

/** How long a user may take with the provider, and again to confirm. Minutes. */
export const LINK_MINUTES = 10;

const printable = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[\x21-\x7e]+$/, 'has printable characters and no blanks');

/** `PUT …/connections/{connection}/oauth-client`. */
export const SetOAuthClient = z.strictObject({
  clientId: printable(300),
  /** Sealed with the organization's data key, and never shown again. */
  clientSecret: printable(1_000),
});
export type SetOAuthClient = z.infer<typeof SetOAuthClient>;

/** The OAuth application at the provider by which users of the organization link their accounts. */
export const OAuthClient = z.object({
  /** `null`: none is entered yet. */
  clientId: z.string().nullable(),
  /** What to enter at the provider as the address that it sends users back to. */
  callbackUrl: z.url(),
  /** In the provider's words; empty: none have to be chosen there. */
  scopes: z.array(z.string()),
  /**
   * Those that a connection by OAuth needs beside them; empty: the provider has none, or Slipway does not connect there
   * by OAuth.
   */
  connectionScopes: z.array(z.string()).default([]),
  setAt: z.iso.datetime().nullable(),
});
export type OAuthClient = z.infer<typeof OAuthClient>;

/** `POST /api/v1/me/linked-accounts`. */
export const BeginLink = z.strictObject({
  /** Id or slug. */
  org: z.string().min(1).max(200),
  connectionId: z.string().min(1).max(200),
});
export type BeginLink = z.infer<typeof BeginLink>;

/** Where the browser goes. The answer also sets a cookie: no other browser can finish what this one began. */
export const LinkBegun = z.object({
  authorizeUrl: z.url(),
  expiresAt: z.iso.datetime(),
});
export type LinkBegun = z.infer<typeof LinkBegun>;

/** `pending`: the provider has said who it is, and the user has still to confirm it in the session that began. */
export const LINK_STATES = ['pending', 'linked'] as const;

export const LinkedAccount = z.object({
  id: z.uuid(),
  state: z.enum(LINK_STATES),
  /** It counts in this organization alone. */
  orgId: z.string(),
  orgName: z.string(),
  provider: z.string(),
  /** As people write it. */
  providerName: z.string(),
  host: z.string(),
  /** The provider's own id of the account: it stays when the login changes hands. */
  externalUserId: z.string(),
  /** As it was when it was linked. */
  login: z.string(),
  /** `null` while pending. */
  linkedAt: z.iso.datetime().nullable(),
  /** While pending: until then it can be confirmed. */
  expiresAt: z.iso.datetime().nullable(),
});
export type LinkedAccount = z.infer<typeof LinkedAccount>;

/** A connection by which an account can be linked. */
export const LinkableConnection = z.object({
  connectionId: z.string(),
  orgId: z.string(),
  orgName: z.string(),
  name: z.string(),
  provider: z.string(),
  providerName: z.string(),
  host: z.string(),
});
export type LinkableConnection = z.infer<typeof LinkableConnection>;

/** There is always one page. */
export const LinkedAccountList = z.object({
  data: z.array(LinkedAccount),
  /** Those of the user's organizations whose admins have entered an OAuth client. */
  linkable: z.array(LinkableConnection),
});
export type LinkedAccountList = z.infer<typeof LinkedAccountList>;

/**
 * Where the browser comes back to from the provider: with `confirm` (the id of a pending link) or `problem` (an error
 * code).
 */
export const LINKED_ACCOUNTS_PAGE = '/settings/linked-accounts';
