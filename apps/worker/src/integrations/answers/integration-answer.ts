import { type QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import {
  type Answer,
  type AnswerAccess,
  type Asked,
  baseUrlOf,
  type Permission,
  type Provider,
  type ProviderClient,
  ProviderRefusal,
  type RightsAccess,
  type ThreadAnswers,
  type ThreadLink,
  type TicketStage,
} from '@slipway/integrations';
import { Notice } from '@slipway/integrations/deliveries';
import type { Logger } from '@slipway/telemetry';
import { delayOutboxRow, deleteOutboxJob, readOutboxJob } from '../../orgs/orgs.queries.js';
import type { ConnectionCalls, OpenedConnection } from '../connection-calls.js';
import { BAD_TOKEN, NO_TOKEN } from '../write-access.js';
import { needAttention } from '../write-access.queries.js';
import { AnswerContent, type Shown } from './answer-content.js';
import {
  type AnswerRow,
  answersOf,
  dropAnswer,
  type EndedTurn,
  endTurn,
  forgetComment,
  limitConnection,
  lockAnswer,
  noteResting,
  takeTurn,
  threadsToAnswer,
  wantEffect,
  wantProgress,
} from './answers.queries.js';
import { type CallFailure, failureOf } from './call-failure.js';
import { effectsOf } from './effects.js';
import { sentenceOf } from './notice.js';
import { readEffectFacts } from './progress.queries.js';
import { readyReply } from './replies.queries.js';

export interface AnswerSettings {
  /** Where Slipway's pages are; `null`: answers have no link. */
  readonly publicUrl: string | null;
  /**
   * A job that calls a provider has it for so long; one that died leaves it free after this. Longer than `callMs`.
   * Milliseconds.
   */
  readonly leaseMs: number;
  /** Longest for what one turn calls. Milliseconds. */
  readonly callMs: number;
  /** Minimum interval of two edits when no user waits for the second. Milliseconds. */
  readonly calmMs: number;
  /** Where each state is one more message: interval of the updates on a working agent. Milliseconds. */
  readonly followMs: number;
  /** A call that was not answered may have its effect later: no search before this. Milliseconds. */
  readonly unknownMs: number;
}
export const ANSWER_SETTINGS = {
  leaseMs: 40_000,
  callMs: 25_000,
  calmMs: 15_000,
  followMs: 30_000,
  unknownMs: 30_000,
} as const;

/**
 * Where a provider that is away says no time: the first wait, doubled for each further attempt up to the longest.
 * Milliseconds.
 */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 300_000;
/** So long after the first failure an answer is given up: it is stale by then. Milliseconds. */
const GIVE_UP_MS = 24 * 60 * 60 * 1000;
/** Turns of one job for one answer: what it shows may have changed while it was called. */
const MAX_TURNS = 4;

/** What the next turn of an answer is. */
type Plan =
  | { readonly kind: 'done' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'call'; readonly row: AnswerRow; readonly turn: number; readonly shown: Shown };

/**
 * Brings what the threads of a conversation show up to date: first that its requests were seen, then the one progress
 * comment of each thread.
 *
 * A job may be repeated, overlap with another or die between any two steps. One job at a time has the turn of an
 * answer, by a lease in its row. That a comment is to be created is committed before the call; while its outcome is
 * unknown, the comment is searched by its marker before another is made.
 */
export class IntegrationAnswer {
  private readonly content: AnswerContent;

  constructor(
    private readonly pool: SqlPool,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly clock: Clock,
    private readonly settings: AnswerSettings,
    private readonly logger: Logger,
  ) {
    this.content = new AnswerContent(clock, settings.publicUrl);
  }

  /**
   * @returns how long until it is to run again, which the outbox sees to. Milliseconds; `null`: everything is shown.
   */
  async run(
    { orgId, conversationId }: QueuePayload<'integration-answer'>,
    signal: AbortSignal,
  ): Promise<number | null> {
    const wanted = await readOutboxJob(this.pool, orgId, 'integration-answer', conversationId);
    const ids = await inOrg(this.pool, orgId, async (client) => {
      await this.want(client, orgId, conversationId);
      return answersOf(client, orgId, conversationId);
    });
    return this.bringAll(orgId, ids, wanted, signal);
  }

  /** The same for a refusal that is to be said. */
  async runNotice(
    { orgId, answerId }: QueuePayload<'integration-notice'>,
    signal: AbortSignal,
  ): Promise<number | null> {
    const wanted = await readOutboxJob(this.pool, orgId, 'integration-notice', answerId);
    return this.bringAll(orgId, [answerId], wanted, signal);
  }

  /**
   * Wherever its provider is answered, each thread has its comment, and what else the settings of its connection say.
   */
  private async want(client: PoolClient, orgId: string, conversationId: string): Promise<void> {
    const facts = await readEffectFacts(client, orgId, conversationId);
    if (facts === null) return;
    for (const thread of await threadsToAnswer(client, orgId, conversationId)) {
      const provider = this.providers.get(thread.provider);
      if (provider?.answers === undefined) continue;
      await wantProgress(client, orgId, conversationId, thread);
      const url = this.content.urlOf(facts.orgSlug, conversationId);
      for (const effect of effectsOf(thread, provider, { conversationId, url, pulls: facts.pulls }))
        await wantEffect(client, orgId, conversationId, { thread, effect });
    }
  }

  private async bringAll(
    orgId: string,
    ids: readonly string[],
    wanted: { readonly id: string } | null,
    signal: AbortSignal,
  ): Promise<number | null> {
    const waits: number[] = [];
    for (const id of ids) {
      const wait = await this.bring(orgId, id, signal);
      if (wait !== null) waits.push(wait);
    }
    const next = waits.length === 0 ? null : Math.ceil(Math.min(...waits));
    if (wanted !== null) {
      if (next === null) await deleteOutboxJob(this.pool, orgId, wanted.id);
      else await delayOutboxRow(this.pool, orgId, wanted.id, next);
    }
    return next;
  }

  private async bring(orgId: string, id: string, signal: AbortSignal): Promise<number | null> {
    for (let turns = 0; turns < MAX_TURNS; turns += 1) {
      signal.throwIfAborted();
      const plan = await inOrg(this.pool, orgId, (client) => this.plan(client, orgId, id));
      if (plan.kind === 'done') return null;
      if (plan.kind === 'wait') return plan.ms;
      const failed = await this.take(orgId, plan, signal);
      if (failed !== null) return failed.waitMs;
      if (plan.row.kind === 'seen') return null;
    }
    return this.settings.calmMs;
  }

  /**
   * Decides under the locks of the answer and of its connection, and takes the turn when there is something to call.
   */
  private async plan(client: PoolClient, orgId: string, id: string): Promise<Plan> {
    const row = await lockAnswer(client, orgId, id);
    if (row === null || row.state === 'given-up' || row.connection.state === 'disabled') return { kind: 'done' };
    const access = this.providers.get(row.connection.provider)?.answers;
    if (access === undefined) return { kind: 'done' };
    const shown = await this.content.of(client, orgId, row, access);
    if (shown === null) return { kind: 'done' };
    if (row.state === 'shown' && row.shown === shown.hash)
      return shown.moving ? { kind: 'wait', ms: this.settings.followMs } : { kind: 'done' };
    if (row.busyMs !== null) return { kind: 'wait', ms: row.busyMs + 1 };
    const now = this.clock.now();
    if (row.connection.state === 'needs-attention') return this.rest(client, orgId, row, now);
    const calmUntil =
      shown.calm && row.externalId !== null && row.editedAt !== null
        ? row.editedAt.getTime() + this.settings.calmMs
        : 0;
    // An actor waiting for a first reaction goes before updates.
    const place = row.kind === 'seen' && access.follows?.(row.place) === true ? 0 : placeInPace(row, access);
    const from = Math.max(row.retryAt?.getTime() ?? 0, row.limitedUntil?.getTime() ?? 0, calmUntil, place);
    if (from > now.getTime()) return { kind: 'wait', ms: from - now.getTime() };
    const pacedUntil = new Date(Math.max(row.pacedUntil?.getTime() ?? 0, now.getTime()) + access.pace.everyMs);
    return {
      kind: 'call',
      row,
      turn: await takeTurn(client, orgId, row, { now, leaseMs: this.settings.leaseMs, pacedUntil }),
      shown,
    };
  }

  /** Nothing is called with a token that the provider refuses. */
  private async rest(client: PoolClient, orgId: string, row: AnswerRow, now: Date): Promise<Plan> {
    const late = row.failingSince !== null && now.getTime() - row.failingSince.getTime() > GIVE_UP_MS;
    await noteResting(client, orgId, row.id, { state: late ? 'given-up' : 'waiting', problem: BAD_TOKEN, now });
    return late ? { kind: 'done' } : { kind: 'wait', ms: LONGEST_WAIT_MS };
  }

  /** One turn. @returns what kept it from its end; `null`: it has come to it. */
  private async take(
    orgId: string,
    plan: Extract<Plan, { kind: 'call' }>,
    signal: AbortSignal,
  ): Promise<{ waitMs: number | null } | null> {
    const { row, turn } = plan;
    const access = this.providers.get(row.connection.provider)?.answers as AnswerAccess;
    const within = AbortSignal.any([signal, AbortSignal.timeout(this.settings.callMs)]);
    const repository = access.repositoryOf?.(row.place) ?? null;
    let opened: OpenedConnection | null = null;
    try {
      opened = await this.calls.open(
        orgId,
        row.connection,
        access,
        repository === null ? {} : { repository, step: 'answer' },
      );
      if (opened === null)
        return this.failed(orgId, plan, { kind: 'final', problem: NO_TOKEN, certain: row.triedAt === null });
      const client = opened.client(within);
      if (row.kind === 'notice')
        await this.notify(orgId, plan, access.calls(client, baseUrlOf(row.connection)), client);
      else await this.call(orgId, plan, access.calls(client, baseUrlOf(row.connection)));
      return null;
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error, row.connection.host, row.kind);
      if (failure === null) throw error;
      if (
        failure.kind === 'credential' &&
        opened !== null &&
        (await needAttention(this.pool, orgId, {
          connectionId: row.connection.id,
          tokenId: opened.tokenId,
          why: BAD_TOKEN,
        }))
      )
        this.logger.warn({ connection_id: row.connection.id }, 'access token of a connection refused');
      if (failure.kind === 'gone' && row.externalId !== null && row.kind !== 'reply')
        await inOrg(this.pool, orgId, (client) => forgetComment(client, orgId, row.id, turn));
      return this.failed(orgId, plan, failure);
    }
  }

  /**
   * Users with write access see more than other commenters: the provider is asked first where the actor is not
   * linked.
   */
  private async notify(
    orgId: string,
    plan: Extract<Plan, { kind: 'call' }>,
    calls: ThreadAnswers,
    client: ProviderClient,
  ): Promise<void> {
    const { row, turn } = plan;
    const notice = Notice.parse(row.detail);
    const rights = this.providers.get(row.connection.provider)?.rights;
    const asks = notice.code === 'actor-not-linked' && notice.repository !== null && rights !== undefined;
    const permission = asks ? await permissionOf(rights, client, notice) : null;
    const mayWrite =
      permission !== null &&
      permission.userId === notice.actor.id &&
      (permission.access === 'admin' || permission.access === 'write');
    const said = sentenceOf(notice, mayWrite, this.settings.publicUrl);
    if (said !== null)
      return this.call(
        orgId,
        { ...plan, shown: { ...plan.shown, answer: { ...said, marker: row.marker, revision: row.revision } } },
        calls,
      );
    // Kept, so that the provider is not asked about the same actor again.
    await inOrg(this.pool, orgId, (own) =>
      endTurn(own, orgId, row.id, { turn, result: { state: 'given-up', certain: true } }),
    );
  }

  private async call(
    orgId: string,
    { row, turn, shown: { answer, hash, status = null } }: Extract<Plan, { kind: 'call' }>,
    calls: ThreadAnswers,
  ): Promise<void> {
    const end = (result: Omit<EndedTurn['result'], 'certain'>): Promise<void> =>
      inOrg(this.pool, orgId, (client) =>
        endTurn(client, orgId, row.id, { turn, result: { ...result, certain: true } }),
      );
    const now = this.clock.now();
    if (row.kind === 'reply' && answer !== null) return end(await this.reply(row, answer, hash, calls));
    if (answer === null) {
      if (row.kind === 'link') await calls.link?.(row.place, row.detail as ThreadLink);
      else if (row.kind === 'status') {
        await calls.status?.(row.place, status);
        return end({ state: 'shown', written: { id: row.kind, url: null }, shown: hash, editedAt: now });
      } else if (row.kind === 'move') await calls.move?.(row.place, (row.detail as { stage: TicketStage }).stage);
      else {
        await calls.acknowledge(row.place, row.detail as Asked, row.subject);
        return inOrg(this.pool, orgId, (client) => dropAnswer(client, orgId, row.id));
      }
      return end({ state: 'shown', shown: hash, editedAt: now });
    }
    if (row.externalId !== null) {
      const written = await calls.update(row.place, row.externalId, answer);
      return end({ state: 'shown', written: { id: row.externalId, url: written.url }, shown: hash, editedAt: now });
    }
    // Our clock and theirs may be apart.
    const found =
      row.triedAt === null
        ? null
        : await calls.find(row.place, row.marker, new Date(row.triedAt.getTime() - CLOCKS_MS));
    if (found !== null) return end({ state: 'waiting', written: found });
    return end({ state: 'shown', written: await calls.post(row.place, answer), shown: hash, editedAt: now });
  }

  /** First the reply, once; then, after a push, the thread is resolved. @returns what came of it. */
  private async reply(
    row: AnswerRow,
    answer: Answer,
    hash: string,
    { replies }: ThreadAnswers,
  ): Promise<Omit<EndedTurn['result'], 'certain'>> {
    const due = readyReply(row.detail);
    if (replies === undefined || due === null) throw new Error('a reply that is not due');
    if (row.externalId !== null) {
      await replies.resolve(row.place, due.comment);
      return { state: 'shown', shown: hash };
    }
    const found = row.triedAt === null ? null : await replies.find(row.place, due.comment, row.marker);
    const written = found ?? (await replies.post(row.place, due.comment, answer));
    return { written, ...(due.sha === null ? { state: 'shown', shown: hash } : { state: 'waiting' }) };
  }

  private async failed(
    orgId: string,
    { row, turn }: Extract<Plan, { kind: 'call' }>,
    failure: CallFailure,
  ): Promise<{ waitMs: number | null }> {
    const now = this.clock.now();
    const late = row.failingSince !== null && now.getTime() - row.failingSince.getTime() > GIVE_UP_MS;
    const final = failure.kind === 'final' || failure.kind === 'gone' || late;
    const backOff = Math.min(FIRST_WAIT_MS * 2 ** Math.min(row.attempts, 16), LONGEST_WAIT_MS);
    const creates = ['progress', 'notice', 'choice', 'reply'].includes(row.kind) && row.externalId === null;
    const waitMs = Math.max(
      failure.kind === 'later' && failure.at !== null ? failure.at.getTime() - now.getTime() : backOff,
      creates && !failure.certain ? this.settings.unknownMs : 0,
    );
    await inOrg(this.pool, orgId, async (client) => {
      if (final && row.kind === 'seen') return dropAnswer(client, orgId, row.id);
      await endTurn(client, orgId, row.id, {
        turn,
        result: {
          state: final ? 'given-up' : 'waiting',
          certain: failure.certain && row.triedAt === null,
          failure: { problem: failure.problem, at: now, retryAt: final ? null : new Date(now.getTime() + waitMs) },
        },
      });
      // After the answer: who takes a turn locks them in this order.
      if (failure.kind === 'later' && failure.limited)
        await limitConnection(client, orgId, row.connection.id, new Date(now.getTime() + waitMs));
    });
    const fields = { answer_id: row.id, connection_id: row.connection.id, problem: failure.problem, final };
    if (row.kind === 'status') this.logger.debug(fields, 'failed to show a status');
    else this.logger.warn(fields, 'failed to answer a thread');
    return { waitMs: final ? null : waitMs };
  }
}

/** `null`: the provider does not know the actor there. */
async function permissionOf(
  rights: RightsAccess,
  client: ProviderClient,
  { repository, actor }: Notice,
): Promise<Permission | null> {
  try {
    return await rights.permissionOf(client, repository?.fullName ?? '', actor);
  } catch (error) {
    if (error instanceof ProviderRefusal && (error.kind === 'missing' || error.kind === 'forbidden')) return null;
    throw error;
  }
}

/** Clock differences below this are ignored. Milliseconds. */
const CLOCKS_MS = 10 * 60_000;

/** When the pace of a connection lets the next call be made. Milliseconds since 1970. */
function placeInPace({ pacedUntil }: AnswerRow, { pace }: AnswerAccess): number {
  return pacedUntil === null ? 0 : pacedUntil.getTime() - pace.burst * pace.everyMs;
}
