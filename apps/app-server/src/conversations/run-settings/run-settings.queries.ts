import type { AgentType } from '@slipway/contracts/agent';
import type { ConversationRunSettings } from '@slipway/contracts/conversations';
import type { Columns, PoolClient } from '@slipway/db/sql';

type RunSettingsRow = Columns<'app.conversation', 'agent_type' | 'max_iterations', { agent_type: AgentType }> & {
  /** Decimal, as Postgres writes it. */
  readonly max_budget_usd: string | null;
};

const COLUMNS = 'agent_type, max_iterations, trim_scale(max_budget_usd)::text AS max_budget_usd';

/** `null` when there is no such conversation. */
export async function runSettingsOf(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<ConversationRunSettings | null> {
  const { rows } = await client.query<RunSettingsRow>(
    `SELECT ${COLUMNS} FROM app.conversation WHERE org_id = $1 AND id = $2`,
    [orgId, id],
  );
  return rows[0] === undefined ? null : toRunSettings(rows[0]);
}

/** The worker compares the conversation's limit with the gateway's again. */
export async function forgetAppliedSpending(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('UPDATE app.conversation_spender SET applied = NULL WHERE org_id = $1 AND conversation_id = $2', [
    orgId,
    id,
  ]);
}

/** Under the lock of the row. A trigger counts the change in `settings_version`. */
export async function setRunSettings(
  client: PoolClient,
  orgId: string,
  id: string,
  settings: ConversationRunSettings,
): Promise<void> {
  await client.query(
    'UPDATE app.conversation SET agent_type = $3, max_iterations = $4, max_budget_usd = $5::numeric WHERE org_id = $1 AND id = $2',
    [orgId, id, settings.agentType, settings.maxIterations, settings.maxBudgetUsd],
  );
}

/**
 * What the log of a conversation says last of asking before acting, wherever in it; `null` for one that says nothing.
 */
export async function lastConfirmationSettings(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<unknown> {
  const { rows } = await client.query<{ value: unknown }>(
    `SELECT event -> 'value' AS value FROM app.event
     WHERE org_id = $1 AND conversation_id = $2 AND kind = 'ConversationStateUpdateEvent' AND event ->> 'key' = 'confirmation_settings'
     ORDER BY seq DESC LIMIT 1`,
    [orgId, conversationId],
  );
  return rows[0]?.value ?? null;
}

function toRunSettings({ agent_type, max_iterations, max_budget_usd }: RunSettingsRow): ConversationRunSettings {
  return { agentType: agent_type, maxIterations: max_iterations, maxBudgetUsd: max_budget_usd };
}
