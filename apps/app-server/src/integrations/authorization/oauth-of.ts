import type { CredentialKind } from '@slipway/db/conversations';
import { baseUrlOf, type Provider } from '@slipway/integrations';
import type { ConnectionOAuth } from '@slipway/integrations/credentials';
import type { ConnectionRow } from '../connections.queries.js';

/**
 * How a connection obtains its credential by OAuth; `null`: it does not. One of the platform's own app has none of its
 * own.
 */
export function oauthOf(
  provider: Provider | undefined,
  connection: Pick<ConnectionRow, 'host' | 'settings' | 'platform'>,
): ConnectionOAuth | null {
  const oauth = provider?.oauth;
  if (oauth === undefined || connection.platform || oauth.supports?.(baseUrlOf(connection)) === false) return null;
  return oauth;
}

/** What was not granted of what is needed; none where the provider does not say what was. */
export function missingOf(needed: readonly string[], granted: readonly string[] | null): string[] {
  return granted === null ? [] : needed.filter((scope) => !granted.includes(scope));
}

/** What a credential of a connection has to be allowed, in the provider's words; empty where that is not known. */
export function neededScopes(provider: Provider | undefined, kind: CredentialKind): readonly string[] {
  if (kind === 'oauth-tokens') return provider?.oauth?.scopes ?? [];
  return kind === 'token' ? (provider?.tokens?.scopes ?? []) : [];
}
