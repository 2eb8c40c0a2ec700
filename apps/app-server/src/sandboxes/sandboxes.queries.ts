import type { ConversationStatus, SandboxStatus } from '@slipway/contracts/conversations';
import type { ExecutionStatus } from '@slipway/contracts/events';
import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

/** What a conversation knows of its sandbox. */
export type SandboxConversation = Columns<
  'app.conversation',
  | 'id'
  | 'title'
  | 'status'
  | 'execution_status'
  | 'sandbox_status'
  | 'desired'
  | 'created_by'
  | 'created_by_label'
  | 'updated_at'
  | 'traceparent',
  {
    status: ConversationStatus;
    execution_status: ExecutionStatus;
    sandbox_status: SandboxStatus;
    desired: 'run' | 'rest';
  }
> & {
  /** Of the running step of its start, in words. */
  readonly step: string | null;
};

const COLUMNS = `c.id, c.title, c.status, c.execution_status, c.sandbox_status, c.desired, c.created_by, c.created_by_label, c.updated_at, c.traceparent,
  (SELECT s->>'detail' FROM jsonb_array_elements(c.steps) s WHERE s->>'state' = 'running' LIMIT 1) AS step`;

/** Those of `ids` that the organization has. */
export async function conversationsById(
  pool: SqlPool,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, SandboxConversation>> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<SandboxConversation>(
      `SELECT ${COLUMNS} FROM app.conversation c WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[])`,
      [orgId, ids],
    ),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Those that have a sandbox as far as they know, or are on their way to one; the latest first. */
export async function conversationsWithSandbox(
  pool: SqlPool,
  orgId: string,
  limit: number,
): Promise<SandboxConversation[]> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<SandboxConversation>(
      // The states that such a conversation can be in, by their index, before what no index says.
      `SELECT ${COLUMNS} FROM app.conversation c WHERE c.org_id = $1 AND c.status IN ('starting', 'working', 'waiting', 'finished', 'stopped', 'failed', 'paused')
         AND (c.sandbox_status = 'RUNNING' OR (c.desired = 'run' AND c.sandbox_status = 'STARTING')) ORDER BY c.updated_at DESC LIMIT $2`,
      [orgId, limit],
    ),
  );
  return rows;
}

/** Those whose start waits for a sandbox, the longest first. */
export async function conversationsThatWait(
  pool: SqlPool,
  orgId: string,
  limit: number,
): Promise<SandboxConversation[]> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<SandboxConversation>(
      `SELECT ${COLUMNS} FROM app.conversation c WHERE c.org_id = $1 AND c.status = 'starting' AND c.desired = 'run'
         AND c.steps @> '[{"status": "WAITING_FOR_SANDBOX", "state": "running"}]' ORDER BY c.updated_at, c.id LIMIT $2`,
      [orgId, limit],
    ),
  );
  return rows;
}
