import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrgWithDeleted, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../../audit/audit-statement.js';
import { Hubs } from '../../log/events/hubs.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJob } from '../../platform/outbox.queries.js';
import { IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { deleteConversationRow, lockOwner } from '../../sandboxes/storage/storage.queries.js';
import { setDesired } from '../conversations.queries.js';
import { RunControlService } from '../run-control.service.js';
import { type EditableRow, lockEditable, markDeleted, markRestored } from './edits.queries.js';

/**
 * A deleted conversation is hidden from everybody by the policy `not_deleted` of the database. Here, in the trash list
 * and in the worker that ends it, transactions ask for deleted ones.
 */
@Injectable()
export class ConversationTrash {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly runs: RunControlService,
    private readonly jobs: Jobs,
    private readonly hubs: Hubs,
  ) {}

  /**
   * Stops what runs, and hides it. Open sockets and streams end. No-op for one in the trash.
   * @throws SlipwayError `permission.denied` for another user's without `conversation:delete`, `resource.not-found`
   */
  async delete(caller: Principal, id: string): Promise<void> {
    const { orgId } = caller;
    const found = await inOrgWithDeleted(this.pool, orgId, (client) => this.mayDelete(client, caller, id));
    if (found.deleted) return;
    await this.runs.stop(caller, id).catch((error: unknown) => {
      // Deleted by another user meanwhile: nothing is left to stop.
      if (!(error instanceof SlipwayError) || error.code !== 'resource.not-found') throw error;
    });
    const deleted = await inOrgWithDeleted(this.pool, orgId, async (client) => {
      const row = await this.mayDelete(client, caller, id);
      if (row.deleted) return null;
      const publish = await this.runs.end(client, caller, id);
      await markDeleted(client, orgId, id, caller.actor.label);
      await setDesired(client, orgId, id, { desired: 'rest', writer: 'fence', haltedBy: caller.actor.label });
      await wantJob(client, orgId, 'conversation-pause', id);
      await this.audit(client, caller, 'conversation.delete', { id, before: row });
      return { publish };
    });
    if (deleted === null) return;
    deleted.publish();
    this.hubs.gone(orgId, id);
    this.jobs.enqueue('conversation-pause', orgId, id);
    this.logger.info({ conversation_id: id }, 'conversation moved to the trash');
  }

  /**
   * For good, also one in the trash: its log is gone when this answers; sandbox, keys, workspace and rows go with a
   * job.
   * @throws as `delete`
   */
  async deleteForGood(caller: Principal, id: string): Promise<void> {
    const { orgId } = caller;
    await inOrgWithDeleted(this.pool, orgId, async (client) => {
      await this.mayDelete(client, caller, id);
      const found = await lockOwner(client, orgId, id);
      if (found === null) throw notFound();
      await deleteConversationRow(client, orgId, id);
      await wantJob(client, orgId, 'conversation-delete', id);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'conversation.delete',
          target: id,
          detail: { permanently: true },
          before: { title: found.title, createdBy: found.createdBy, bytes: found.bytes },
        }),
      );
    });
    this.hubs.gone(orgId, id);
    this.logger.info({ conversation_id: id }, 'conversation deleted');
    this.jobs.enqueue('conversation-delete', orgId, id);
  }

  /**
   * Back as it was, without its sandbox. No-op for one that is not deleted.
   * @throws SlipwayError `permission.denied` as `delete`, `resource.not-found` also when the grace is over
   */
  async restore(caller: Principal, id: string): Promise<void> {
    const { orgId } = caller;
    const restored = await inOrgWithDeleted(this.pool, orgId, async (client) => {
      const row = await this.mayDelete(client, caller, id);
      if (!row.deleted) return false;
      await markRestored(client, orgId, id);
      await this.audit(client, caller, 'conversation.restore', { id, before: null });
      return true;
    });
    if (!restored) return;
    this.hubs.inboxChanged(orgId, id);
    this.logger.info({ conversation_id: id }, 'conversation restored');
  }

  private async mayDelete(client: PoolClient, caller: Principal, id: string): Promise<EditableRow> {
    const row = await lockEditable(client, caller.orgId, id);
    if (row === null) throw notFound();
    if (row.createdBy !== caller.actor.id && !caller.permissions.has('conversation:delete'))
      throw new SlipwayError(
        'permission.denied',
        'It is another user’s conversation: deleting it needs conversation:delete.',
      );
    return row;
  }

  private async audit(
    client: PoolClient,
    caller: Principal,
    action: string,
    { id, before }: { readonly id: string; readonly before: EditableRow | null },
  ): Promise<void> {
    await client.query(
      auditOf(this.ids.uuid(), caller, {
        action,
        target: id,
        ...(before === null ? {} : { before: { title: before.title, createdBy: before.createdBy } }),
      }),
    );
  }
}
