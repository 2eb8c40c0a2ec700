import { SlipwayError } from '@slipway/errors';
import { baseUrlOf, isAtHost, type Provider } from '@slipway/integrations';
import { assertOutside } from '@slipway/outside';

/** What of a connection says where its provider is called, and with what. */
export interface CodeHostSettings {
  readonly host: string;
  readonly settings: { readonly baseUrl?: string | null };
  readonly token?: string | null | undefined;
}

/**
 * Whether a connection may be called at its address with a token. The worker checks the address it connects to again.
 * @param privateHosts may be anywhere, and over http.
 * @throws SlipwayError `request.invalid` for what the provider does not take; `settings.url-refused` for an address
 * that leads inside.
 */
export async function assertCodeHost(
  provider: Provider,
  connection: CodeHostSettings,
  privateHosts: readonly string[],
): Promise<void> {
  const { host, settings, token = null } = connection;
  const { baseUrl = null } = settings;
  if (token === null && baseUrl === null) return;
  if (token !== null && provider.rights === undefined && provider.answers === undefined)
    throw invalid('token', `is not used for ${provider.name}`);
  if (provider.codeHost === undefined && provider.linking === undefined && provider.answers === undefined)
    throw invalid('settings.baseUrl', `is not used for ${provider.name}`);
  if (baseUrl !== null && !isAtHost(baseUrl, host))
    throw invalid('settings.baseUrl', `is not at ${host}, the host of the connection`);
  const url = baseUrlOf(connection);
  await assertOutside(url, privateHosts.includes(new URL(url).host));
}

export function invalid(path: string, message: string): SlipwayError {
  return new SlipwayError('request.invalid', `${path}: ${message}`, { fields: [{ path, message }] });
}
