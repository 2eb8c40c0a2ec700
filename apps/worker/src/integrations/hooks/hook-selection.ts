import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type CodeHost, type Provider, ProviderRefusal } from '@slipway/integrations';
import { findHookConnection } from '@slipway/integrations/hooks';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { deleteOutboxJob, readOutboxJob } from '../../orgs/orgs.queries.js';
import type { ConnectionCalls } from '../connection-calls.js';
import { NO_TOKEN } from '../write-access.js';
import { isExact, matchesPattern } from './hook-pattern.js';
import { addHooks, noteListed } from './hooks.queries.js';

const QUEUE = 'integration-hooks';
/** Pages of repositories that are read; each has fifty or a hundred. */
const MAX_PAGES = 100;

/**
 * Finds the repositories that an admin has chosen by patterns, and wants a webhook for each that has none. Done again
 * each day, for repositories that came since.
 */
export class HookSelection {
  constructor(
    private readonly pool: SqlPool,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly queue: Queue,
    private readonly logger: Logger,
  ) {}

  async run({ orgId, connectionId }: QueuePayload<typeof QUEUE>, signal: AbortSignal): Promise<void> {
    const job = await readOutboxJob(this.pool, orgId, QUEUE, connectionId);
    const connection = await inOrg(this.pool, orgId, (client) => findHookConnection(client, orgId, connectionId));
    if (connection !== null && connection.patterns.length > 0 && connection.state !== 'disabled') {
      const access = this.providers.get(connection.provider)?.codeHost;
      const opened = access === undefined ? null : await this.calls.open(orgId, connection, access);
      const names = connection.patterns.filter(isExact);
      let problem: string | null = opened === null ? NO_TOKEN : null;
      if (access !== undefined && opened !== null)
        try {
          const found = await this.matching(
            access.calls(opened.client(signal)),
            connection.patterns.filter((pattern) => !isExact(pattern)),
          );
          names.push(...found.names);
          if (!found.whole) problem = `${connection.host} has more repositories than are searched.`;
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof ProviderRefusal)) throw error;
          this.logger.warn({ connection_id: connectionId, err: error }, 'failed to list repositories for webhooks');
          problem =
            error.kind === 'unavailable' || error.kind === 'limited'
              ? `${connection.host} does not list its repositories now.`
              : `${connection.host} refuses to list its repositories.`;
        }
      const added = await inOrg(this.pool, orgId, async (client) => {
        const made = await addHooks(client, orgId, connectionId, names);
        await noteListed(
          client,
          orgId,
          connectionId,
          made.whole ? problem : 'More repositories match than Slipway makes webhooks of one connection.',
        );
        return made;
      });
      for (const hookId of added.ids) await this.queue.add('integration-hook', { orgId, hookId }, { key: hookId });
    }
    if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
  }

  private async matching(calls: CodeHost, patterns: readonly string[]): Promise<{ names: string[]; whole: boolean }> {
    const names: string[] = [];
    if (patterns.length === 0) return { names, whole: true };
    let page: string | null = null;
    for (let looked = 0; looked < MAX_PAGES; looked += 1) {
      const { items, next }: Awaited<ReturnType<CodeHost['repositories']>> = await calls.repositories(page);
      names.push(
        ...items
          .map(({ fullName }) => fullName)
          .filter((name) => patterns.some((pattern) => matchesPattern(pattern, name))),
      );
      if (next === null) return { names, whole: true };
      page = next;
    }
    return { names, whole: false };
  }
}
