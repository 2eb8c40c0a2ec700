import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import type { Storage } from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../../audit/audit-statement.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJob } from '../../platform/outbox.queries.js';
import { IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { STORAGE_BLOCK_BYTES } from './full-storage.js';
import { deleteConversationRow, lockOwner, readLargest, readStorage, type StorageRow } from './storage.queries.js';

/** A share of the limit from which on it is said to be near. */
const NEAR = 0.8;

@Injectable()
export class StorageService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly jobs: Jobs,
  ) {}

  get(caller: Principal): Promise<Storage> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const row = await readStorage(client, caller.orgId);
      const { used, limit, reserve, log, payloads, changes, granted, conversations, counted_at } = row;
      return {
        state: stateOf(row),
        used,
        limit,
        reserve,
        kinds: { log, payloads, changes, rounding: Math.max(0, granted - log - payloads - changes) },
        conversations,
        largest: (await readLargest(client, caller.orgId)).map((each) => ({
          id: each.id,
          title: each.title,
          owner: { id: each.created_by, label: each.created_by_label },
          updatedAt: each.updated_at.toISOString(),
          bytes: each.granted,
          log: each.log,
          payloads: each.payloads,
          changes: each.changes,
        })),
        countedAt: counted_at?.toISOString() ?? null,
      };
    });
  }

  /**
   * Its log is gone for all users when this answers; sandbox, keys, workspace and rows go with a job.
   * @throws SlipwayError `permission.denied` for another user's without `conversation:delete`, `resource.not-found`
   */
  async deleteConversation(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const found = await lockOwner(client, caller.orgId, id);
      if (found === null) throw notFound();
      if (found.createdBy !== caller.actor.id && !caller.permissions.has('conversation:delete'))
        throw new SlipwayError(
          'permission.denied',
          'It is another user’s conversation: deleting it needs conversation:delete.',
        );
      await deleteConversationRow(client, caller.orgId, id);
      await wantJob(client, caller.orgId, 'conversation-delete', id);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'conversation.delete',
          target: id,
          before: { title: found.title, createdBy: found.createdBy, bytes: found.bytes },
        }),
      );
    });
    this.logger.info({ conversation_id: id }, 'conversation deleted');
    this.jobs.enqueue('conversation-delete', caller.orgId, id);
  }
}

function stateOf({ used, limit }: StorageRow): Storage['state'] {
  if (limit === null) return 'ok';
  if (used + STORAGE_BLOCK_BYTES > limit) return 'full';
  return used >= NEAR * limit ? 'near' : 'ok';
}
