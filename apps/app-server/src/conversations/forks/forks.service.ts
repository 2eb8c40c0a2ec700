import { Inject, Injectable } from '@nestjs/common';
import type { Conversation, ForkConversation } from '@slipway/contracts/conversations';
import type { ConversationEvent, StateUpdate } from '@slipway/contracts/events';
import type { Principal } from '@slipway/contracts/organizations';
import { inheritCheckpoint } from '@slipway/db/checkpoints';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { lockSandbox } from '../conversations.queries.js';
import { ConversationsService } from '../conversations.service.js';
import { type ForkPoint, forkLog, forkPoint } from './forks.queries.js';

/** Longest title. Characters. */
const MAX_TITLE = 200;

/**
 * Another conversation that begins where one was: its log up to a checkpoint, and the files of then in a sandbox of its
 * own. Nothing that happens in one is seen in the other. Its costs begin at zero; secrets, grants, and messages that
 * wait are not taken along.
 */
@Injectable()
export class ForksService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly conversations: ConversationsService,
    private readonly ingest: IngestService,
  ) {}

  /**
   * Idempotent by `id`. @throws SlipwayError `resource.not-found`, `permission.denied` for another user's conversation,
   * `fork.no-point`, and as `ConversationsService.create`.
   */
  async fork(
    caller: Principal,
    sourceId: string,
    { at, prompt, title, model }: ForkConversation,
    id: string = this.ids.uuid(),
  ): Promise<Conversation> {
    const { orgId } = caller;
    const point = await inOrg(this.pool, orgId, (client) => forkPoint(client, orgId, sourceId, at));
    if (point === null) throw notFound();
    // Files may hold what only its owner was given, such as the value of a secret.
    if (point.createdBy !== caller.actor.id)
      throw new SlipwayError('permission.denied', 'Only the user who created a conversation can fork it.');
    const { checkpoint } = point;
    if (checkpoint === null)
      throw new SlipwayError('fork.no-point', 'No files of this conversation are kept at that point or before it.');
    let publish = (): void => {};
    const made = await this.conversations.createWith(
      caller,
      { ...wanted(point), prompt, title: title ?? forkTitle(point.title), model: model ?? point.model },
      id,
      async (client) => {
        publish = await this.begin(client, caller, { source: sourceId, fork: id, checkpoint });
      },
    );
    publish();
    return made;
  }

  private async begin(
    client: PoolClient,
    caller: Principal,
    { source, fork, checkpoint }: { source: string; fork: string; checkpoint: { id: string; seq: number } },
  ): Promise<() => void> {
    const { orgId } = caller;
    await forkLog(client, orgId, { source, seq: checkpoint.seq, fork });
    const inherited = await inheritCheckpoint(client, orgId, {
      source: checkpoint.id,
      conversationId: fork,
      id: this.ids.uuid(),
    });
    if (inherited !== 'ok') throw new SlipwayError('fork.no-point', 'The files of that point have just been given up.');
    await client.query(
      auditOf(this.ids.uuid(), caller, {
        action: 'conversation.fork',
        target: fork,
        detail: { conversation: source, seq: checkpoint.seq },
      }),
    );
    const row = await lockSandbox(client, orgId, fork);
    if (row === null) throw notFound();
    const events = [
      this.update({ key: 'forked', value: { conversation: source, seq: checkpoint.seq, checkpoint: checkpoint.id } }),
      // What was spent before is the other conversation's.
      this.update({
        key: 'stats',
        value: { accumulated_cost: 0, prompt_tokens: 0, completion_tokens: 0, model: '', usage_to_metrics: {} },
      }),
    ];
    return this.ingest.appendPlatform(client, orgId, fork, { events, row });
  }

  private update({ key, value }: StateUpdate): ConversationEvent {
    return {
      id: this.ids.uuid(),
      timestamp: this.clock.now().toISOString(),
      source: 'environment',
      kind: 'ConversationStateUpdateEvent',
      key,
      value,
    };
  }
}

function wanted({ repository, branch, environment, confirmation, agentType, maxIterations }: ForkPoint) {
  return {
    ...(repository === null ? {} : { repository, ...(branch === null ? {} : { branch }) }),
    ...(environment === null ? {} : { environment }),
    ...(maxIterations === null ? {} : { maxIterations }),
    confirmation,
    agentType,
  };
}

function forkTitle(title: string): string {
  return `${title.slice(0, MAX_TITLE - 7)} (fork)`;
}
