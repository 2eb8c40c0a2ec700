import { Inject, Injectable } from '@nestjs/common';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type LiveSandbox,
  type RuntimeFleet,
  type SandboxFleet,
  type SandboxQueue,
} from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../audit/audit-statement.js';
import type { Config } from '../config.js';
import { RunControlService } from '../conversations/run-control.service.js';
import { CLOCK, CONFIG, IDS, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { RuntimeApiClient } from './runtime-api.client.js';
import {
  conversationsById,
  conversationsThatWait,
  conversationsWithSandbox,
  type SandboxConversation,
} from './sandboxes.queries.js';

const MAX_LISTED = 1_000;
const AWAY = 'The service that runs sandboxes does not answer; this is what the conversations last knew.';
const NOT_SET_UP =
  'This installation does not let app-server ask for sandboxes; this is what the conversations last knew.';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The sandboxes of an organization, joined with their conversations. A sandbox has the id of its conversation. */
@Injectable()
export class SandboxesService {
  private readonly runtime: RuntimeApiClient | null;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly runs: RunControlService,
  ) {
    this.runtime =
      config.RUNTIME_API_URL === undefined || config.RUNTIME_API_KEY === undefined
        ? null
        : new RuntimeApiClient({ url: config.RUNTIME_API_URL, apiKey: config.RUNTIME_API_KEY });
  }

  async list(
    caller: Principal,
    filter: { state?: LiveSandbox['state'] | undefined; owner?: string | undefined },
  ): Promise<SandboxFleet> {
    const asked = await this.ask((runtime) => runtime.fleet(caller.orgId));
    const data =
      asked.answer === null
        ? await this.lastKnown(caller.orgId)
        : await this.joined(caller.orgId, asked.answer.sandboxes);
    return {
      data: data
        .filter(
          ({ state, owner }) =>
            (filter.state === undefined || state === filter.state) &&
            (filter.owner === undefined || owner.id === filter.owner),
        )
        .sort((one, other) => one.startedAt.localeCompare(other.startedAt) || one.id.localeCompare(other.id)),
      live: asked.answer !== null,
      detail: asked.detail,
      asOf: this.clock.now().toISOString(),
    };
  }

  async queue(caller: Principal): Promise<SandboxQueue> {
    const asked = await this.ask((runtime) => runtime.queue(caller.orgId));
    if (asked.answer === null) return { data: [], quota: { inUse: 0, limit: null }, live: false, detail: asked.detail };
    const { waiting, in_use: inUse, limit } = asked.answer;
    const known = await conversationsById(this.pool, caller.orgId, uuids(waiting.map((each) => each.session_id)));
    const queued = waiting.flatMap((each) => {
      const conversation = known.get(each.session_id);
      return conversation === undefined
        ? []
        : [
            {
              conversation: { id: conversation.id, title: conversation.title },
              owner: ownerOf(conversation),
              position: each.position,
              estimateSeconds: each.estimate_seconds,
              reason: each.reason,
              since: each.since,
            },
          ];
    });
    return {
      data: [...queued, ...(await this.keptOut(caller.orgId, queued))],
      quota: { inUse, limit },
      live: true,
      detail: null,
    };
  }

  /**
   * Whom the quota keeps out: runtime-api gives them no place, they ask it again every second. Behind those who have
   * one, in the order in which they came.
   */
  private async keptOut(orgId: string, queued: SandboxQueue['data']): Promise<SandboxQueue['data']> {
    const placed = new Set(queued.map(({ conversation }) => conversation.id));
    const first = 1 + Math.max(0, ...queued.map(({ position }) => position));
    const outside = (await conversationsThatWait(this.pool, orgId, MAX_LISTED)).filter(({ id }) => !placed.has(id));
    return outside.map((conversation, index) => ({
      conversation: { id: conversation.id, title: conversation.title },
      owner: ownerOf(conversation),
      position: first + index,
      estimateSeconds: null,
      reason: conversation.step ?? 'No sandbox is ready yet.',
      since: conversation.updated_at.toISOString(),
    }));
  }

  /**
   * The conversation is paused: its step under way gets some seconds, its workspace is kept, its log says so. Repeating
   * it changes nothing.
   * @throws SlipwayError `resource.not-found`, `conversation.not-running` for a conversation that has none and is not
   * on its way to one.
   */
  async stop(caller: Principal, id: string): Promise<void> {
    const conversation = UUID.test(id)
      ? (await conversationsById(this.pool, caller.orgId, [id])).get(id.toLowerCase())
      : undefined;
    if (conversation === undefined) throw notFound();
    if (conversation.desired === 'rest' && conversation.sandbox_status !== 'RUNNING')
      throw new SlipwayError('conversation.not-running', 'The conversation has no sandbox that could be stopped.');
    // The outbox job first: one that is recorded and did not come about is asked again, an unrecorded one would have no
    // owner.
    await inOrg(this.pool, caller.orgId, (client) =>
      client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'sandbox.stop',
          target: conversation.id,
          detail: { owner: conversation.created_by },
        }),
      ),
    );
    await this.runs.pause(caller, conversation.id);
  }

  private async ask<T>(
    question: (runtime: RuntimeApiClient) => Promise<T>,
  ): Promise<{ answer: T | null; detail: string | null }> {
    if (this.runtime === null) return { answer: null, detail: NOT_SET_UP };
    try {
      return { answer: await question(this.runtime), detail: null };
    } catch (error) {
      this.logger.warn({ err: error }, 'failed to list sandboxes at runtime-api');
      return { answer: null, detail: AWAY };
    }
  }

  private async joined(orgId: string, fleet: RuntimeFleet['sandboxes']): Promise<LiveSandbox[]> {
    const known = await conversationsById(this.pool, orgId, uuids(fleet.map((each) => each.session_id)));
    // A session without a conversation is left to the reaper, not to admins.
    return fleet.flatMap((each) => {
      const conversation = known.get(each.session_id);
      if (conversation === undefined) return [];
      const resting = conversation.desired === 'rest';
      return [
        {
          ...seenFrom(conversation),
          state: resting
            ? 'pausing'
            : each.status === 'starting' || conversation.status === 'starting'
              ? 'starting'
              : 'running',
          reason: resting ? 'It is being paused.' : each.detail !== '' ? each.detail : seenFrom(conversation).reason,
          node: each.node,
          start: each.start,
          template: each.template,
          size: each.size,
          restarts: each.restarts,
          startedAt: each.started_at,
        },
      ];
    });
  }

  private async lastKnown(orgId: string): Promise<LiveSandbox[]> {
    return (await conversationsWithSandbox(this.pool, orgId, MAX_LISTED)).map(seenFrom);
  }
}

/** As far as the conversation itself says. */
function seenFrom(conversation: SandboxConversation): LiveSandbox {
  const resting = conversation.desired === 'rest';
  const starting = conversation.sandbox_status === 'STARTING' || conversation.status === 'starting';
  const idle = conversation.execution_status !== 'running' && !starting;
  return {
    id: conversation.id,
    conversation: { id: conversation.id, title: conversation.title, status: conversation.status },
    owner: ownerOf(conversation),
    state: resting ? 'pausing' : starting ? 'starting' : 'running',
    reason: resting
      ? 'It is being paused.'
      : starting
        ? (conversation.step ?? 'It is starting.')
        : idle
          ? 'Its agent waits for a message.'
          : 'Its agent works.',
    node: null,
    start: null,
    template: null,
    size: null,
    restarts: 0,
    startedAt: conversation.updated_at.toISOString(),
    idleSince: idle ? conversation.updated_at.toISOString() : null,
  };
}

function ownerOf(conversation: SandboxConversation): LiveSandbox['owner'] {
  return { id: conversation.created_by, label: conversation.created_by_label };
}

/** Sessions that other clients of runtime-api have made may be called anything. */
function uuids(ids: readonly string[]): string[] {
  return ids.filter((id) => UUID.test(id));
}
