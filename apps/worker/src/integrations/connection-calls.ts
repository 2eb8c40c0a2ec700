import type { Clock } from '@slipway/domain';
import { baseUrlOf, type Connect, ProviderClient } from '@slipway/integrations';
import { type ConnectionCredentials, type CredentialNeed, freshDispatch } from '@slipway/integrations/credentials';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import type { ProviderDispatch } from '@slipway/integrations/dispatch';

/** How an API of a provider is called. */
export interface ApiAccess {
  readonly authorization: (token: string) => string;
  readonly apiUrl: (baseUrl: string) => string;
}

export interface OpenedConnection {
  /** @param signal ends its calls. @throws Error when the settings of the connection name another host than its own. */
  readonly client: (signal: AbortSignal) => ProviderClient;
  /** The access token itself, for git. Never logged. */
  readonly token: string;
  /** Of the credential that it calls with. */
  readonly tokenId: string;
}

/**
 * Calls to the provider of a connection, with its credential, through the guard against addresses of our own network.
 */
export class ConnectionCalls {
  constructor(
    private readonly credentials: ConnectionCredentials,
    private readonly dispatch: ProviderDispatch,
    private readonly clock: Clock,
  ) {}

  /**
   * `null`: the connection has no credential. @throws SlipwayError `secret.unreadable`; what the source of the
   * credential and the database throw.
   */
  async open(
    orgId: string,
    connection: StoredConnection,
    access: ApiAccess,
    need: CredentialNeed = {},
  ): Promise<OpenedConnection | null> {
    const credential = await this.credentials.credential(orgId, connection, need);
    if (credential === null) return null;
    const { token, id, baseUrl } = credential;
    const client = (signal: AbortSignal): ProviderClient =>
      new ProviderClient({
        baseUrl: access.apiUrl(baseUrl ?? baseUrlOf(connection)),
        authorization: access.authorization(token),
        dispatch: freshDispatch(
          (url, request) => this.dispatch.send(url, request, signal),
          access.authorization,
          credential,
          () => this.credentials.credential(orgId, connection, { ...need, refused: id }),
        ),
        now: () => this.clock.now(),
      });
    return { client, token, tokenId: id };
  }
}

/** Calls that are of no connection's token: as an app, or as an installation. Each ends by its own limit of time. */
export function connectWith(dispatch: ProviderDispatch, clock: Clock): Connect {
  const never = new AbortController().signal;
  return (baseUrl, authorization) =>
    new ProviderClient({
      baseUrl,
      authorization,
      dispatch: (url, request) => dispatch.send(url, request, never),
      now: () => clock.now(),
    });
}
