import type { PoolClient } from 'pg';

/** A conversation that is about to begin. */
export interface NewConversation {
  readonly id: string;
  /** Its first message; `null`: nothing is asked of its agent yet. */
  readonly message: { readonly id: string; readonly text: string } | null;
  readonly by: { readonly id: string; readonly label: string };
  readonly title: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly environment: string | null;
  readonly confirmation: string;
  readonly agentType: string;
  readonly maxIterations: number | null;
  readonly maxBudgetUsd: string | number | null;
  readonly model: string;
  readonly traceparent: string;
  readonly outboxId: string;
}

/**
 * The conversation, its first message and the job that starts it, in the caller's transaction: whoever asks for one, a
 * request or a delivery, makes it by this.
 */
export async function insertConversation(
  client: Pick<PoolClient, 'query'>,
  orgId: string,
  made: NewConversation,
): Promise<void> {
  await client.query({
    name: 'insert-conversation',
    text: `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, repository, branch, environment, confirmation_mode, agent_type, max_iterations,
             max_budget_usd, model, traceparent)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      made.id,
      orgId,
      made.by.id,
      made.by.label,
      made.title,
      made.repository,
      made.branch,
      made.environment,
      made.confirmation,
      made.agentType,
      made.maxIterations,
      made.maxBudgetUsd,
      made.model,
      made.traceparent,
    ],
  });
  if (made.message !== null) {
    await client.query({
      name: 'insert-first-message',
      text: 'INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, trace_id) VALUES ($1, $2, $3, $4, $5, $6, $7)',
      values: [
        made.message.id,
        orgId,
        made.id,
        made.message.text,
        made.by.id,
        made.by.label,
        made.traceparent.split('-')[1],
      ],
    });
    // Raises SL507 when the organization's storage has no room.
    await client.query({
      name: 'count-first-message',
      text: `SELECT app.count_storage($1, $2, octet_length($3::text) + app.event_overhead(), 0, 0, 'work')`,
      values: [orgId, made.id, made.message.text],
    });
  }
  await client.query({
    name: 'want-start',
    text: `INSERT INTO app.outbox (id, org_id, queue, key, payload) VALUES ($1, $2, 'conversation-start', $3, jsonb_build_object('orgId', $2::text, 'conversationId', $3::text))`,
    values: [made.outboxId, orgId, made.id],
  });
}
