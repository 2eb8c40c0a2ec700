import type { PoolClient } from '@slipway/db/sql';
import { storageReason } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

/** SQLSTATE of `app.grant_storage` when the organization has no room. */
const FULL = 'SL507';
/** What a conversation takes at once. Bytes; as `app.grant_storage` has it. */
export const STORAGE_BLOCK_BYTES = 64 * 1024;

/**
 * Refuses work that would grow an organization without room for another block. An early check: writes keep to the limit
 * by themselves.
 * @throws SlipwayError `storage.exhausted`
 */
export async function assertStorage(client: PoolClient, orgId: string): Promise<void> {
  const { rows } = await client.query<{ used: number; limit: number | null }>({
    name: 'storage-left',
    text: 'SELECT used_bytes AS used, app.storage_limit(limit_bytes) AS limit FROM app.org_storage WHERE org_id = $1',
    values: [orgId],
  });
  const [storage] = rows;
  if (storage !== undefined && storage.limit !== null && storage.used + STORAGE_BLOCK_BYTES > storage.limit)
    throw storageExhausted(storage.used, storage.limit);
}

/** The database's refusal, whether `pg` or Prisma reports it; `null` for any other failure. */
export function fullStorage(error: unknown): SlipwayError | null {
  const { code, message } = (error as Reported | null) ?? {};
  const { originalCode, originalMessage } = (error as Reported | null)?.meta?.driverAdapterError?.cause ?? {};
  if (code !== FULL && originalCode !== FULL) return null;
  const [, used, limit] = /(\d+) of (\d+) bytes/.exec(code === FULL ? (message ?? '') : (originalMessage ?? '')) ?? [];
  return storageExhausted(Number(used), Number(limit), error);
}

/** What both libraries make of a failed statement. */
interface Reported {
  readonly code?: unknown;
  readonly message?: string;
  readonly meta?: {
    readonly driverAdapterError?: {
      readonly cause?: { readonly originalCode?: string; readonly originalMessage?: string };
    };
  };
}

function storageExhausted(used: number, limit: number, cause?: unknown): SlipwayError {
  return new SlipwayError('storage.exhausted', storageReason({ used, limit }), { cause });
}
