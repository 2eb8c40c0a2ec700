import type { DeliveryReason, DeliveryState } from '@slipway/contracts/integrations';
import type { Columns, PoolClient } from '@slipway/db/sql';

export type DeliveryRow = Columns<
  'app.integration_delivery',
  | 'id'
  | 'connection_id'
  | 'delivery_id'
  | 'event'
  | 'bytes'
  | 'received_at'
  | 'state'
  | 'reason'
  | 'detail'
  | 'semantic_key'
  | 'conversation_id'
  | 'attempts'
  | 'decided_at',
  { state: DeliveryState; reason: DeliveryReason | null }
> & {
  /** When it was asked for again, before it came; `null`: it came by itself. */
  readonly recovered_at: Date | null;
};

const COLUMNS = `id, connection_id, delivery_id, event, bytes, received_at, state, reason, detail, semantic_key, conversation_id, attempts, decided_at,
  (SELECT r.asked_at FROM app.integration_recovery r WHERE r.org_id = integration_delivery.org_id AND r.connection_id = integration_delivery.connection_id
     AND r.delivery_id = integration_delivery.delivery_id AND r.asked_at <= integration_delivery.received_at) AS recovered_at`;

/** The newest first, `limit` after `after`. */
export async function listDeliveries(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  page: {
    readonly state: DeliveryState | null;
    readonly after: { readonly receivedAt: Date; readonly id: string } | null;
    readonly limit: number;
  },
): Promise<DeliveryRow[]> {
  const { rows } = await client.query<DeliveryRow>(
    `SELECT ${COLUMNS} FROM app.integration_delivery
     WHERE org_id = $1 AND connection_id = $2 AND ($3::text IS NULL OR state = $3) AND ($4::timestamptz IS NULL OR (received_at, id) < ($4, $5))
     ORDER BY received_at DESC, id DESC LIMIT $6`,
    [orgId, connectionId, page.state, page.after?.receivedAt ?? null, page.after?.id ?? null, page.limit],
  );
  return rows;
}

export async function findDeliveryRow(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  id: string,
): Promise<DeliveryRow | null> {
  const { rows } = await client.query<DeliveryRow>(
    `SELECT ${COLUMNS} FROM app.integration_delivery WHERE org_id = $1 AND connection_id = $2 AND id = $3`,
    [orgId, connectionId, id],
  );
  return rows[0] ?? null;
}

/** Undecided again, unless it was acted on: that stays. */
export async function reopenDelivery(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  id: string,
): Promise<DeliveryRow | null> {
  const { rows } = await client.query<DeliveryRow>(
    `UPDATE app.integration_delivery SET state = CASE state WHEN 'done' THEN state ELSE 'received' END,
       reason = CASE state WHEN 'done' THEN reason END, detail = CASE state WHEN 'done' THEN detail END, decided_at = CASE state WHEN 'done' THEN decided_at END
     WHERE org_id = $1 AND connection_id = $2 AND id = $3 RETURNING ${COLUMNS}`,
    [orgId, connectionId, id],
  );
  return rows[0] ?? null;
}
