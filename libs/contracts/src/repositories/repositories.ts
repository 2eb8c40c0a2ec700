import { z } from 'zod';
import { pageOf } from '../conversations/conversations.js';

/** Repositories that connections of an organization reach, as far as the user may read them at the provider. */

/** Path of a repository at its provider: `owner/name`, and with groups in between at GitLab. */
export const RepositoryPath = z
  .string()
  .max(500)
  .regex(/^[\w.-]+(?:\/[\w.-]+)+$/, 'is not owner/name')
  .refine((path) => path.split('/').every((part) => !/^\.+$/.test(part)), 'is not owner/name');

/** What a user may do there. */
export const REPOSITORY_ACCESS = ['read', 'write', 'admin'] as const;

export const Repository = z.object({
  /** `provider:owner/name`: what a conversation takes as its `repository`. */
  reference: z.string(),
  connectionId: z.string(),
  provider: z.string(),
  /** `owner/name`. */
  fullName: z.string(),
  url: z.url(),
  /** `null`: it is empty. */
  defaultBranch: z.string().nullable(),
  private: z.boolean(),
  access: z.enum(REPOSITORY_ACCESS),
});
export type Repository = z.infer<typeof Repository>;

/**
 * What became of one connection. `listed`: it was asked. `link-needed`: the user has no linked account there and can
 * link one. `no-oauth-client`: no account can be linked, until an admin enters an OAuth client. `no-token`: the
 * connection has no access token. `refused`: its token is refused, or may not read rights of users. `unavailable`: the
 * provider does not answer, or limits calls. `unsupported`: repositories of this provider are not listed yet.
 */
export const LISTING_STATES = [
  'listed',
  'link-needed',
  'no-oauth-client',
  'no-token',
  'refused',
  'unavailable',
  'unsupported',
] as const;
export const ListingState = z.enum(LISTING_STATES);
export type ListingState = z.infer<typeof ListingState>;

export const ListedConnection = z.object({
  connectionId: z.string(),
  provider: z.string(),
  providerName: z.string(),
  name: z.string(),
  host: z.string(),
  state: ListingState,
  /** What it means and what to do; `null` when it was listed whole. */
  text: z.string().nullable(),
});
export type ListedConnection = z.infer<typeof ListedConnection>;

/**
 * By `fullName`. A page may be short, and even empty, before the last one: rights are asked about for so many at a
 * time.
 */
export const RepositoryPage = pageOf(Repository).extend({
  /** Every connection of the organization to a git host, or the one that was asked for. */
  connections: z.array(ListedConnection),
});
export type RepositoryPage = z.infer<typeof RepositoryPage>;

export const ListRepositoriesQuery = z.object({
  /** Part of `owner/name`, in whichever case. A whole `owner/name` is searched by name as well. */
  query: z.string().trim().max(200).optional(),
  /** Only those of this connection. */
  connection: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(50).default(20),
  cursor: z.string().max(1_000).optional(),
});
export type ListRepositoriesQuery = z.infer<typeof ListRepositoriesQuery>;

export const RepositoryBranch = z.object({ name: z.string() });
export type RepositoryBranch = z.infer<typeof RepositoryBranch>;
export const RepositoryBranchPage = pageOf(RepositoryBranch);
export type RepositoryBranchPage = z.infer<typeof RepositoryBranchPage>;

export const ListBranchesQuery = z.object({
  connection: z.string().min(1).max(200),
  /** `owner/name`. */
  repository: RepositoryPath,
  /** Part of the name, in whichever case. */
  query: z.string().trim().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().max(500).optional(),
});
export type ListBranchesQuery = z.infer<typeof ListBranchesQuery>;
