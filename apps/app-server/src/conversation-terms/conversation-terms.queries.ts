import type { AgentType, ConversationTerms } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';

interface TermsRow {
  readonly agent_type: AgentType;
  readonly max_iterations: number | null;
  /** Decimal, as Postgres writes it. */
  readonly max_budget_usd: string | null;
}

const COLUMNS = 'agent_type, max_iterations, trim_scale(max_budget_usd)::text AS max_budget_usd';

/** `null` when there is no such conversation. */
export async function termsOf(client: PoolClient, orgId: string, id: string): Promise<ConversationTerms | null> {
  const { rows } = await client.query<TermsRow>(`SELECT ${COLUMNS} FROM app.conversation WHERE org_id = $1 AND id = $2`, [orgId, id]);
  return rows[0] === undefined ? null : toTerms(rows[0]);
}

/** Under the lock of the row. @returns the version of this change: an agent that was told of a later one takes it no more. */
/** What the gateway knows of the conversation's limit is to be looked at again by worker. */
export async function forgetAppliedSpending(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('UPDATE app.conversation_spender SET applied = NULL WHERE org_id = $1 AND conversation_id = $2', [orgId, id]);
}

export async function setTerms(client: PoolClient, orgId: string, id: string, terms: ConversationTerms): Promise<number> {
  const { rows } = await client.query<{ terms_version: number }>(
    `UPDATE app.conversation SET agent_type = $3, max_iterations = $4, max_budget_usd = $5::numeric, terms_version = terms_version + 1
     WHERE org_id = $1 AND id = $2 RETURNING terms_version`,
    [orgId, id, terms.agentType, terms.maxIterations, terms.maxBudgetUsd],
  );
  return rows[0]?.terms_version ?? 0;
}

/** Its agent has the change with this version, so that worker need not tell it. Nothing when there is a later one by now, or another start. */
export async function markAcknowledged(
  client: PoolClient,
  orgId: string,
  id: string,
  told: { readonly version: number; readonly epoch: number },
): Promise<void> {
  await client.query(
    `UPDATE app.conversation SET checkpoint = checkpoint || jsonb_build_object(
       'terms', app.terms_of_conversation(agent_type, max_iterations, max_budget_usd), 'termsVersion', terms_version)
     WHERE org_id = $1 AND id = $2 AND terms_version = $3 AND epoch = $4 AND checkpoint ? 'terms'`,
    [orgId, id, told.version, told.epoch],
  );
}

/** What the log of a conversation says last of asking before acting, wherever in it; `null` for one that says nothing. */
export async function lastConfirmationSettings(client: PoolClient, orgId: string, conversationId: string): Promise<unknown> {
  const { rows } = await client.query<{ value: unknown }>(
    `SELECT event -> 'value' AS value FROM app.event
     WHERE org_id = $1 AND conversation_id = $2 AND kind = 'ConversationStateUpdateEvent' AND event ->> 'key' = 'confirmation_settings'
     ORDER BY seq DESC LIMIT 1`,
    [orgId, conversationId],
  );
  return rows[0]?.value ?? null;
}

function toTerms({ agent_type, max_iterations, max_budget_usd }: TermsRow): ConversationTerms {
  return { agentType: agent_type, maxIterations: max_iterations, maxBudgetUsd: max_budget_usd };
}
