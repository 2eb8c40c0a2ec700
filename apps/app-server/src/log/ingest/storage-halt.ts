import type { ConversationEvent } from '@slipway/contracts/events';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { lockSandbox, type SandboxRow, setDesired } from '../../conversations/conversations.queries.js';
import { wantJob } from '../../platform/outbox.queries.js';

type AppendPlatform = (
  client: PoolClient,
  events: readonly ConversationEvent[],
  row: SandboxRow,
) => Promise<() => void>;

/**
 * Pauses a conversation whose organization has no room for its events: the log says why, once, and a job halts the
 * agent and keeps its workspace. From then on its events are those of an ending, which may take a share of the reserve;
 * what has no room there stays in the sandbox's own log, and comes when the conversation is resumed.
 */
export class StorageHalt {
  constructor(
    private readonly pool: SqlPool,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns a function that notifies the readers, to be called after the commit; `null` when it is being paused
   * already, or gone.
   */
  write(orgId: string, conversationId: string, detail: string, append: AppendPlatform): Promise<(() => void) | null> {
    return inOrg(this.pool, orgId, async (client) => {
      const row = await lockSandbox(client, orgId, conversationId);
      if (row === null || row.desired === 'rest') return null;
      const event: ConversationEvent = {
        id: this.ids.uuid(),
        timestamp: this.clock.now().toISOString(),
        source: 'environment',
        kind: 'ConversationErrorEvent',
        code: 'storage.exhausted',
        detail,
      };
      const publish = await append(client, [event], row);
      await setDesired(client, orgId, conversationId, { desired: 'rest' });
      await wantJob(client, orgId, 'conversation-pause', conversationId);
      return publish;
    });
  }
}
