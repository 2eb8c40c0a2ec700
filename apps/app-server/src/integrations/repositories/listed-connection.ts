import type { ListedConnection, ListingState } from '@slipway/contracts/repositories';
import type { SlipwayError } from '@slipway/errors';
import type { ReachedHost, UnreachedHost } from './code-hosts.js';

/**
 * What became of one connection, with what it means. @param found.note when it was asked, and not everything is there.
 */
export function listedConnection(
  host: ReachedHost | UnreachedHost,
  { problem, note }: { readonly problem?: SlipwayError | undefined; readonly note?: string | undefined },
): ListedConnection {
  const { row, provider } = host;
  const is = (state: ListingState, text: string | null): ListedConnection => ({
    connectionId: row.id,
    provider: row.provider,
    providerName: provider?.name ?? row.provider,
    name: row.name,
    host: row.host,
    state,
    text,
  });
  if ('why' in host) return is(host.why, whyUnreached(host));
  if (problem !== undefined)
    return is(problem.code === 'integration.provider-away' ? 'unavailable' : 'refused', problem.detail);
  return is('listed', note ?? null);
}

export function whyUnreached({ row, provider, why }: UnreachedHost): string {
  const name = provider?.name ?? row.provider;
  switch (why) {
    case 'unsupported':
      return `Slipway does not list repositories of ${name} yet.`;
    case 'no-token':
      return `The connection ${row.name} has no access token. An admin enters one.`;
    case 'no-oauth-client':
      return `Accounts at ${row.host} cannot be linked yet. An admin enters an OAuth client for ${row.name}.`;
    case 'link-needed':
      return `Link your account at ${row.host} to see your repositories.`;
  }
}
