import type { SandboxStatus, StartStatus } from '@slipway/contracts/conversations';
import type { Columns, PoolClient } from '@slipway/db/sql';
import { SHOWN_SANDBOX_STATUS } from '../../conversations/shown-sandbox-status.js';

export type SandboxRow = Columns<
  'app.conversation',
  'id' | 'created_by' | 'created_at' | 'desired' | 'sandbox_status' | 'start_status',
  { desired: 'run' | 'rest'; sandbox_status: SandboxStatus; start_status: StartStatus }
>;

/** Of these conversations, those that there are. */
export async function sandboxesOf(client: PoolClient, orgId: string, ids: readonly string[]): Promise<SandboxRow[]> {
  const { rows } = await client.query<SandboxRow>(
    `SELECT id, created_by, created_at, desired, ${SHOWN_SANDBOX_STATUS}, start_status FROM app.conversation WHERE org_id = $1 AND id = ANY($2::uuid[])`,
    [orgId, ids],
  );
  return rows;
}

export interface StartedByPage {
  readonly userId: string;
  readonly from: string | null;
  readonly limit: number;
}

/**
 * Those of a user's conversations, newest first, from `from` on; `null`: from the newest. A foreign one begins no page.
 */
export async function sandboxesStartedBy(
  client: PoolClient,
  orgId: string,
  { userId, from, limit }: StartedByPage,
): Promise<SandboxRow[]> {
  const { rows } = await client.query<SandboxRow>(
    `SELECT id, created_by, created_at, desired, ${SHOWN_SANDBOX_STATUS}, start_status FROM app.conversation
     WHERE org_id = $1 AND created_by = $2
       AND ($3::uuid IS NULL OR (created_at, id) <= (SELECT c.created_at, c.id FROM app.conversation c WHERE c.org_id = $1 AND c.created_by = $2 AND c.id = $3))
     ORDER BY created_at DESC, id DESC LIMIT $4`,
    [orgId, userId, from, limit],
  );
  return rows;
}

/** What a client can do with it: a sandbox that is up and whose start has not ended is still starting. */
export function statusOf({ desired, sandbox_status, start_status }: SandboxRow): SandboxStatus {
  if (desired === 'rest') return 'PAUSED';
  if (start_status === 'ERROR') return 'ERROR';
  return sandbox_status === 'RUNNING' && start_status === 'READY' ? 'RUNNING' : 'STARTING';
}
