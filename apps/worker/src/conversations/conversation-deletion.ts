import type { QueuePayload } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { deleteSome, type TenantTable, tenantTables } from '../orgs/orgs.queries.js';
import { deleteSecretsOf, deleteSomePayloads, finishDeletion, isGone } from './conversation-deletion.queries.js';
import type { ConversationLocks } from './conversation-locks.js';

/** Rows, and payloads, of one transaction. */
const ROWS = 5_000;
const PAYLOADS = 200;
/** What was spent, and what came of it, stays in the sums of its organization; payloads go by `deleteSomePayloads`. */
const KEPT: ReadonlySet<string> = new Set([
  'usage_conversation',
  'conversation_outcome',
  'pull_request_outcome',
  'pull_request_work',
  'conversation_blob',
]);

/**
 * Deletes what is left of a conversation whose row is gone: sandbox with workspace, keys of the models, log, unshared
 * payloads. Safe to repeat at any point: the outbox job goes last, and no row of a conversation is written without the
 * conversation's own.
 */
export class ConversationDeletion {
  constructor(
    private readonly pool: SqlPool,
    private readonly locks: ConversationLocks,
    private readonly runtime: RuntimeApiClient,
    private readonly gateway: LlmGatewayClient,
    private readonly logger: Logger,
  ) {}

  /** @throws when a peer does not answer: nothing is forgotten that still has a sandbox. */
  async run({ orgId, conversationId: id }: QueuePayload<'conversation-delete'>, signal: AbortSignal): Promise<void> {
    // Whatever another job does in it ends first: that may have just started its sandbox.
    await this.locks.withLock(`conversation:${id}`, signal, async (held) => {
      if (!(await isGone(this.pool, orgId, id))) return;
      const session = await this.runtime.session(orgId, id, held);
      if (session !== null) await this.runtime.stop(orgId, session.runtime_id, held);
      await this.gateway.deleteKeys(id, held);
      const tables = (await tenantTables(this.pool)).filter(
        ({ name, ofConversation }) => ofConversation && !KEPT.has(name),
      );
      for (const table of tables) await this.empty(orgId, table, id, held);
      while ((await deleteSomePayloads(this.pool, orgId, id, PAYLOADS)) === PAYLOADS) held.throwIfAborted();
      await deleteSecretsOf(this.pool, orgId, id);
      await finishDeletion(this.pool, orgId, id);
      this.logger.info({ org_id: orgId, conversation_id: id }, 'deleted conversation removed');
    });
  }

  private async empty(orgId: string, table: TenantTable, id: string, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while ((await deleteSome(this.pool, orgId, { table, conversationId: id, limit: ROWS })) === ROWS);
  }
}
