import type { Principal } from '@slipway/contracts/organizations';
import type { Columns, PoolClient } from '@slipway/db/sql';

/**
 * Latest approvals that an agent at rest may still go by: what waits is one answer of a model, and the last yes to it.
 */
const MAX_APPROVALS = 20;

/** The audit entry of the same user's same yes; `null` when this is the first. */
export async function findApproval(
  client: PoolClient,
  { orgId, actor }: Principal,
  conversationId: string,
  record: { readonly action: string; readonly detail: object },
): Promise<string | null> {
  const { rows } = await client.query<Columns<'app.audit_entry', 'id'>>({
    name: 'find-approval',
    text: `SELECT id FROM app.audit_entry
           WHERE org_id = $1 AND target = $2 AND action = $3 AND actor_kind = $4 AND actor_id = $5 AND via_key IS NOT DISTINCT FROM $6 AND detail = $7::jsonb
           ORDER BY created_at DESC LIMIT 1`,
    values: [
      orgId,
      conversationId,
      record.action,
      actor.kind,
      actor.id,
      actor.viaKey ?? null,
      JSON.stringify(record.detail),
    ],
  });
  return rows[0]?.id ?? null;
}

/** Whether an earlier event of the log has the receipt of this one: a receipt is good for one answer. */
export async function isReceiptUsed(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  eventId: string,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'is-receipt-used',
    text: `SELECT 1 FROM app.event e JOIN app.event own ON own.org_id = e.org_id AND own.conversation_id = e.conversation_id AND e.seq < own.seq
           WHERE own.org_id = $1 AND own.conversation_id = $2 AND own.event_id = $3 AND e.kind = 'ConversationStateUpdateEvent'
             AND e.event->>'key' = 'confirmation' AND e.event->'value'->>'receipt' = own.event->'value'->>'receipt' LIMIT 1`,
    values: [orgId, conversationId, eventId],
  });
  return rowCount === 1;
}

/**
 * Actions of the latest approvals that users gave under four eyes in the app. The log says nothing here: its sandbox
 * writes it.
 */
export async function approvedActions(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ actions: string[] }>({
    name: 'approved-actions',
    text: `SELECT ARRAY(SELECT jsonb_array_elements_text(detail->'actions')) AS actions FROM app.audit_entry
           WHERE org_id = $1 AND target = $2 AND action = 'conversation.approve' AND actor_kind = 'user' AND detail->>'through' IS NULL AND detail->>'fourEyes' = 'true'
           ORDER BY created_at DESC LIMIT $3`,
    values: [orgId, conversationId, MAX_APPROVALS],
  });
  return new Set(rows.flatMap(({ actions }) => actions));
}
