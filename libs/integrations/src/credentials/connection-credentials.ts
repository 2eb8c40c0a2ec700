import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import {
  type Credential,
  type CredentialConnection,
  type CredentialNeed,
  type CredentialSource,
  enteredToken,
} from './credential.js';
import { findCredentialSecret, type StoredCredential } from './credentials.queries.js';

/**
 * The one place that answers what a call of a connection authenticates with: each kind of stored credential is a
 * source.
 */
export class ConnectionCredentials {
  private readonly sources: ReadonlyMap<string, CredentialSource>;

  /** @param sources beside that of entered access tokens. */
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    sources: readonly CredentialSource[] = [],
  ) {
    this.sources = new Map([enteredToken, ...sources].map((source) => [source.kind, source]));
  }

  /**
   * `null`: the connection has none. @throws SlipwayError `secret.unreadable`; what its source and the database throw.
   */
  async credential(
    orgId: string,
    connection: CredentialConnection,
    need: CredentialNeed = {},
  ): Promise<Credential | null> {
    const stored = await inOrg(this.pool, orgId, (client) => findCredentialSecret(client, orgId, connection.id));
    return stored === null ? null : this.of(orgId, connection, stored, need);
  }

  /** The same, where what is stored is read already. */
  async of(
    orgId: string,
    connection: CredentialConnection,
    stored: StoredCredential,
    need: CredentialNeed = {},
  ): Promise<Credential> {
    const { id, kind, ...sealed } = stored;
    const source = this.sources.get(kind);
    if (source === undefined) throw new Error(`no source of credentials of the kind ${kind}`);
    let value: string;
    try {
      value = await this.envelope.open(
        orgId,
        sealed,
        integrationSecretContext({ id, connectionId: connection.id, kind }),
      );
    } catch (error) {
      throw new SlipwayError('secret.unreadable', 'The credential of the connection cannot be opened.', {
        cause: error,
      });
    }
    return source.credential(orgId, connection, { id, value }, need);
  }
}
