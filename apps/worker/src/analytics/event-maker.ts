import { countWaiting, keepEvents, MAX_WAITING, type MadeEvent } from '@slipway/analytics';
import { modelName } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import { system } from '../conversations/conversation.queries.js';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { Lead } from '../sweeps/leads/lead.js';
import {
  activation,
  auditLines,
  auditPosition,
  changedLines,
  conversationsReadUntil,
  lockMaking,
  logLines,
  newMembers,
  orgsToRead,
  readState,
  setAuditPosition,
  setConversationsRead,
  type UnreadConversation,
  unreadConversations,
  writeState,
} from './analytics.queries.js';
import { auditEvents } from './audit-events.js';
import { type ReadLines, readConversationLines } from './conversation-events.js';

/** Between two rounds. Milliseconds. */
const ROUND_MS = 5_000;
/** A log is read once nothing was added for so long: by then the gateway has written its calls down. Milliseconds. */
const SETTLED_MS = 3_000;
/** Covers transactions that were under way when conversations were read. Milliseconds. */
const OVERLAP_MS = 600_000;
/** Organizations, conversations and lines of one round. */
const MAX_ORGS = 200;
const MAX_CONVERSATIONS = 200;
const PAGE_LINES = 2_000;
const AUDIT_PAGE = 1_000;
/** Model calls of one run. */
const MAX_CALLS = 1_000;

export interface EventMakerOptions {
  readonly pool: SqlPool;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gives the model calls of a run; `null`: they make no events. */
  readonly gateway: Pick<LlmGatewayClient, 'calls'> | null;
}

export interface ReadEvents {
  readonly after: number;
  readonly upto: number;
  readonly lines: ReadLines;
  readonly calls: MadeEvent[];
}

/**
 * Makes analytics events out of the audit and the logs of conversations, by cursor: position and events are one
 * transaction, and an event's id is made of what it is about. Only of organizations and users that allow it. Nothing of
 * the product waits for it.
 */
export class EventMaker {
  private readonly lead: Lead;

  constructor(private readonly options: EventMakerOptions) {
    const { locks, logger } = options;
    this.lead = new Lead({
      name: 'analytics-events',
      everyMs: ROUND_MS,
      locks,
      logger,
      round: (signal) => this.run(signal),
    });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round. Rejects when the database or the gateway does not answer; what was made by then stays. */
  async run(signal: AbortSignal): Promise<void> {
    const { pool } = this.options;
    if ((await system(pool, 'waiting analytics events', countWaiting)) >= MAX_WAITING) return;
    for (const orgId of await orgsToRead(pool, MAX_ORGS)) {
      signal.throwIfAborted();
      await this.readOrg(orgId).catch((error: unknown) => {
        signal.throwIfAborted();
        this.options.logger.warn(
          { err: error, org_id: orgId },
          'analytics events of an organization not made, will retry',
        );
      });
    }
    await this.readConversations(signal);
  }

  private readOrg(orgId: string): Promise<void> {
    return inOrg(this.options.pool, orgId, async (client) => {
      if (!(await lockMaking(client, orgId))) return;
      const after = await auditPosition(client, orgId);
      await keepEvents(client, orgId, await newMembers(client, orgId));
      const { lines, upto } = await auditLines(client, orgId, after, AUDIT_PAGE);
      await keepEvents(client, orgId, lines.flatMap(auditEvents));
      if (upto > after) await setAuditPosition(client, orgId, upto);
    });
  }

  private async readConversations(signal: AbortSignal): Promise<void> {
    const { pool, clock, logger } = this.options;
    const until = new Date(clock.now().getTime() - SETTLED_MS);
    const found = await unreadConversations(
      pool,
      (await conversationsReadUntil(pool)) ?? new Date(0),
      until,
      MAX_CONVERSATIONS,
    );
    let failed = 0;
    for (const each of found) {
      signal.throwIfAborted();
      await this.readConversation(each, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        failed += 1;
        logger.warn(
          { err: error, org_id: each.orgId, conversation_id: each.id },
          'analytics events of a conversation not made, will retry',
        );
      });
    }
    if (failed === 0 && found.length < MAX_CONVERSATIONS)
      await setConversationsRead(pool, new Date(until.getTime() - OVERLAP_MS));
  }

  private async readConversation(conversation: UnreadConversation, signal: AbortSignal): Promise<void> {
    const { orgId, id, head } = conversation;
    for (let goesOn = true; goesOn; ) {
      signal.throwIfAborted();
      const { pool } = this.options;
      const { upto, page, state, lines } = await inOrg(pool, orgId, async (client) => {
        const known = await readState(client, orgId, id);
        const end = Math.min(head, known.upto + PAGE_LINES);
        return { ...known, page: end, lines: await logLines(client, orgId, id, { after: known.upto, upto: end }) };
      });
      if (upto >= head) return;
      const read = readConversationLines(conversation, state, lines);
      const calls = await this.modelCalls(conversation, read, signal);
      goesOn = (await this.keep(conversation, { after: upto, upto: page, lines: read, calls })) && page < head;
    }
  }

  /** @returns false when another worker was first. */
  private keep(
    { orgId, id, createdBy }: UnreadConversation,
    { after, upto, lines: { state, events }, calls }: ReadEvents,
  ): Promise<boolean> {
    return inOrg(this.options.pool, orgId, async (client) => {
      if (!(await lockMaking(client, id)) || (await readState(client, orgId, id)).upto !== after) return false;
      const made: MadeEvent[] = [...calls];
      for (const each of events) {
        const { event, at } = each;
        if (event.name === 'changes_pushed')
          made.push({ ...each, event: { ...event, properties: await changedLines(client, orgId, id) } });
        else made.push(each);
        if (event.name !== 'agent_task_completed' || event.properties.result !== 'finished') continue;
        // Who is activated has signed up, in this transaction at the latest.
        made.push(...(await newMembers(client, orgId)));
        const first = await activation(client, orgId, createdBy, at);
        if (first !== null) made.push(first);
      }
      await keepEvents(client, orgId, made);
      await writeState(client, orgId, id, { upto, state });
      return true;
    });
  }

  private async modelCalls(
    { orgId, id, createdBy, model }: UnreadConversation,
    { runs }: ReadLines,
    signal: AbortSignal,
  ): Promise<MadeEvent[]> {
    const { gateway } = this.options;
    if (gateway === null) return [];
    const made: MadeEvent[] = [];
    for (const { from, to } of runs) {
      const { calls } = await gateway.calls(orgId, id, { from, to, limit: MAX_CALLS }, signal);
      for (const call of calls) {
        const properties = {
          // The name of an organization's own model is theirs.
          model: modelName(model.startsWith('profile/') ? model : call.model),
          input_tokens: call.prompt,
          output_tokens: call.completion,
          cached_tokens: call.cached,
          cost_usd: Number(call.cost),
          seconds: call.latencyMs / 1_000,
          first_byte_seconds: (call.firstByteMs ?? call.latencyMs) / 1_000,
          failed: call.status === 'failed',
        };
        made.push({
          event: { name: 'model_called', properties },
          source: call.id,
          userId: createdBy,
          at: new Date(call.at),
        });
      }
    }
    return made;
  }
}
