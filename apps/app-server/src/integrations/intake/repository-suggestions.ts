import { type Permission, type Principal, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type Actor, NO_REPOSITORY, type Provider } from '@slipway/integrations';
import { findActor } from '@slipway/integrations/deliveries';
import type { Logger } from '@slipway/telemetry';
import { findConnection } from '../connections.queries.js';
import type { RepositoriesService } from '../repositories/repositories.service.js';

/**
 * Slack shows nothing of an answer that takes 3 s. What comes later is held for the next letter that is typed.
 * Milliseconds.
 */
const ANSWER_MS = 2_000;
const MAX_OPTIONS = 20;

export interface Suggestion {
  readonly label: string;
  readonly value: string;
}

/**
 * Repositories for a choice in a thread, while an actor types: those that the linked user may read, as on our own
 * pages. No other actor learns a name.
 */
export class RepositorySuggestions {
  constructor(
    private readonly pool: SqlPool,
    private readonly repositories: Pick<RepositoriesService, 'list'>,
    private readonly logger: Logger,
  ) {}

  /** Never longer than 2 s. */
  async of(
    provider: Provider,
    connection: { readonly id: string; readonly orgId: string },
    typed: string,
    actor: Actor,
  ): Promise<readonly Suggestion[]> {
    const caller = actor.foreign === true ? null : await this.callerOf(provider, connection, actor);
    if (caller === null) return [];
    const listed = this.repositories.list(caller, { query: typed, limit: MAX_OPTIONS }).then(
      ({ data }) =>
        data.map(({ connectionId, fullName }) => ({
          label: fullName,
          value: `${connectionId.slice(0, 8)} ${fullName}`,
        })),
      (error: unknown) => {
        this.logger.warn({ err: error, connection_id: connection.id }, 'failed to list repositories for suggestions');
        return [];
      },
    );
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<readonly Suggestion[]>((resolve) => {
      timer = setTimeout(() => resolve([]), ANSWER_MS);
    });
    try {
      const found = await Promise.race([listed, late]);
      return typed === '' ? [{ label: 'No repository', value: NO_REPOSITORY }, ...found] : found;
    } finally {
      clearTimeout(timer);
    }
  }

  /** `null`: an actor who could start nothing here. */
  private callerOf(
    { id: provider }: Provider,
    { id, orgId }: { readonly id: string; readonly orgId: string },
    actor: Actor,
  ): Promise<Principal | null> {
    return inOrg(this.pool, orgId, async (client) => {
      const connection = await findConnection(client, orgId, id);
      if (connection === null || connection.state === 'disabled') return null;
      const user = await findActor(client, orgId, { provider, host: connection.host, id: actor.id });
      if (user === null || user.role === null) return null;
      const permissions = new Set<Permission>(ROLE_PERMISSIONS[user.role]);
      return permissions.has('conversation:create')
        ? { orgId, actor: { kind: 'user', id: user.userId, label: user.label }, permissions }
        : null;
    });
  }
}
