import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { type Provider, ProviderRefusal } from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import { findPullRequest, type PullRequestRow, toPullRequest } from '@slipway/integrations/pull-requests';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { readConversation } from '../conversations/conversation.queries.js';
import { type ConversationLocks, LockBusy } from '../conversations/conversation-locks.js';
import { type ConversationLog, LostConversation } from '../conversations/conversation-log.js';
import type { ConnectionCalls } from '../integrations/connection-calls.js';
import { BAD_TOKEN } from '../integrations/write-access.js';
import { needAttention } from '../integrations/write-access.queries.js';
import { deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import { notePublished, type SeenPullRequest } from '../outcomes/pull-request-outcomes.queries.js';
import type { StartSteps } from '../start/start-steps.js';
import type { Fixes } from './fixes.js';
import { Later, outcomeOf } from './outcome.js';
import type { ConnectedHost, Publisher, PublishPlace } from './publisher.js';
import { lookAt } from './pull-request-state.js';
import { changePullRequest, findConnectionById, type PullRequestChange, postponeJob } from './pull-requests.queries.js';

const QUEUE = 'pull-request';
/** When another job works on the same pull request, this one comes again. Milliseconds. */
const BUSY_MS = 1_000;
/** Where a git host that is away says no time. Milliseconds. */
const AGAIN_MS = 5_000;
/** So long what was asked for waits for a git host that is away. Milliseconds. */
const GIVE_UP_MS = 60 * 60 * 1000;
/** Git hosts check for conflicts after they have answered. Milliseconds. */
const SETTLES_MS = 5_000;

/**
 * Brings one pull request to its desired state: publishes, merges, and reads its state. One job at a time works on one;
 * every step may be repeated after a crash.
 */
export class PullRequestJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly locks: ConversationLocks,
    private readonly log: ConversationLog,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly steps: StartSteps,
    private readonly publisher: Publisher,
    private readonly fixes: Fixes,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async run({ orgId, pullRequestId }: QueuePayload<typeof QUEUE>, signal: AbortSignal): Promise<void> {
    try {
      await this.locks.withLock(`pull-request:${pullRequestId}`, signal, (held) =>
        this.alone(orgId, pullRequestId, held),
      );
    } catch (error) {
      if (error instanceof LockBusy) return this.again({ id: pullRequestId, orgId }, BUSY_MS);
      if (!(error instanceof LostConversation)) throw error;
    }
  }

  private async alone(orgId: string, id: string, signal: AbortSignal): Promise<void> {
    const request = await readOutboxJob(this.pool, orgId, QUEUE, id);
    const row = await inOrg(this.pool, orgId, (client) => findPullRequest(client, orgId, id));
    const waitMs = row === null ? null : await this.bring(row, signal);
    if (waitMs !== null) {
      await postponeJob(this.pool, orgId, id, waitMs);
      return this.again({ id, orgId }, waitMs);
    }
    // What was asked for meanwhile has another row.
    if (request !== null) await deleteOutboxJob(this.pool, orgId, request.id);
  }

  private again({ id, orgId }: Pick<PullRequestRow, 'id' | 'orgId'>, delayMs: number): Promise<void> {
    return this.queue.add(QUEUE, { orgId, pullRequestId: id }, { key: id, delayMs });
  }

  /**
   * @returns when to come again, as the git host is away; `null`: what was wanted is done, or cannot be. Milliseconds.
   */
  private async bring(row: PullRequestRow, signal: AbortSignal): Promise<number | null> {
    const conversation = await readConversation(this.pool, row.orgId, row.conversationId);
    const connection =
      row.connectionId === null
        ? null
        : await inOrg(this.pool, row.orgId, (client) =>
            findConnectionById(client, row.orgId, row.connectionId as string),
          );
    if (conversation === null) return null;
    let host: ConnectedHost | null = null;
    try {
      host = connection === null ? null : await this.hostOf(row.orgId, connection, row.repository, signal);
    } catch (error) {
      // Its authorization is not renewed, or not now.
      if (connection === null || !(error instanceof ProviderRefusal)) throw error;
      return this.refused(row, {}, error, connection.host);
    }
    if (connection === null || host === null) {
      const why = new SlipwayError(
        'pull-request.no-connection',
        `No connection with an access token reaches ${row.host}/${row.repository}.`,
      );
      await this.write(row, this.failed(row, why));
      return null;
    }
    const place: PublishPlace = { connection, host, conversation, agent: this.steps.agentOf(conversation), signal };
    let change: PullRequestChange = {};
    let now = row;
    try {
      if (row.wantedVersion > row.doneVersion) {
        change = {
          ...(await this.publisher.publish(row, place)),
          doneVersion: row.wantedVersion,
          publish: 'done',
          problem: null,
        };
        this.logger.info(
          { pull_request: row.id, conversation_id: row.conversationId, number: change.number },
          'pull request published',
        );
      }
      const pushed = { ...row, ...change };
      if (pushed.mergeWanted !== null && pushed.number !== null)
        change = { ...change, ...(await this.merge({ ...pushed, number: pushed.number }, place)) };
      const after = { ...row, ...change };
      if (after.number !== null) {
        const look = await lookAt(host.calls, { ...after, number: after.number }, connection.own.ids, this.clock.now());
        change = { ...change, ...look.change };
        await this.noteOutcome({ ...after, number: after.number }, look.seen);
      }
      const seen = { ...row, ...change };
      if (seen.number !== null && (await this.fixes.bring({ ...seen, number: seen.number }, place)))
        now = (await inOrg(this.pool, row.orgId, (client) => findPullRequest(client, row.orgId, row.id))) ?? row;
      // A host's replicas may not all have the latest push yet.
      if (change.doneVersion !== undefined && change.conflicts !== false) await this.again(row, SETTLES_MS);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ProviderRefusal && error.kind === 'credential')
        await needAttention(this.pool, row.orgId, {
          connectionId: connection.id,
          tokenId: host.tokenId,
          why: BAD_TOKEN,
        });
      return this.refused(now, change, error, connection.host);
    }
    await this.write(now, change);
    return null;
  }

  private async noteOutcome(row: PullRequestRow & { readonly number: number }, seen: SeenPullRequest): Promise<void> {
    const { orgId, publishedAt, createdAt } = row;
    await inOrg(this.pool, orgId, (client) =>
      notePublished(client, orgId, { ...row, begunAt: publishedAt ?? createdAt }, seen),
    );
  }

  /** @returns when to come again; `null`: it cannot be. Milliseconds. */
  private async refused(
    row: PullRequestRow,
    done: PullRequestChange,
    error: unknown,
    host: string,
  ): Promise<number | null> {
    let change = done;
    let waitMs: number | null = null;
    const outcome = outcomeOf(error, host);
    this.logger.warn(
      { pull_request: row.id, conversation_id: row.conversationId, err: error },
      'failed to update a pull request',
    );
    const now = { ...row, ...change };
    if (outcome instanceof Later && wants(now) && this.clock.now().getTime() - askedAt(now) < GIVE_UP_MS) {
      waitMs = Math.max(outcome.at === null ? AGAIN_MS : outcome.at.getTime() - this.clock.now().getTime(), 1_000);
      if (now.publish === 'queued') change = { ...change, publish: 'waiting' };
    } else if (wants(now))
      change = {
        ...change,
        ...this.failed(
          now,
          outcome instanceof Later ? new SlipwayError('pull-request.host-away', outcome.message) : outcome,
        ),
      };
    await this.write(row, change);
    return waitMs;
  }

  /** `null`: the connection has no access token, or its provider is no git host that is called. */
  private async hostOf(
    orgId: string,
    connection: StoredConnection,
    repository: string,
    signal: AbortSignal,
  ): Promise<ConnectedHost | null> {
    const access = this.providers.get(connection.provider)?.codeHost;
    const opened =
      access === undefined ? null : await this.calls.open(orgId, connection, access, { repository, step: 'publish' });
    if (access === undefined || opened === null) return null;
    return { calls: access.calls(opened.client(signal)), access, token: opened.token, tokenId: opened.tokenId };
  }

  private async merge(
    row: PullRequestRow & { number: number },
    { host, connection, signal }: PublishPlace,
  ): Promise<PullRequestChange> {
    const { mergeWanted } = row;
    if (mergeWanted === null) return {};
    const place = { repository: row.repository, number: row.number };
    const pull = await host.calls.pullRequest(place);
    if (pull.state === 'merged') return { merge: 'done', mergeWanted: null, state: 'merged', problem: null };
    if (pull.headSha !== mergeWanted.sha)
      throw new SlipwayError('pull-request.moved', `Its head is ${pull.headSha.slice(0, 12)} by now.`);
    await this.publisher.assertMayWrite(row, mergeWanted.by.id, connection, signal);
    await host.calls.merge(place, mergeWanted.sha);
    this.logger.info({ pull_request: row.id, number: row.number }, 'pull request merged');
    return { merge: 'done', mergeWanted: null, state: 'merged', problem: null };
  }

  private failed(row: PullRequestRow, { code, detail, more }: SlipwayError): PullRequestChange {
    const protectedChanges = more.extensions?.['protectedChanges'];
    const problem = {
      code,
      detail,
      at: this.clock.now().toISOString(),
      ...(typeof protectedChanges === 'string' ? { protectedChanges } : {}),
    };
    return {
      problem,
      ...(row.wantedVersion > row.doneVersion ? { publish: 'failed' as const, doneVersion: row.wantedVersion } : {}),
      ...(row.mergeWanted === null ? {} : { merge: 'refused' as const, mergeWanted: null }),
      ...(row.fixWanted === null ? {} : { fixWanted: null }),
    };
  }

  /** One transaction: the row, and the event of the conversation's log when there is something to say. */
  private async write(row: PullRequestRow, change: PullRequestChange): Promise<void> {
    const { updatedAt, refreshedAt, ...shown } = toPullRequest({ ...row, ...change });
    const told = JSON.parse(JSON.stringify(shown)) as unknown;
    if (canonical(told) === canonical(row.told)) {
      await inOrg(this.pool, row.orgId, (client) => changePullRequest(client, row.orgId, row.id, change));
      return;
    }
    await this.log.write(row.orgId, row.conversationId, null, () => ({
      events: [{ kind: 'pull-request', pullRequest: { ...shown, updatedAt, refreshedAt } }],
      also: (client) => changePullRequest(client, row.orgId, row.id, { ...change, told }),
    }));
  }
}

/** When what is not done yet was asked for. */
const askedAt = ({ wanted, mergeWanted, fixWanted }: PullRequestRow): number =>
  Math.max(...[wanted.at, mergeWanted?.at, fixWanted?.at].flatMap((at) => (at === undefined ? [] : [Date.parse(at)])));
const wants = ({ wantedVersion, doneVersion, mergeWanted, fixWanted }: PullRequestRow): boolean =>
  wantedVersion > doneVersion || mergeWanted !== null || fixWanted !== null;

/** The database gives keys back in its own order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
