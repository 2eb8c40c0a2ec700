import { idleTimes } from '@slipway/agent-client';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { type IdleSandbox, idleSandboxes, lockAndCountMissing, restIfIdleIn } from './idle-conversations.queries.js';

/**
 * A conversation that has just finished is left alone for so long: its user reads the answer and may write the next
 * message. Seconds.
 */
const IDLE_SECONDS = 5;
/** A user counts as at work for this long after activity in the terminal or the browser. Seconds. */
const IN_USE_SECONDS = 120;
/** Conversations checked in one pass. */
const CANDIDATES = 20;

/**
 * Room for starts that wait: the sandboxes of finished conversations of the same organization are paused with their
 * workspaces kept, the longest idle first.
 */
export class Room {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly ids: Ids,
    private readonly logger: Logger,
  ) {}

  /**
   * Pauses as many as the waiting starts of the organization need. Repeatable: those on their way to a pause count.
   * @returns whether any sandbox of it is being paused.
   */
  async make(orgId: string): Promise<boolean> {
    const candidates = await this.unused(await idleSandboxes(this.pool, orgId, IDLE_SECONDS, CANDIDATES));
    const { paused, missing } = await inOrg(this.pool, orgId, async (client) => {
      const missing = await lockAndCountMissing(client, orgId);
      const paused: string[] = [];
      for (const { id } of candidates) {
        if (paused.length >= missing) break;
        if (await restIfIdleIn(client, orgId, id, this.ids.uuid())) paused.push(id);
      }
      return { paused, missing };
    });
    for (const id of paused) {
      this.logger.info({ conversation_id: id, org_id: orgId }, 'idle sandbox paused to make room for a waiting start');
      await this.queue.add('conversation-pause', { orgId, conversationId: id }, { key: id });
    }
    return missing <= 0 || paused.length > 0;
  }

  /**
   * Without those in whose terminal, files or browser a user is at work. A sandbox that does not answer is not in use.
   */
  private async unused(idle: readonly IdleSandbox[]): Promise<IdleSandbox[]> {
    const times = await Promise.all(idle.map(({ sandboxUrl }) => (sandboxUrl === null ? null : idleTimes(sandboxUrl))));
    return idle.filter((_each, index) => (times[index]?.user ?? Number.POSITIVE_INFINITY) >= IN_USE_SECONDS);
  }
}
