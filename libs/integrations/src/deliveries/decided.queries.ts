import type { DeliveryReason } from '@slipway/contracts/integrations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';

/** The delivery if it is not decided yet, locked until the transaction ends. */
export async function lockUndecided(client: PoolClient, orgId: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'lock-undecided',
    text: `SELECT 1 FROM app.integration_delivery WHERE org_id = $1 AND id = $2 AND state = 'received' FOR NO KEY UPDATE`,
    values: [orgId, id],
  });
  return rowCount === 1;
}

export interface DecidedDelivery {
  readonly state: 'done' | 'ignored' | 'refused';
  readonly code: DeliveryReason;
  readonly detail: string | null;
  readonly semanticKey: string | null;
  readonly conversationId: string | null;
}

export async function writeDecision(
  client: PoolClient,
  orgId: string,
  id: string,
  decided: DecidedDelivery,
): Promise<void> {
  await client.query({
    name: 'write-decision',
    text: `UPDATE app.integration_delivery SET state = $3, reason = $4, detail = left($5, 500), semantic_key = $6, conversation_id = $7, attempts = attempts + 1, decided_at = now()
           WHERE org_id = $1 AND id = $2`,
    values: [orgId, id, decided.state, decided.code, decided.detail, decided.semanticKey, decided.conversationId],
  });
}

/** An attempt that ended without a decision, for readers of the log. */
export async function noteAttempt(pool: SqlPool, orgId: string, id: string): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query('UPDATE app.integration_delivery SET attempts = attempts + 1 WHERE org_id = $1 AND id = $2', [
      orgId,
      id,
    ]),
  );
}

/**
 * An attempt that found the provider away: it stays undecided, the log says why it waits, and the outbox leaves it
 * alone for as long.
 */
export async function noteWaiting(
  pool: SqlPool,
  orgId: string,
  id: string,
  { why, ms }: { readonly why: string; readonly ms: number },
): Promise<void> {
  await inOrg(pool, orgId, async (client) => {
    await client.query(
      `UPDATE app.integration_delivery SET attempts = attempts + 1, reason = 'provider-away', detail = left($3, 500) WHERE org_id = $1 AND id = $2 AND state = 'received'`,
      [orgId, id, why],
    );
    await client.query(
      `UPDATE app.outbox SET enqueued_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE org_id = $1 AND queue = 'integration-delivery' AND key = $2`,
      [orgId, id, ms],
    );
  });
}
