import type { Columns, PoolClient } from '@slipway/db/sql';

export async function findQueuedPress(client: PoolClient, deliveryId: string): Promise<string | null> {
  const { rows } = await client.query<Columns<'app.outbox', 'id'>>(
    `SELECT id FROM app.outbox WHERE queue = 'integration-press' AND key = $1`,
    [deliveryId],
  );
  return rows[0]?.id ?? null;
}

/** Unless it was replaced since it was read. */
export async function dropQueuedPress(client: PoolClient, id: string): Promise<void> {
  await client.query('DELETE FROM app.outbox WHERE id = $1', [id]);
}

/** What the threads of the conversation show is brought up to date. */
export async function wantShown(client: PoolClient, orgId: string, conversationId: string): Promise<void> {
  await client.query('SELECT app.want_answer($1, $2)', [orgId, conversationId]);
}
