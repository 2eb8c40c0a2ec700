import { z } from 'zod';

/** What a connection's calls authenticate with, and how an admin obtains it by OAuth. */

/** `token`: entered by an admin. `oauth-tokens`: by OAuth. `app-installation`: of a provider's app. */
export const CONNECTION_CREDENTIAL_KINDS = ['token', 'oauth-tokens', 'app-installation'] as const;

export const ConnectionCredential = z.object({
  kind: z.enum(CONNECTION_CREDENTIAL_KINDS),
  /** Entered, authorized or last renewed. */
  setAt: z.iso.datetime(),
  /** When it ends, by the provider's word; `null`: it has not said. */
  expiresAt: z.iso.datetime().nullable(),
  /** Slipway renews it before it ends. */
  renews: z.boolean(),
  /** What it may be used for, in the provider's words; `null`: the provider has not said. */
  scopes: z.array(z.string()).nullable(),
  /** Of those that Slipway needs. */
  missingScopes: z.array(z.string()),
  /** Why it could not be renewed the last time; `null`: nothing stands against it. */
  problem: z.string().nullable(),
});
export type ConnectionCredential = z.infer<typeof ConnectionCredential>;

/** Webhooks that Slipway makes at a provider where they end by themselves. */
export const AppHook = z.object({
  /** When they end unless they are renewed, which happens long before; `null`: there are none. */
  expiresAt: z.iso.datetime().nullable(),
  checkedAt: z.iso.datetime(),
  problem: z.string().nullable(),
});
export type AppHook = z.infer<typeof AppHook>;

/**
 * What the provider has said about an authorization; nothing counts before an admin confirms it, in the session that
 * began.
 */
export const PendingAuthorization = z.object({
  id: z.uuid(),
  connectionId: z.string(),
  expiresAt: z.iso.datetime(),
  /** The account that Slipway will act as. */
  name: z.string(),
  /** The provider's own ids of it. */
  ids: z.array(z.string()),
  /** The name that users will mention; `null`: it stays. */
  mention: z.string().nullable(),
  /** Workspace, organization or site; `null`: the whole instance. */
  account: z.string().nullable(),
  accountName: z.string().nullable(),
  /** What the connection has now, where it is another; `null`: nothing, or the same. */
  accountBefore: z.string().nullable(),
  scopes: z.array(z.string()).nullable(),
  missingScopes: z.array(z.string()),
});
export type PendingAuthorization = z.infer<typeof PendingAuthorization>;

/**
 * Of a page of the organization: where the browser comes back to from the provider, with `authorization` (the id to
 * confirm) or `problem` (an error code).
 */
export const connectionPage = (orgSlug: string, connectionId: string): string =>
  `/${encodeURIComponent(orgSlug)}/admin/integrations/${encodeURIComponent(connectionId)}`;
