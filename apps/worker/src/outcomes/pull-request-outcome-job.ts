import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { CodeHost, Provider } from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { type ConversationLocks, LockBusy } from '../conversations/conversation-locks.js';
import type { ConnectionCalls } from '../integrations/connection-calls.js';
import { deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import { Later, outcomeOf } from '../pull-requests/outcome.js';
import { findConnectionById } from '../pull-requests/pull-requests.queries.js';
import { nextLook, repeatedLook } from './next-look.js';
import {
  findOutcome,
  noteNextLook,
  noteSeen,
  noteWatched,
  type OutcomeRow,
  putOffOthers,
  type Watched,
  wantShown,
} from './pull-request-outcomes.queries.js';
import { seenPullRequest } from './seen-pull-request.js';
import { watchBranch } from './watch-branch.js';

const QUEUE = 'pull-request-outcome';
/** When another job polls the same one. Milliseconds. */
const BUSY_MS = 1_000;

/**
 * Asks the host what became of one pull request, and after its merge what came to its branch: on day 1, 7 and 14. Only
 * reads, and writes the same however often it is repeated. What could not be read stays unknown: it is never taken for
 * nothing having happened.
 */
export class PullRequestOutcomeJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly locks: ConversationLocks,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async run({ orgId, outcomeId }: QueuePayload<typeof QUEUE>, signal: AbortSignal): Promise<void> {
    try {
      await this.locks.withLock(`pull-request-outcome:${outcomeId}`, signal, (held) =>
        this.alone(orgId, outcomeId, held),
      );
    } catch (error) {
      if (!(error instanceof LockBusy)) throw error;
      await this.queue.add(QUEUE, { orgId, outcomeId }, { key: outcomeId, delayMs: BUSY_MS });
    }
  }

  private async alone(orgId: string, id: string, signal: AbortSignal): Promise<void> {
    const request = await readOutboxJob(this.pool, orgId, QUEUE, id);
    const row = await inOrg(this.pool, orgId, (client) => findOutcome(client, orgId, id));
    if (row !== null) await this.look(row, signal);
    // What was asked for meanwhile has another row.
    if (request !== null) await deleteOutboxJob(this.pool, orgId, request.id);
  }

  private async look(row: OutcomeRow, signal: AbortSignal): Promise<void> {
    const { orgId, id, host } = row;
    try {
      const connection = await this.connectionOf(row);
      const calls = connection === null ? null : await this.hostOf(row, connection, signal);
      if (connection === null || calls === null)
        return await this.again(row, null, 'no connection with an access token');
      await this.read(row, calls, connection.own.ids);
    } catch (error) {
      signal.throwIfAborted();
      const outcome = outcomeOf(error, host);
      this.logger.warn(
        { org_id: orgId, pull_request_outcome: id, err: error },
        'failed to read the outcome of a pull request, will retry',
      );
      const text = outcome instanceof Later ? outcome.message : outcome.detail;
      await this.again(row, outcome instanceof Later ? { at: outcome.at } : null, text);
    }
  }

  private async read(row: OutcomeRow, calls: CodeHost, own: readonly string[]): Promise<void> {
    const { orgId, id, repository, number } = row;
    const now = this.clock.now();
    const place = { repository, number };
    const [pull, reviews] = await Promise.all([calls.pullRequest(place), calls.reviews(repository, number)]);
    const seen = seenPullRequest(repository, { pull, reviews, own, seenAt: now });
    // Kept before the branch is read: that may fail.
    const looked = await inOrg(this.pool, orgId, async (client) => {
      await noteSeen(client, orgId, id, seen);
      // Its delivery was missed.
      if (seen.state !== row.state) await wantShown(client, orgId, row);
      return (await findOutcome(client, orgId, id)) ?? row;
    });
    const watched =
      looked.mergedAt === null ? null : await this.watch(calls, looked, pull, { mergedAt: looked.mergedAt, now });
    await inOrg(this.pool, orgId, async (client) => {
      if (watched !== null) await noteWatched(client, orgId, id, watched);
      const at = nextLook({ ...looked, watchedDays: watched?.watchedDays ?? 0 }, now);
      await noteNextLook(client, orgId, id, {
        at,
        attempts: 0,
        problem: watched === null && looked.mergedAt !== null ? 'the host has no history to read' : null,
      });
    });
  }

  private async watch(
    calls: CodeHost,
    row: OutcomeRow,
    pull: Parameters<typeof watchBranch>[2],
    { mergedAt, now }: { readonly mergedAt: Date; readonly now: Date },
  ): Promise<Watched | null> {
    return calls.history === undefined ? null : watchBranch(calls.history, row, pull, { mergedAt, now });
  }

  private async again(row: OutcomeRow, later: { readonly at: Date | null } | null, problem: string): Promise<void> {
    const { orgId, id } = row;
    await inOrg(this.pool, orgId, async (client) => {
      const now = (await findOutcome(client, orgId, id)) ?? row;
      const at = repeatedLook(now, now.attempts, later, this.clock.now());
      await noteNextLook(client, orgId, id, { at, attempts: now.attempts + 1, problem });
      if (later?.at != null && row.connectionId !== null) await putOffOthers(client, orgId, row.connectionId, later.at);
    });
  }

  private async connectionOf({ orgId, connectionId }: OutcomeRow): Promise<StoredConnection | null> {
    return connectionId === null
      ? null
      : inOrg(this.pool, orgId, (client) => findConnectionById(client, orgId, connectionId));
  }

  private async hostOf(
    { orgId, repository }: OutcomeRow,
    connection: StoredConnection,
    signal: AbortSignal,
  ): Promise<CodeHost | null> {
    const access = this.providers.get(connection.provider)?.codeHost;
    const opened =
      access === undefined ? null : await this.calls.open(orgId, connection, access, { repository, step: 'publish' });
    return access === undefined || opened === null ? null : access.calls(opened.client(signal));
  }
}
