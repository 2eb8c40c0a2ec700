import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { ProviderRefusal } from '@slipway/integrations';
import { findPullRequest, type PullRequestRow } from '@slipway/integrations/pull-requests';
import type { Logger } from '@slipway/telemetry';
import { BAD_TOKEN } from '../integrations/write-access.js';
import { needAttention } from '../integrations/write-access.queries.js';
import { notePublished, type SeenPullRequest } from '../outcomes/pull-request-outcomes.queries.js';
import type { Fixes } from './fixes.js';
import { Later, outcomeOf } from './outcome.js';
import type { PublishPlaces } from './publish-places.js';
import type { Publisher, PublishPlace } from './publisher.js';
import type { PullRequestRecord } from './pull-request-record.js';
import { lookAt } from './pull-request-state.js';
import { type PullRequestChange } from './pull-requests.queries.js';

/** Where a git host that is away says no time. Milliseconds. */
const AGAIN_MS = 5_000;
/** So long what was asked for waits for a git host that is away. Milliseconds. */
const GIVE_UP_MS = 60 * 60 * 1000;
/** Git hosts check for conflicts after they have answered. Milliseconds. */
const SETTLES_MS = 5_000;

/** Publishes, merges and fixes a pull request as wanted, and reads its state. */
export class PullRequestSync {
  constructor(
    private readonly pool: SqlPool,
    private readonly places: PublishPlaces,
    private readonly publisher: Publisher,
    private readonly fixes: Fixes,
    private readonly record: PullRequestRecord,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * @param again asks for another job on the same pull request.
   * @returns when to come again, as the git host is away; `null`: what was wanted is done, or cannot be. Milliseconds.
   */
  async bring(
    row: PullRequestRow,
    { signal, again }: { readonly signal: AbortSignal; readonly again: (delayMs: number) => Promise<void> },
  ): Promise<number | null> {
    const conversation = await this.places.conversationOf(row);
    const connection = await this.places.connectionOf(row);
    if (conversation === null) return null;
    let place: PublishPlace | null = null;
    try {
      place = connection === null ? null : await this.places.open(row, conversation, connection, signal);
    } catch (error) {
      // Its authorization is not renewed, or not now.
      if (connection === null || !(error instanceof ProviderRefusal)) throw error;
      return this.refused(row, {}, error, connection.host);
    }
    if (place === null) {
      const why = new SlipwayError(
        'pull-request.no-connection',
        `No connection with an access token reaches ${row.host}/${row.repository}.`,
      );
      await this.record.write(row, this.failed(row, why));
      return null;
    }
    return this.work(row, place, again);
  }

  /** @returns as `bring`. */
  private async work(
    row: PullRequestRow,
    place: PublishPlace,
    again: (delayMs: number) => Promise<void>,
  ): Promise<number | null> {
    const { connection, host, signal } = place;
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
      if (change.doneVersion !== undefined && change.conflicts !== false) await again(SETTLES_MS);
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
    await this.record.write(now, change);
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
    await this.record.write(row, change);
    return waitMs;
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
}

/** When what is not done yet was asked for. */
const askedAt = ({ wanted, mergeWanted, fixWanted }: PullRequestRow): number =>
  Math.max(...[wanted.at, mergeWanted?.at, fixWanted?.at].flatMap((at) => (at === undefined ? [] : [Date.parse(at)])));
const wants = ({ wantedVersion, doneVersion, mergeWanted, fixWanted }: PullRequestRow): boolean =>
  wantedVersion > doneVersion || mergeWanted !== null || fixWanted !== null;
