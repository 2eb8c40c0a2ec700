import type { Columns, PoolClient } from '@slipway/db/sql';

/** `null` when there is no such conversation. */
export async function modelOf(client: PoolClient, orgId: string, id: string): Promise<string | null> {
  const { rows } = await client.query<Columns<'app.conversation', 'model'>>(
    'SELECT model FROM app.conversation WHERE org_id = $1 AND id = $2',
    [orgId, id],
  );
  return rows[0]?.model ?? null;
}

/**
 * The worker sees from the checkpoint which model the sandbox has: a conversation whose checkpoint does not say has the
 * one until now.
 */
export async function setModel(client: PoolClient, orgId: string, id: string, model: string): Promise<void> {
  await client.query(
    `UPDATE app.conversation SET model = $3, checkpoint = checkpoint || jsonb_build_object('model', coalesce(checkpoint ->> 'model', model))
     WHERE org_id = $1 AND id = $2`,
    [orgId, id, model],
  );
}
