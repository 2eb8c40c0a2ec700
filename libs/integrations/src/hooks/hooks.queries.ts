import type { PoolClient } from '@slipway/db/sql';
import type { StoredConnection } from '../deliveries/deliveries.queries.js';

/** A connection with what making its webhooks takes. */
export interface HookConnection extends StoredConnection {
  readonly platform: boolean;
  readonly signature: string;
  readonly patterns: readonly string[];
}

export interface SealedSecret {
  readonly id: string;
  readonly bytes: Buffer;
  readonly keyVersion: number;
}

export async function findHookConnection(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<HookConnection | null> {
  const { rows } = await client.query<HookConnection>({
    name: 'find-hook-connection',
    text: `SELECT id, provider, host, account, platform, signature, state, own, settings, hook_patterns AS patterns FROM app.integration_connection WHERE org_id = $1 AND id = $2`,
    values: [orgId, id],
  });
  return rows[0] ?? null;
}

/** The newest that has no end; `null`: there is none. */
export async function findWebhookSecret(
  client: PoolClient,
  orgId: string,
  connectionId: string,
): Promise<SealedSecret | null> {
  const { rows } = await client.query<SealedSecret>({
    name: 'find-webhook-secret',
    text: `SELECT id, sealed AS bytes, key_version AS "keyVersion" FROM app.integration_secret
           WHERE org_id = $1 AND connection_id = $2 AND kind = 'webhook' AND valid_until IS NULL ORDER BY created_at DESC LIMIT 1`,
    values: [orgId, connectionId],
  });
  return rows[0] ?? null;
}

/**
 * The host has no better signature: the connection requires this one from now on. Not after a delivery was verified by
 * the better one, since that would be a downgrade.
 * @returns whether deliveries with it are accepted.
 */
export async function settleSignature(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  signature: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE app.integration_connection SET signature = $3, updated_at = CASE WHEN signature = $3 THEN updated_at ELSE now() END
     WHERE org_id = $1 AND id = $2 AND (signature = $3 OR verified_at IS NULL)`,
    [orgId, connectionId, signature],
  );
  return rowCount === 1;
}

/** Wants the webhook made or repaired. @returns what the queue takes. */
export async function wantHookJob(client: PoolClient, orgId: string, hookId: string): Promise<void> {
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
     VALUES (gen_random_uuid(), $1, 'integration-hook', $2, jsonb_build_object('orgId', $1::text, 'hookId', $2::text), clock_timestamp())
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    [orgId, hookId],
  );
}

/** Wants every webhook of the connection made again, such as with a new secret. @returns their ids. */
export async function repairHooks(client: PoolClient, orgId: string, connectionId: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `WITH hooks AS (UPDATE app.integration_hook SET state = 'queued', detail = NULL WHERE org_id = $1 AND connection_id = $2 RETURNING id)
     INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
     SELECT gen_random_uuid(), $1, 'integration-hook', id::text, jsonb_build_object('orgId', $1::text, 'hookId', id), clock_timestamp() FROM hooks
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp() RETURNING key AS id`,
    [orgId, connectionId],
  );
  return rows.map(({ id }) => id);
}
