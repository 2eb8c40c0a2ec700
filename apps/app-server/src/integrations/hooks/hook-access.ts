import { Inject, Injectable } from '@nestjs/common';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { notFound, SlipwayError } from '@slipway/errors';
import { baseUrlOf, type Provider, type RepositoryHooks } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { SQL_POOL } from '../../platform/tokens.js';
import { type ConnectionRow, findConnection } from '../connections.queries.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { ProviderCalls } from '../provider-calls.js';

interface Callable {
  readonly row: ConnectionRow;
  readonly hooks: RepositoryHooks;
}

/** Reaches the webhooks at a connection's git host with the connection's credential. */
@Injectable()
export class HookAccess {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly credentials: ConnectionCredentials,
    private readonly calls: ProviderCalls,
  ) {}

  /** @throws SlipwayError `resource.not-found`, `integration.no-token`, `integration.hooks-unsupported`. */
  async callable(orgId: string, connectionId: string): Promise<Callable> {
    const row = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, connectionId));
    if (row === null) throw notFound();
    const access = this.providers.get(row.provider)?.codeHost;
    if (access?.hooks === undefined)
      throw new SlipwayError('integration.hooks-unsupported', 'Slipway makes no webhooks at this provider yet.');
    const credential = await this.asking(row, () => this.credentials.credential(orgId, row));
    if (credential === null) throw new SlipwayError('integration.no-token', `${row.name} has no credential.`);
    const other = (): ReturnType<ConnectionCredentials['credential']> =>
      this.credentials.credential(orgId, row, { refused: credential.id });
    return {
      row,
      hooks: access.hooks(
        this.calls.clientOf(
          access.apiUrl(credential.baseUrl ?? baseUrlOf(row)),
          access.authorization,
          credential,
          other,
        ),
      ),
    };
  }

  /** @throws SlipwayError in place of what a call of the git host rejects with. */
  async asking<T>({ host }: ConnectionRow, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.calls.problem(error, host);
    }
  }
}

/** @throws SlipwayError `integration.no-secret` */
export function assertOwnHooks({ platform }: ConnectionRow): void {
  if (platform)
    throw new SlipwayError(
      'integration.no-secret',
      'Its deliveries come to the platform’s own app, which needs no webhook.',
    );
}
