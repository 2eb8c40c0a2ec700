import { SANDBOX_PORTS } from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';

/**
 * Everybody whose word the agent works on, for four eyes:
 * - the conversation's owner, always;
 * - who wrote what the agent had not heard before its last approved action: from the app, through sandbox-gateway,
 *   queued ones included;
 * - who changed files or ran something through sandbox-gateway since the agent asked for that action
 *   (`app.sandbox_steering`);
 * - for a message that names nobody (an earlier sandbox-gateway hands it on so), whoever had access to the sandbox;
 * - for each service account among them its maker, and the makers of its keys; where these are service accounts, who is
 *   behind them.
 *
 * What was approved is what the audit says that a user approved in the app under four eyes, and the log says that the
 * sandbox took: the log alone is its sandbox's to write, which could take an asker out with an answer that nobody gave.
 * An approval of before four eyes may be the asker's own. `heard` is the position of the last message that the agent
 * had taken in when it asked for the last action that was approved: what came after may be what it works on now.
 */
export async function askersOf(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'askers-of-conversation',
    text: ASKERS,
    values: [orgId, conversationId, SANDBOX_PORTS['agent-server']],
  });
  return new Set(rows.map(({ id }) => id));
}

/**
 * Was this user, or service account, given access to the agent-server of this conversation? Grants that are over are
 * forgotten in time.
 */
export async function hadAccess(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'had-access-to-agent-server',
    text: 'SELECT 1 FROM app.sandbox_grant WHERE org_id = $1 AND conversation_id = $2 AND user_id = $3 AND port = $4 LIMIT 1',
    values: [orgId, conversationId, userId, SANDBOX_PORTS['agent-server']],
  });
  return rowCount === 1;
}

const ASKERS = `
WITH RECURSIVE updates AS (
  SELECT seq, event->'value' AS value FROM app.event
  WHERE org_id = $1 AND conversation_id = $2 AND kind = 'ConversationStateUpdateEvent' AND event->>'key' = 'last_user_message_id'
), approved AS (
  SELECT detail->'actions' AS actions FROM app.audit_entry
  WHERE org_id = $1 AND target = $2::uuid::text AND action = 'conversation.approve' AND actor_kind = 'user' AND detail->>'through' IS NULL
    AND detail->>'fourEyes' = 'true'
), confirmed AS (
  SELECT (event->'value'->'action_ids')::jsonb AS actions FROM app.event
  WHERE org_id = $1 AND conversation_id = $2 AND kind = 'ConversationStateUpdateEvent' AND event->>'key' = 'confirmation' AND event->'value'->>'accepted' = 'true'
), action AS (
  SELECT max(first.seq) AS seq FROM approved a JOIN confirmed c ON a.actions @> c.actions AND c.actions @> a.actions,
    LATERAL (SELECT min(e.seq) AS seq FROM app.event e
      WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.event_id = ANY (ARRAY(SELECT jsonb_array_elements_text(a.actions))::uuid[])) first
), taken AS (
  SELECT u.value #>> '{}' AS message FROM updates u, action WHERE u.seq < action.seq ORDER BY u.seq DESC LIMIT 1
), heard AS (
  SELECT coalesce((SELECT e.seq FROM app.event e, taken, action
    WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.event_id::text = taken.message AND e.seq < action.seq), 0) AS seq
), steering AS (
  SELECT e.event_id, e.event->>'sender_id' AS sender, e.kind FROM app.event e, heard
  WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.seq > heard.seq AND e.kind IN ('MessageEvent', 'Condensation') AND e.event->>'source' = 'user'
), written AS (
  SELECT m.id, m.created_by FROM app.inbox_message m, heard
  WHERE m.org_id = $1 AND m.conversation_id = $2 AND m.state <> 'withdrawn' AND m.notice IS NULL
    AND NOT EXISTS (SELECT 1 FROM app.event e WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.event_id = m.id AND e.seq <= heard.seq)
), direct AS (
  SELECT created_by AS id FROM app.conversation WHERE org_id = $1 AND id = $2
  UNION SELECT created_by FROM written
  UNION SELECT sender FROM steering WHERE sender IS NOT NULL
  UNION SELECT s.user_id FROM app.sandbox_steering s
    WHERE s.org_id = $1 AND s.conversation_id = $2
      AND s.until > coalesce((SELECT e.created_at FROM app.event e, action WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.seq = action.seq), '-infinity')
  UNION SELECT g.user_id FROM app.sandbox_grant g
    WHERE g.org_id = $1 AND g.conversation_id = $2 AND g.port = $3
      AND EXISTS (SELECT 1 FROM steering s WHERE s.kind = 'MessageEvent' AND s.sender IS NULL AND NOT EXISTS (
        SELECT 1 FROM app.inbox_message m WHERE m.org_id = $1 AND m.conversation_id = $2 AND m.id = s.event_id))
), maker AS (
  SELECT id AS of, created_by AS by FROM app.service_account WHERE org_id = $1
  UNION SELECT owner_id, created_by FROM app.api_key WHERE org_id = $1 AND owner_kind = 'service-account'
), asker AS (
  SELECT id FROM direct UNION SELECT m.by FROM asker a JOIN maker m ON m.of = a.id
)
SELECT id FROM asker`;
