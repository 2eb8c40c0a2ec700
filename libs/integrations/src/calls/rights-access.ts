import type { Actor } from '../intent.js';
import type { FullName, Permission } from './code-host.js';
import type { ProviderClient } from './provider-client.js';

/** How a provider is asked for a user's rights in a repository. */
export interface RightsAccess {
  /** The value of `authorization` for an access token. */
  readonly authorization: (token: string) => string;
  /** Of the API of the instance whose pages are at `baseUrl`; neither ends with a slash. */
  readonly apiUrl: (baseUrl: string) => string;
  readonly permissionOf: (
    client: ProviderClient,
    repository: FullName,
    actor: Pick<Actor, 'id' | 'login'>,
  ) => Promise<Permission>;
}
