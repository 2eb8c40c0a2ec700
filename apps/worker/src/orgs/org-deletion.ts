import type { QueuePayload } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import {
  deleteConversation,
  deleteOrgRow,
  deleteSome,
  deletionOf,
  pauseRunning,
  someConversations,
  type TenantTable,
  tenantTables,
} from './orgs.queries.js';

/** Conversations of one round, and how many of them are deleted at a time. */
const CONVERSATIONS = 100;
const AT_A_TIME = 4;
/** Rows of one transaction: a fraction of a second each, so that nothing of another organization waits for it. */
const ROWS = 5_000;
/**
 * The largest table, found by conversation only. Its rows are written under the lock of their conversation's row: none
 * comes after that is gone.
 */
const LOG = 'event';

/**
 * Deletes an organization whose time is over: its sandboxes with their workspaces, its conversations with their logs,
 * and every row that bears its id. The audit stays, and says at its end that the organization is gone. The row of the
 * organization goes last: whatever breaks off before is taken up again by the sweep.
 */
export class OrgDeletion {
  constructor(
    private readonly pool: SqlPool,
    private readonly locks: ConversationLocks,
    private readonly runtime: RuntimeApiClient,
    private readonly gateway: LlmGatewayClient,
    private readonly logger: Logger,
  ) {}

  /** @throws when a peer does not answer: nothing is forgotten that still has a sandbox. */
  async run({ orgId }: QueuePayload<'org-delete'>, signal: AbortSignal): Promise<void> {
    const lock = await this.locks.tryLock(`org:${orgId}`);
    if (lock === null) return;
    try {
      await this.delete(orgId, AbortSignal.any([signal, lock.signal]));
    } finally {
      await lock.release();
    }
  }

  private async delete(orgId: string, signal: AbortSignal): Promise<void> {
    if ((await deletionOf(this.pool, orgId)) !== 'due') return;
    while ((await pauseRunning(this.pool, orgId, null, CONVERSATIONS)).length > 0) signal.throwIfAborted();
    const tables = await tenantTables(this.pool);
    const ofConversation = tables.filter((table) => table.ofConversation);
    let conversations = 0;
    for (
      let ids = await someConversations(this.pool, orgId, CONVERSATIONS);
      ids.length > 0;
      ids = await someConversations(this.pool, orgId, CONVERSATIONS)
    ) {
      for (let at = 0; at < ids.length; at += AT_A_TIME)
        await Promise.all(
          ids.slice(at, at + AT_A_TIME).map((id) => this.deleteConversation(orgId, id, ofConversation, signal)),
        );
      conversations += ids.length;
    }
    for (const table of tables.filter(({ name }) => name !== LOG)) await this.empty(orgId, table, null, signal);
    if (await deleteOrgRow(this.pool, orgId))
      this.logger.info({ org_id: orgId, conversations }, 'organization deleted');
  }

  private async deleteConversation(
    orgId: string,
    id: string,
    tables: readonly TenantTable[],
    signal: AbortSignal,
  ): Promise<void> {
    const session = await this.runtime.session(orgId, id, signal);
    if (session !== null) await this.runtime.stop(orgId, session.runtime_id, signal);
    await this.gateway.deleteKeys(id, signal);
    for (const table of tables) await this.empty(orgId, table, id, signal);
    await deleteConversation(this.pool, orgId, id);
  }

  private async empty(
    orgId: string,
    table: TenantTable,
    conversationId: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    do signal.throwIfAborted();
    while ((await deleteSome(this.pool, orgId, { table, conversationId, limit: ROWS })) === ROWS);
  }
}
