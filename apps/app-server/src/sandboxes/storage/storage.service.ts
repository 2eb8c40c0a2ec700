import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import type { Storage } from '@slipway/contracts/sandboxes';
import { inOrgWithDeleted, type SqlPool } from '@slipway/db/sql';
import { SQL_POOL } from '../../platform/tokens.js';
import { STORAGE_BLOCK_BYTES } from './full-storage.js';
import { readLargest, readStorage, type StorageRow } from './storage.queries.js';

/** A share of the limit from which on it is said to be near. */
const NEAR = 0.8;

@Injectable()
export class StorageService {
  constructor(@Inject(SQL_POOL) private readonly pool: SqlPool) {}

  /** Deleted conversations count until they are removed, and are not among the largest. */
  get(caller: Principal): Promise<Storage> {
    return inOrgWithDeleted(this.pool, caller.orgId, async (client) => {
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
}

function stateOf({ used, limit }: StorageRow): Storage['state'] {
  if (limit === null) return 'ok';
  if (used + STORAGE_BLOCK_BYTES > limit) return 'full';
  return used >= NEAR * limit ? 'near' : 'ok';
}
