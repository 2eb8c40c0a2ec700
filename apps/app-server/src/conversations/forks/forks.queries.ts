import type { AgentType } from '@slipway/contracts/agent';
import type { ConfirmationMode, ForkConversation } from '@slipway/contracts/conversations';
import type { PoolClient } from '@slipway/db/sql';

/** A conversation that is to be forked, and the point. */
export interface ForkPoint {
  readonly createdBy: string;
  readonly title: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly environment: string | null;
  readonly model: string;
  readonly confirmation: ConfirmationMode;
  readonly agentType: AgentType;
  readonly maxIterations: number | null;
  /** `null`: none at or before the wanted place, or it has expired. */
  readonly checkpoint: { readonly id: string; readonly seq: number } | null;
}

/** `null`: there is no such conversation. */
export async function forkPoint(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  at: ForkConversation['at'],
): Promise<ForkPoint | null> {
  const { rows } = await client.query<ForkPoint>(
    `SELECT c.created_by AS "createdBy", c.title, c.repository, c.branch, c.environment, c.model, c.confirmation_mode AS confirmation,
       c.agent_type AS "agentType", c.max_iterations AS "maxIterations",
       (SELECT json_build_object('id', k.id, 'seq', k.seq) FROM app.checkpoint k
        WHERE k.org_id = $1 AND k.conversation_id = c.id AND k.state = 'durable' AND ($3::uuid IS NULL OR k.id = $3) AND ($4::bigint IS NULL OR k.seq <= $4)
        ORDER BY k.seq DESC, k.durable_at DESC, k.id DESC LIMIT 1) AS checkpoint
     FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2`,
    [orgId, conversationId, 'checkpoint' in at ? at.checkpoint : null, 'seq' in at ? at.seq : null],
  );
  return rows[0] ?? null;
}

/** In the transaction that made the fork. Raises SL507 when the organization's storage has no room. */
export async function forkLog(
  client: PoolClient,
  orgId: string,
  { source, seq, fork }: { readonly source: string; readonly seq: number; readonly fork: string },
): Promise<void> {
  await client.query('SELECT app.fork_log($1, $2, $3, $4)', [orgId, source, seq, fork]);
}
