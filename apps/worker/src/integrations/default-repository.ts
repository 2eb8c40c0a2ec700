import type { RepositoryGrant } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Provider, Thread } from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import { findRepositoryPlaces } from '@slipway/integrations/pull-requests';
import { readLinkedAccount } from '../pull-requests/pull-requests.queries.js';
import type { AskWriteAccess } from './write-access.js';

/** Connections that are asked for one repository: more than one to the same host are rare. */
const MAX_ASKED = 3;

/**
 * The repository of threads that name none, such as those of a chat: it is read for whoever may write to it at its own
 * host.
 */
export class DefaultRepository {
  constructor(
    private readonly pool: SqlPool,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly ask: AskWriteAccess,
  ) {}

  /** That of the place that the thread is in, else that of the connection. `null`: there is none. */
  urlOf({ provider, settings }: StoredConnection, { place }: Thread): string | null {
    const named = (this.providers.get(provider)?.places?.of(place) ?? []).map((each) => String(each).toLowerCase());
    const own = (settings.repositories ?? []).find((each) => named.includes(each.place.toLowerCase()));
    return own?.repository ?? settings.defaultRepository;
  }

  /**
   * `null`: no connection reaches it, or its host has not just confirmed that the user may write there. Then it is
   * cloned as anybody may.
   */
  async grantFor(orgId: string, url: string, userId: string, signal: AbortSignal): Promise<RepositoryGrant | null> {
    const places = await inOrg(this.pool, orgId, (client) => findRepositoryPlaces(client, orgId, url));
    const hosts = places.filter(({ connection }) => this.providers.get(connection.provider)?.codeHost !== undefined);
    for (const { connection, repository: fullName } of hosts.slice(0, MAX_ASKED)) {
      const account = await readLinkedAccount(this.pool, orgId, userId, connection);
      if (account === null) continue;
      const { access } = await this.ask(orgId, connection, { repository: { fullName }, actor: account }, signal);
      if (access === 'write') return { connectionId: connection.id, fullName };
    }
    return null;
  }
}
