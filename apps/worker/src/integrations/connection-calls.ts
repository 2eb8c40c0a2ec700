import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { baseUrlOf, ProviderClient } from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import type { ProviderDispatch } from '@slipway/integrations/dispatch';
import { findToken } from './write-access.queries.js';

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
  /** Of the access token that it calls with. */
  readonly tokenId: string;
}

/** Calls to the provider of a connection, with its access token, through the guard against addresses of our own network. */
export class ConnectionCalls {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly dispatch: ProviderDispatch,
    private readonly clock: Clock,
  ) {}

  /** `null`: the connection has no access token. @throws SlipwayError `secret.unreadable`; what the database throws. */
  async open(orgId: string, connection: StoredConnection, access: ApiAccess): Promise<OpenedConnection | null> {
    const sealed = await findToken(this.pool, orgId, connection.id);
    if (sealed === null) return null;
    const { id, ...bytes } = sealed;
    let token: string;
    try {
      token = await this.envelope.open(orgId, bytes, integrationSecretContext({ id, connectionId: connection.id, kind: 'token' }));
    } catch (error) {
      throw new SlipwayError('secret.unreadable', 'The access token of the connection cannot be opened.', { cause: error });
    }
    const client = (signal: AbortSignal): ProviderClient =>
      new ProviderClient({
        baseUrl: access.apiUrl(baseUrlOf(connection)),
        authorization: access.authorization(token),
        dispatch: (url, request) => this.dispatch.send(url, request, signal),
        now: () => this.clock.now(),
      });
    return { client, token, tokenId: id };
  }
}
